// Goal: batches are all or nothing, bulk operations are independent; results are those of the protocol.
// Method: the stock SDK, raw requests for what it cannot send.
import {
  type Container,
  type OperationInput,
  type OperationResponse,
  PartitionKeyKind,
} from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { type RawReply, sendRaw } from '../raw-request.ts';

let account: Account;
let container: Container;

beforeAll(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'db' });
  const spec = { id: 'c', partitionKey: '/pk', throughput: 25_000 };
  ({ container } = await database.containers.create(spec));
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const create = (id: string, more = {}): OperationInput => ({
  operationType: 'Create',
  resourceBody: { id, pk: 'p', ...more },
});
const read = (id: string): OperationInput => ({ operationType: 'Read', id });
const remove = (id: string): OperationInput => ({ operationType: 'Delete', id });
const codes = (result: readonly OperationResponse[] | undefined) =>
  result?.map(({ statusCode }) => statusCode);

function send(operations: unknown, headers: Record<string, string> = {}): Promise<RawReply> {
  return sendRaw(account, {
    method: 'POST',
    path: '/dbs/db/colls/c/docs',
    headers: {
      'x-ms-documentdb-partitionkey': '["p"]',
      'x-ms-cosmos-is-batch-request': 'true',
      'x-ms-cosmos-batch-atomic': 'true',
      ...headers,
    },
    body: typeof operations === 'string' ? operations : JSON.stringify(operations),
  });
}

