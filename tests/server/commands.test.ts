// Goal: the commands do what they say against a real server. Method: one server, commands as a user types them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChildServer, type Exit, runProgram, temporaryFolder } from './child-server.ts';

let server: ChildServer;
beforeAll(async () => {
  server = await ChildServer.start(['--memory']);
});
afterAll(() => server[Symbol.asyncDispose]());

function run(words: string, input = ''): Promise<Exit> {
  return runProgram(words.split(' '), { input, env: { MESOCOSM_ENDPOINT: server.endpoint } });
}

test('databases, containers, items and partitions from the command line', async () => {
  expect(await run('db create shop')).toMatchObject({ code: 0, stdout: 'created database shop\n' });
  expect(await run('db create shop')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('409 Conflict'),
  });
  expect(await run('db list')).toMatchObject({ code: 0, stdout: 'shop\n' });
  expect(JSON.parse((await run('db show shop --json')).stdout)).toMatchObject({ id: 'shop' });
  expect(await run('container create shop/orders --partition-key /customer')).toMatchObject({
    code: 0,
    stdout: 'created container shop/orders, partition key /customer\n',
  });
  expect((await run('container list shop')).stdout).toBe(
    'container  partition key\norders     /customer\n',
  );
  const order = { id: 'o 1', customer: 'Zoë', total: 12.5 };
  expect(await run('item put shop/orders', JSON.stringify(order))).toMatchObject({
    code: 0,
    stdout: 'put item o 1\n',
  });
  const file = join(temporaryFolder(), 'order.json');
  writeFileSync(file, JSON.stringify({ ...order, id: 'o2', customer: 7 }));
  expect((await run(`item put shop/orders ${file}`)).code).toBe(0);
  const read = await runProgram(
    ['item', 'get', 'shop/orders', 'o 1', '--partition-key', 'Zoë', '--json'],
    { env: { MESOCOSM_ENDPOINT: server.endpoint } },
  );
  expect(JSON.parse(read.stdout)).toMatchObject(order);
  expect((await run('item get shop/orders o2 --partition-key 7')).code).toBe(0);
  expect(await run('item get shop/orders o2')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('/customer: give its value with --partition-key'),
  });
  expect((await run('partitions shop/orders')).stdout).toMatch(
    /^partition +from +to +% of ring +items +keys +lsn +RU\/s +RU last min +peak % +429s +bytes\n0 +00 +FF +0\.0–100\.0 +2 +2 +2 +400 +\d+ +\d+ +0 +\d+ B +█+\n\nhot key +partition +RU +% of its partition\n"Zoë" +0 +\d+ +\d+ +█+.*\n\nengine memory, instance local, replicas: 1 healthy, a write needs 1\n$/s,
  );
  expect(await run('item delete shop/orders o2 --partition-key 7')).toMatchObject({ code: 0 });
  expect(await run('item get shop/orders o2 --partition-key 7')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('404 NotFound'),
  });
  expect(JSON.parse((await run('partitions shop/orders --json')).stdout)).toMatchObject({
    db: 'shop',
    container: 'orders',
    partitions: [{ id: '0', items: 1, keys: 1, keysExact: true }],
    hotKeys: { minutes: 5, byBytes: [{ partition: '0' }, {}] },
  });
  expect(await run('container delete shop/orders')).toMatchObject({ code: 0 });
  expect(await run('partitions shop/orders')).toMatchObject({ code: 1 });
  expect(await run('db delete shop')).toMatchObject({ code: 0, stdout: 'deleted database shop\n' });
  expect(await run('db show shop')).toMatchObject({ code: 1 });
});

test('throughput is scaled from the command line', async () => {
  await run('db create scaled --throughput 500');
  await run('container create scaled/own --partition-key /pk --throughput 1000');
  await run('container create scaled/sharing --partition-key /pk');
  expect((await run('container scale scaled/own 2000')).stdout).toBe(
    'container scaled/own: 2000 RU/s\n',
  );
  expect((await run('container scale scaled/own 4000 --mode autoscale')).stdout).toBe(
    'container scaled/own: autoscale up to 4000 RU/s\n',
  );
  expect((await run('container scale scaled/own 20000')).stdout).toBe(
    'container scaled/own: autoscale up to 20000 RU/s; partitions are being split\n',
  );
  expect(JSON.parse((await run('db scale scaled 600 --json')).stdout)).toMatchObject({
    content: { offerThroughput: 600 },
  });
  expect(await run('container scale scaled/own 1234')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('between 2000 and 1000000 inclusive in increments of 1000'),
  });
  expect(await run('container scale scaled/sharing 1000')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('mesocosm db scale'),
  });
  expect(await run('container scale scaled/own much')).toMatchObject({ code: 2 });
  expect(await run('container scale scaled/own 2000 --mode magic')).toMatchObject({ code: 2 });
});

test('a container gives its partitions uneven shares', async () => {
  await run('db create uneven');
  await run('container create uneven/c --partition-key /pk --throughput 20000');
  const shares = async (words: string): Promise<number[]> =>
    JSON.parse((await run(`${words} --json`)).stdout).partitions.map(
      ({ provisioned }: { provisioned: number }) => provisioned,
    );
  expect(await shares('partitions uneven/c')).toEqual([10_000, 10_000]);
  expect(await run('container distribute uneven/c 1=12000')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('100 to 10000 RU/s'),
  });
  await run('container scale uneven/c 12000');
  expect(await shares('container distribute uneven/c 1=9000')).toEqual([3000, 9000]);
  expect(await shares('container distribute uneven/c')).toEqual([6000, 6000]);
  expect(await run('container distribute uneven/c x')).toMatchObject({ code: 2 });
});

