// Goal: a started server reports its endpoints and its health, keeps its directory, and stops in order.
// Method: the built program with a ready file and a free port.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WELL_KNOWN_KEY } from '../../src/base/index.ts';
import { ChildServer, runProgram, temporaryFolder } from './child-server.ts';

test('ready file, table, health, metrics, stop', async () => {
  const data = join(temporaryFolder(), 'data');
  await using server = await ChildServer.start(['--data', data]);
  const { pid, endpoints, key } = server.ready;
  expect(key).toBe(WELL_KNOWN_KEY);
  expect(endpoints).toEqual({
    nosql: `http://127.0.0.1:${server.port}/`,
    mongo: expect.stringMatching(/^mongodb:\/\/127\.0\.0\.1:\d+\/$/),
    gremlin: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/$/),
    table: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
    cassandra: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    portal: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
  });
  const health = await fetch(`${server.endpoint}_mesocosm/health`);
  expect(health.status).toBe(200);
  expect(await health.json()).toEqual({
    status: 'ready',
    version: '0.1.0',
    partitions: 0,
    uptimeSec: expect.any(Number),
  });
  expect(health.headers.get('keep-alive')).toBe('timeout=120');
  const tables = await fetch(`${endpoints.table}devstoreaccount1/Tables`);
  expect(tables.headers.get('keep-alive')).toBe('timeout=5');
  const metrics = await fetch(`${server.endpoint}_mesocosm/metrics`);
  expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await metrics.text();
  expect(text).toContain('mesocosm_process_memory_bytes{kind="resident"}');
  expect(text).toMatch(/^mesocosm_connections\{api="nosql"\} [1-9]/m);
  expect(text).toContain('mesocosm_refused_connections_total{api="table"} 0');
  expect(readFileSync(join(data, 'server.pid'), 'utf8')).toBe(`${pid}\n`);
  const exit = await server.stop();
  expect(exit).toMatchObject({ code: 0, signal: null });
  expect(exit.stdout).toContain(`NoSQL      ${server.endpoint}\n`);
  expect(exit.stdout).toContain(`Table      ${endpoints.table}\n`);
  // Here it is no terminal that reads it.
  expect(exit.stdout).not.toContain(key);
  expect(existsSync(server.readyFile)).toBe(false);
});

test('throughput is enforced unless the operator says otherwise, and shows in the metrics', async () => {
  await using server = await ChildServer.start(['--memory'], { MESOCOSM_THROUGHPUT: 'enforce' });
  const env = { MESOCOSM_ENDPOINT: server.endpoint };
  await runProgram(['db', 'create', 'd'], { env });
  await runProgram(['container', 'create', 'd/c', '--partition-key', '/pk'], { env });
  const item = JSON.stringify({ id: 'i', pk: 'p', text: 'x'.repeat(1_500_000) });
  // Each costs seconds of what is provisioned.
  let exit = await runProgram(['item', 'put', 'd/c'], { input: item, env });
  for (let at = 0; at < 10 && exit.code === 0; at++)
    exit = await runProgram(['item', 'put', 'd/c'], { input: item, env });
  expect(exit).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('429 TooManyRequests: Request rate is large.'),
  });
  const metrics = await (await fetch(`${server.endpoint}_mesocosm/metrics`)).text();
  const partition = '{db="d",container="c",partition="0"}';
  for (const line of [
    `mesocosm_partition_throttled_requests_total${partition} 1`,
    `mesocosm_partition_provisioned_request_units${partition} 400`,
    `mesocosm_partition_normalized_request_units_percent${partition} 100`,
  ])
    expect(metrics).toContain(line);
  expect(metrics).toMatch(/mesocosm_partition_request_units_total\{[^}]*\} \d{3,5}\b/);
});

test.each<[string, number]>([
  ['_mesocosm/partitions?db=a&container=b', 401],
  ['_mesocosm/nothing', 404],
  ['_mesocosm/', 404],
])('%s without a key returns %i as JSON', async (path, status) => {
  await using server = await ChildServer.start(['--memory']);
  const response = await fetch(server.endpoint + path);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({
    code: expect.any(String),
    message: expect.stringContaining('/_mesocosm/'),
  });
  const post = await fetch(`${server.endpoint}_mesocosm/health`, { method: 'POST' });
  expect(post.status).toBe(405);
});

test('a directory in use is refused with the pid; after kill -9 it is free', async () => {
  const data = join(temporaryFolder(), 'data');
  await using first = await ChildServer.start(['--data', data]);
  const second = await runProgram([
    'start',
    '--data',
    data,
    '--nosql-port',
    '0',
    '--table-port',
    '0',
  ]);
  expect(second).toMatchObject({
    code: 1,
    stderr: `mesocosm: ${data} is in use by process ${first.ready.pid}. Stop that server, or give another directory with --data.\n`,
  });
  await first.stop('SIGKILL');
  await using third = await ChildServer.start(['--data', data]);
  expect(await third.stop('SIGINT')).toMatchObject({ code: 0, signal: null });
});

test('quiet says nothing, json says it in lines of JSON, variables count as flags', async () => {
  await using quiet = await ChildServer.start(['--memory', '--quiet']);
  expect(await quiet.stop()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  await using json = await ChildServer.start([], { MESOCOSM_LOG: 'json', MESOCOSM_MEMORY: '1' });
  const { stdout, stderr } = await json.stop();
  expect(stdout).toBe('');
  const events = stderr.trim().split('\n');
  expect(events.map((line) => JSON.parse(line).event)).toEqual(['ready', 'stopping', 'stopped']);
  expect(stderr).not.toContain(WELL_KNOWN_KEY);
});

test('with the HTTP fast path off the server serves and stops as with it', async () => {
  await using server = await ChildServer.start(['--memory', '--http-fast-path', 'off']);
  const env = { MESOCOSM_ENDPOINT: server.endpoint };
  expect(await runProgram(['db', 'create', 'd'], { env })).toMatchObject({ code: 0 });
  const list = await runProgram(['db', 'list', '--json'], { env });
  expect(JSON.parse(list.stdout)).toMatchObject([{ id: 'd' }]);
  const health = await fetch(`${server.endpoint}_mesocosm/health`);
  expect(health.headers.get('keep-alive')).toBe('timeout=120');
  const tables = await fetch(`${server.ready.endpoints.table}devstoreaccount1/Tables`);
  expect(tables.headers.get('keep-alive')).toBe('timeout=5');
  expect(await server.stop()).toMatchObject({ code: 0, signal: null });
});

test('an API that is switched off is not served', async () => {
  await using server = await ChildServer.start([
    '--memory',
    '--nosql-port',
    'off',
    '--table-port',
    'off',
  ]);
  expect(server.ready.endpoints.nosql).toBeNull();
});