describe('transactional batch', () => {
  test('every kind of operation, with results, etags and charges', async () => {
    const { result, code, headers } = await container.items.batch(
      [
        create('t1', { n: 1 }),
        { operationType: 'Upsert', resourceBody: { id: 't2', pk: 'p' } },
        {
          operationType: 'Patch',
          id: 't1',
          resourceBody: { operations: [{ op: 'incr', path: '/n', value: 1 }] },
        },
        read('t1'),
        { operationType: 'Replace', id: 't2', resourceBody: { id: 't2', pk: 'p', x: true } },
        remove('t2'),
      ],
      'p',
    );
    expect(code).toBe(200);
    expect(codes(result)).toEqual([201, 201, 200, 200, 200, 204]);
    expect(result?.map(({ resourceBody }) => resourceBody?.n)).toEqual([
      1,
      undefined,
      2,
      2,
      undefined,
      undefined,
    ]);
    const charge = result?.reduce((sum, { requestCharge }) => sum + requestCharge, 0) ?? 0;
    expect(Number(headers['x-ms-request-charge'])).toBeCloseTo(charge);
    const { resource } = await container.item('t1', 'p').read();
    expect(resource._etag).toBe(result?.[2]?.eTag);
    expect(result?.[3]?.resourceBody).toEqual(resource);
    expect((await container.item('t2', 'p').read()).statusCode).toBe(404);
  });

  test('one failure undoes all and is named; the others are 424', async () => {
    const { result, code } = await container.items.batch(
      [create('u1'), remove('nobody'), create('u2')],
      'p',
    );
    expect(code).toBe(207);
    expect(codes(result)).toEqual([424, 404, 424]);
    expect((await container.item('u1', 'p').read()).statusCode).toBe(404);
    expect(codes((await container.items.batch([create('u3'), create('u3')], 'p')).result)).toEqual([
      424, 409,
    ]);
    const invalid = [create('u4'), create('u5', { ttl: -10 })];
    expect(codes((await container.items.batch(invalid, 'p')).result)).toEqual([424, 400]);
    const elsewhere = [create('u6', { pk: 'q' })];
    const { result: mismatch } = await container.items.batch(elsewhere, 'p');
    expect(mismatch?.[0]).toMatchObject({ statusCode: 400, subStatusCode: 1001 });
  });

  test('etags inside a batch', async () => {
    const { resource } = await container.items.create({ id: 'e', pk: 'p' });
    const etag = resource?._etag as string;
    const replace = (ifMatch: string): OperationInput => ({
      operationType: 'Replace',
      id: 'e',
      resourceBody: { id: 'e', pk: 'p' },
      ifMatch,
    });
    expect(
      codes((await container.items.batch([create('e2'), replace('"no"')], 'p')).result),
    ).toEqual([424, 412]);
    expect(codes((await container.items.batch([replace(etag)], 'p')).result)).toEqual([200]);
    expect(codes((await container.items.batch([replace(etag)], 'p')).result)).toEqual([412]);
    const { resource: now } = await container.item('e', 'p').read();
    const held = { ...read('e'), ifNoneMatch: now._etag };
    const notModified = await send([held]);
    expect(notModified.text).toMatch(/^\[\{"statusCode":304,[^}]*\}\]$/);
    expect(notModified.status).toBe(207);
    const matching = await send([create('e4'), { ...read('e'), ifMatch: now._etag }]);
    expect(matching.status).toBe(207);
    expect(matching.json.map(({ statusCode }: { statusCode: number }) => statusCode)).toEqual([
      201, 304,
    ]);
    expect((await container.item('e4', 'p').read()).statusCode).toBe(200);
  });

  test('bounds and shape', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => create(`many${at}`));
    const tooMany = await send(many(101));
    expect(tooMany.status).toBe(400);
    expect(tooMany.text).toContain('Batch request has more operations than what is supported.');
    expect((await send(many(100))).status).toBe(200);
    for (const body of ['[]', '{}', 'x', '[1]', '[{"operationType":"Query"}]'])
      expect((await send(body)).status).toBe(400);
    const large = Array.from({ length: 3 }, (_, at) =>
      create(`l${at}`, { x: 'x'.repeat(800_000) }),
    );
    expect((await send(large)).status).toBe(413);
    const other = await send([{ ...create('o'), partitionKey: '["q"]' }]);
    expect(other.status).toBe(400);
    expect(other.text).toContain('have a different partition key value than the request');
    expect((await send([create('none')], { 'x-ms-documentdb-partitionkey': '' })).status).toBe(400);
  });

  test('minimal responses have no bodies', async () => {
    const { status, text } = await send([create('min'), read('min')], { prefer: 'return=minimal' });
    const results = JSON.parse(text) as OperationResponse[];
    expect(status).toBe(200);
    expect(results.map(({ resourceBody }) => resourceBody?.id)).toEqual([undefined, 'min']);
    expect(results[0]?.eTag).toBe(results[1]?.eTag);
  });

  describe('a batch whose response was too large was applied although it was refused', () => {
    const fat = ['fat1', 'fat2', 'fat3'];
    const grow = (id: string): OperationInput => ({
      operationType: 'Patch',
      id,
      resourceBody: { operations: [{ op: 'incr', path: '/n', value: 1 }] },
    });
    const parse = (text: string) => JSON.parse(text) as OperationResponse[];
    const tooLarge = {
      statusCode: 413,
      subStatusCode: 3402,
      requestCharge: 1,
      message: 'Response size is too large',
    };
    const dependent = { statusCode: 424, requestCharge: 0 };

    beforeAll(async () => {
      for (const id of fat)
        await container.items.create({ id, pk: 'p', n: 0, x: 'x'.repeat(1_900_000) });
    });

    test('written and read: the operation that does not fit is named, nothing is stored', async () => {
      const { result, code, headers } = await container.items.batch(
        [create('w1'), ...fat.map(read)],
        'p',
      );
      expect(code).toBe(207);
      expect(result).toEqual([dependent, dependent, dependent, tooLarge]);
      expect(Number(headers['x-ms-request-charge'])).toBe(1);
      expect((await container.item('w1', 'p').read()).statusCode).toBe(404);
      const patched = await container.items.batch([...fat.map(grow), create('w2')], 'p');
      expect(codes(patched.result)).toEqual([424, 424, 413, 413]);
      expect((await container.item('fat1', 'p').read()).resource.n).toBe(0);
    });

    test('only read: from the one that does not fit on', async () => {
      const { result, code } = await container.items.batch(
        [...Array.from({ length: 5 }, () => read('fat1')), remove('fat1')],
        'p',
      );
      expect(code).toBe(207);
      expect(codes(result)).toEqual([424, 424, 413, 413, 413, 424]);
      expect((await container.item('fat1', 'p').read()).statusCode).toBe(200);
    });

    test('items that are not returned do not count', async () => {
      const minimal = { prefer: 'return=minimal' };
      const { status, text } = await send(
        [create('w3'), ...fat.map(grow), read('fat1'), read('fat2')],
        minimal,
      );
      expect([status, ...(codes(parse(text)) ?? [])]).toEqual([200, 201, 200, 200, 200, 200, 200]);
      expect((await container.item('w3', 'p').read()).statusCode).toBe(200);
      const { resource } = await container.item('fat1', 'p').read();
      expect(resource.n).toBe(1);
      const held = { ...read('fat1'), ifNoneMatch: resource._etag };
      const reads = await send([held, held, held, read('fat2'), read('fat3')]);
      expect(codes(parse(reads.text))).toEqual([304, 304, 304, 200, 200]);
      const removed = await send([read('fat1'), read('fat2'), ...fat.map(remove)]);
      expect(codes(parse(removed.text))).toEqual([200, 200, 204, 204, 204]);
    });
  });

  test('with a whole hierarchical key', async () => {
    const { container: levels } = await container.database.containers.create({
      id: 'levels',
      partitionKey: { paths: ['/a', '/b'], kind: PartitionKeyKind.MultiHash, version: 2 },
    });
    const item = (id: string, b: string): OperationInput => ({
      operationType: 'Create',
      resourceBody: { id, a: 'x', b },
    });
    const batch = (operations: OperationInput[]) => levels.items.batch(operations, ['x', 'y']);
    expect(codes((await batch([item('1', 'y'), item('2', 'y')])).result)).toEqual([201, 201]);
    expect(codes((await batch([item('3', 'y'), item('4', 'z')])).result)).toEqual([424, 400]);
  });
});