test('hierarchical keys, keys by id, wrong keys', async () => {
  await run('db create h');
  const container = 'container create h/c --partition-key /a --partition-key /b';
  expect((await run(container)).stdout).toContain('/a, /b');
  await run('item put h/c', '{"id":"i","a":1,"b":null}');
  const get = 'item get h/c i --partition-key 1 --partition-key null --json';
  expect(JSON.parse((await run(get)).stdout)).toMatchObject({ id: 'i', a: 1, b: null });
  await run('container create h/byid');
  await run('item put h/byid', '{"id":"x"}');
  expect((await run('item get h/byid x')).code).toBe(0);
  expect(await run('item put h/byid', '{')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the item is not JSON'),
  });
  expect(await run('db list --key d3Jvbmc=')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('401 Unauthorized'),
  });
});

test('queries and how they run', async () => {
  await run('db create queried');
  await run('container create queried/things --partition-key /pk --throughput 25000');
  for (let n = 0; n < 9; n++)
    await run('item put queried/things', JSON.stringify({ id: `${n}`, pk: `${n % 3}`, n }));
  const query = (text: string, ...flags: string[]): Promise<Exit> =>
    runProgram(['query', 'queried/things', text, ...flags], {
      env: { MESOCOSM_ENDPOINT: server.endpoint },
    });
  const select = 'SELECT c.id FROM c WHERE c.n > @n ORDER BY c.n DESC';
  const rows = await query(select, '--parameter', 'n=6');
  expect(rows).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^id\n8\n7\n\n2 rows, /),
  });
  const json = await query(select, '--parameter', 'n=6', '--json');
  expect(JSON.parse(json.stdout)).toEqual([{ id: '8' }, { id: '7' }]);
  const some = await query('SELECT VALUE c.n FROM c ORDER BY c.n', '--limit', '2');
  expect(some.stdout).toMatch(/^value\n +0\n +1\n\n2 rows, .* RU, more to come/);
  const keyed = await query('SELECT VALUE c.n FROM c', '--partition-key', '"1"');
  expect(keyed.stdout).toMatch(/^value\n +1\n +4\n +7\n\n3 rows/);
  const explained = await query(select, '--parameter', 'n=6', '--explain', '--json');
  expect(JSON.parse(explained.stdout)).toMatchObject({
    execution: 'ordered',
    condition: '/n in [6, end of number)',
    targets: [{ partition: '0' }, { partition: '1' }, { partition: '2' }],
    rows: 2,
    isComplete: true,
    work: { itemsLoaded: 2 },
    plan: { queryInfo: { orderBy: ['Descending'] } },
  });
  const text = (await query(select, '--parameter', 'n=6', '--explain')).stdout;
  expect(text).toMatch(/execution {3}ordered\n/);
  expect(text).toMatch(/load +2 items/);
  expect(await query('SELECT')).toMatchObject({ code: 1, stderr: expect.stringContaining('400') });
  expect(await query('SELECT 1', '--explain', '--limit', '2')).toMatchObject({ code: 2 });
  expect(await query('SELECT 1', '--parameter', 'x')).toMatchObject({ code: 2 });
});

test('partitions are split and merged from the command line', async () => {
  await run('db create cut');
  await run('container create cut/c --partition-key /pk --throughput 1000');
  for (let n = 0; n < 8; n++) await run('item put cut/c', `{"id":"i${n}","pk":"k${n}"}`);
  expect(await run('split cut/c 7')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('410 Gone'),
  });
  expect(await run('split cut/c x')).toMatchObject({ code: 1 });
  expect((await run('split cut/c 0')).stdout).toBe('split 0 of cut/c into 1 and 2\n');
  expect((await run('split cut/c 1')).stdout).toBe('split 1 of cut/c into 3 and 4\n');
  expect(await run('merge cut/c 3 2')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Only neighbouring partitions'),
  });
  expect((await run('partitions cut/c')).stdout).toMatch(
    /\n3 +00 +\w{8}… +0\.0–\d+\.\d .*\n4 +\w{8}… .*\n2 +\w{8}… +FF +\d+\.\d–100\.0 /,
  );
  expect((await run('merge cut/c 4 2')).stdout).toBe('merged 4 and 2 of cut/c into 5\n');
  const report = JSON.parse((await run('partitions cut/c --json')).stdout);
  expect(
    report.partitions.map(({ id, parents, state }: Record<string, unknown>) => [
      id,
      parents,
      state,
    ]),
  ).toEqual([
    ['3', ['0', '1'], 'online'],
    ['5', ['0', '1', '4', '2'], 'online'],
  ]);
  expect(report.splits).toMatchObject([
    { kind: 'merge', children: ['5'], state: 'done', step: 'done' },
    { kind: 'split', parents: ['1'], children: ['3', '4'] },
    { kind: 'split', parents: ['0'], children: ['1', '2'] },
  ]);
  expect((await run('partitions cut/c')).stdout).toMatch(/split +0 +1 2 +done +\d+ ms +\d+ ms\n$/);
  const metrics = await (await fetch(`${server.endpoint}_mesocosm/metrics`)).text();
  // Scaling in an earlier test splits as well.
  expect(metrics).toMatch(/\nmesocosm_partition_splits_total [2-9]\n/);
  expect(metrics).toContain('\nmesocosm_partition_merges_total 1\n');
  await run('container create cut/fixed --partition-key /pk');
  expect(await run('split cut/fixed 0')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('one partition for ever'),
  });
});
