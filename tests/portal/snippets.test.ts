// Goal: the programs that the portal shows run as they are shown. Method: each JavaScript one, in a process of its own,
// with the stock client that it names.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChildServer } from '../server/child-server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A loaded machine is slow and not broken. */
const HOOK_MS = 300_000;
let server: ChildServer;

beforeAll(async () => {
  server = await ChildServer.start(['--memory']);
  await run('mongo', 'db.orders.insertOne({_id: "0"})');
  await run(
    'cassandra',
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    'system',
    'local',
  );
  await run('cassandra', 'CREATE TABLE ks.orders (id text PRIMARY KEY)', 'ks', 'orders');
  await send('/portal/api/nosql/dbs', { id: 'sql' });
  const partitionKey = { paths: ['/customer'], kind: 'Hash', version: 2 };
  await send('/portal/api/nosql/dbs/sql/colls', { id: 'orders', partitionKey });
}, HOOK_MS);

afterAll(() => server?.[Symbol.asyncDispose]());

async function send(path: string, body: object): Promise<unknown> {
  const response = await fetch(new URL(path, String(server.ready.endpoints.portal)), {
    method: 'POST',
    headers: { 'x-mesocosm-portal': '1' },
    body: JSON.stringify(body),
  });
  return response.json();
}

async function run(api: string, text: string, db = 'shop', container = 'orders'): Promise<void> {
  expect(await send('/portal/api/run', { api, db, container, text })).not.toHaveProperty('error');
}

test.each([
  ['nosql', 'sql'],
  ['mongo', 'shop'],
  ['cassandra', 'ks'],
  ['gremlin', 'sql'],
  ['table', 'any'],
])('the program of %s runs', async (api, db) => {
  const query = new URLSearchParams({ api, language: 'javascript', db, container: 'orders' });
  const path = new URL(`/portal/api/snippets?${query}`, String(server.ready.endpoints.portal));
  const { text } = (await (await fetch(path)).json()) as { text: string };
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    cwd: root,
    env: { ...process.env, MESOCOSM_KEY: server.ready.key },
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect([code, errors]).toEqual([0, expect.any(String)]);
});