describe('bulk', () => {
  const inKey = (operation: OperationInput, partitionKey: string): OperationInput => ({
    ...operation,
    partitionKey,
  });

  test('operations of many keys, each by itself', async () => {
    const creates = Array.from(
      { length: 60 },
      (_, at): OperationInput => ({
        operationType: 'Create',
        resourceBody: { id: `b${at}`, pk: `k${at % 7}` },
        partitionKey: `k${at % 7}`,
      }),
    );
    const results = await container.items.executeBulkOperations([
      ...creates,
      ...creates.slice(0, 1),
    ]);
    expect(results.filter(({ response }) => response?.statusCode === 201)).toHaveLength(60);
    expect(results.at(-1)?.error?.code).toBe(409);
    const reads = await container.items.bulk([
      inKey(read('b1'), 'k1'),
      inKey(read('b1'), 'k2'),
      inKey(remove('b2'), 'k2'),
    ]);
    expect(codes(reads)).toEqual([200, 404, 204]);
    expect(reads[0]?.resourceBody?.pk).toBe('k1');
  });

  test('operations on one item keep their order', async () => {
    const results = await container.items.bulk([
      create('order', { n: 1 }),
      inKey(read('order'), 'p'),
      inKey(remove('order'), 'p'),
      inKey(read('order'), 'p'),
      create('order', { n: 2 }),
      inKey(read('order'), 'p'),
    ]);
    expect(codes(results)).toEqual([201, 200, 204, 404, 201, 200]);
    expect(results[5]?.resourceBody?.n).toBe(2);
  });

  test('without continue-on-error nothing is tried after a failure', async () => {
    const operations = [create('c1'), create('c1'), create('c2')];
    const results = await container.items.bulk(operations, { continueOnError: false });
    expect(codes(results)).toEqual([201, 409, 424]);
    expect((await container.item('c1', 'p').read()).statusCode).toBe(200);
    expect((await container.item('c2', 'p').read()).statusCode).toBe(404);
  });

  test('a range that is gone is 410, and responses are cut at their limit', async () => {
    const bulk = {
      'x-ms-cosmos-batch-atomic': 'false',
      'x-ms-cosmos-batch-continue-on-error': 'true',
    };
    const gone = await send([create('g')], {
      ...bulk,
      'x-ms-documentdb-partitionkeyrangeid': '77',
    });
    expect([gone.status, gone.headers['x-ms-substatus']]).toEqual([410, '1002']);
    await container.items.create({ id: 'fat', pk: 'p', x: 'x'.repeat(1_900_000) });
    const { status, text } = await send([read('fat'), read('fat'), read('fat')], bulk);
    const results = JSON.parse(text) as (OperationResponse & { subStatusCode?: number })[];
    expect([status, ...(codes(results) ?? [])]).toEqual([207, 200, 200, 413]);
    expect(results[2]?.subStatusCode).toBe(3402);
  });
});

test('batches stay whole while partitions split under them', async () => {
  const { container: splitting } = await container.database.containers.create({
    id: 'splitting',
    partitionKey: '/pk',
    throughput: 1000,
  });
  const keys = Array.from({ length: 8 }, (_, at) => `key${at}`);
  let isDone = false;
  const acknowledged = new Map<string, number>();
  const write = async (pk: string) => {
    for (let version = 1; !isDone; version++) {
      const operations = Array.from(
        { length: 10 },
        (_, at): OperationInput => ({
          operationType: 'Upsert',
          resourceBody: { id: `${at}`, pk, version },
        }),
      );
      const { result } = await splitting.items.batch(operations, pk);
      expect(result?.every(({ statusCode }) => statusCode < 300)).toBe(true);
      acknowledged.set(pk, version);
    }
  };
  const work = keys.map(write);
  const database = account.service.databases.find('db');
  for (let splits = 0; splits < 3; splits++) {
    const record = database && account.service.containers.find(database, 'splitting');
    const partition = record?.partitions.at(-1);
    if (record === undefined || partition === undefined) throw new Error('no container');
    await account.service.resizer.split(record, partition.id).catch(() => undefined);
  }
  isDone = true;
  await Promise.all(work);
  for (const pk of keys) {
    const { resources } = await splitting.items.readAll({ partitionKey: pk }).fetchAll();
    expect(resources.map(({ version }) => version)).toEqual(Array(10).fill(acknowledged.get(pk)));
  }
});
