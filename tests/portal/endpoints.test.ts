// Goal: what the page knows, others can ask for: query shapes, costs of a policy, events, tables, and the log of splits
// after a restart. Method: plain requests, signed as every client signs.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ChildServer, temporaryFolder } from '../server/child-server.ts';

const HOOK_MS = 300_000;
const folder = temporaryFolder();
const FLAGS = ['--data', folder];
let server: ChildServer;

beforeAll(async () => {
  server = await ChildServer.start(FLAGS);
  await post('/portal/api/nosql/dbs', { id: 'shop' });
  await post(
    '/portal/api/nosql/dbs/shop/colls',
    { id: 'orders', partitionKey: { paths: ['/customer'], kind: 'Hash', version: 2 } },
    { 'x-ms-offer-throughput': '1000' },
  );
  for (let at = 0; at < 12; at++)
    await post(
      '/portal/api/nosql/dbs/shop/colls/orders/docs',
      { id: `o${at}`, customer: `c${at % 6}`, total: at, city: 'Oslo' },
      { 'x-ms-documentdb-partitionkey': JSON.stringify([`c${at % 6}`]) },
    );
}, HOOK_MS);

afterAll(() => server?.[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: tests know what they asked for.
async function post(path: string, body: object, headers: object = {}): Promise<any> {
  const response = await fetch(new URL(path, String(server.ready.endpoints.portal)), {
    method: 'POST',
    headers: { 'x-mesocosm-portal': '1', ...headers },
    body: JSON.stringify(body),
  });
  return response.json();
}

/** A request to the NoSQL port, signed with the account key. */
function signed(method: string, route: string, init: RequestInit = {}): Promise<Response> {
  const date = new Date().toUTCString();
  const [name] = route.split('?');
  const text = `${method.toLowerCase()}\n\n_mesocosm/${name}\n${date.toLowerCase()}\n\n`;
  const signature = createHmac('sha256', Buffer.from(server.ready.key, 'base64'))
    .update(text)
    .digest('base64');
  return fetch(new URL(`/_mesocosm/${route}`, server.endpoint), {
    ...init,
    method,
    headers: {
      ...init.headers,
      'x-ms-date': date,
      authorization: encodeURIComponent(`type=master&ver=1.0&sig=${signature}`),
    },
  });
}

// biome-ignore lint/suspicious/noExplicitAny: tests know what they asked for.
async function read(route: string): Promise<any> {
  return (await signed('GET', route)).json();
}

test('query shapes have texts without values, counts, costs and fan-out, of every API', async () => {
  const run = (api: string, db: string, container: string, text: string) =>
    post('/portal/api/run', { api, db, container, text });
  await run('nosql', 'shop', 'orders', "SELECT * FROM c WHERE c.city = 'Oslo' AND c.total > 3");
  await run('nosql', 'shop', 'orders', "SELECT * FROM c WHERE c.city = 'Lima' AND c.total > 99");
  await run('mongo', 'docs', 'notes', 'db.notes.insertOne({_id: 1, owner: "secret"})');
  await run('mongo', 'docs', 'notes', 'db.notes.find({owner: "secret"})');
  const { shapes } = await read('query-shapes?db=shop&container=orders');
  expect(shapes).toContainEqual({
    db: 'shop',
    container: 'orders',
    api: 'nosql',
    text: 'SELECT * FROM c WHERE c.city = ? AND c.total > ?',
    count: 2,
    pages: 2,
    ru: expect.any(Number),
    ms: expect.any(Number),
    fanOut: 1,
    equalityPaths: ['/city'],
    rowsPerPage: 4,
  });
  const all = await read('query-shapes');
  expect(all.shapes).toContainEqual(
    expect.objectContaining({ api: 'mongo', text: '/owner = ?', equalityPaths: ['/owner'] }),
  );
  expect(JSON.stringify(all)).not.toMatch(/Oslo|secret/);
});

test('the cost of a write under another policy is estimated on the items that are there', async () => {
  const estimate = await post('/portal/api/estimate', {
    db: 'shop',
    container: 'orders',
    definition: { indexingPolicy: { indexingMode: 'none', automatic: false } },
  });
  expect(estimate.items).toBe(12);
  expect(estimate.after.indexEntries).toBe(0);
  expect(estimate.before.indexEntries).toBeGreaterThan(0);
  expect(estimate.after.requestUnits).toBeLessThan(estimate.before.requestUnits);
  const refused = await post('/portal/api/estimate', {
    db: 'shop',
    container: 'orders',
    definition: { indexingPolicy: { indexingMode: 'sometimes' } },
  });
  expect(refused.code).toBe('BadRequest');
});

test('events are served on the port of the NoSQL API, for those who sign', async () => {
  const controller = new AbortController();
  const stream = await signed('GET', 'events?topics=overview', {
    headers: { accept: 'text/event-stream' },
    signal: controller.signal,
  });
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('event: tick')) break;
  }
  controller.abort();
  expect(text).toMatch(/^retry: 2000\n\n/);
  expect(text).toMatch(/event: overview\ndata: \{"version":/);
  const once = await read('events?topics=partitions:shop/orders&once=1');
  expect(once['partitions:shop/orders'].partitions).toHaveLength(1);
  const unsigned = await fetch(new URL('/_mesocosm/events?topics=overview', server.endpoint), {
    headers: { accept: 'text/event-stream' },
  });
  expect(unsigned.status).toBe(401);
});

test('tables and graphs are made with a throughput', async () => {
  expect(await post('/portal/api/tables', { table: 'readings', autoscaleMax: 4000 })).toEqual({
    table: 'readings',
  });
  expect(await post('/portal/api/tables', { table: 'readings' })).toEqual({
    code: 'BadRequest',
    message: 'TableAlreadyExists: The table specified already exists.',
  });
  await post('/portal/api/graphs', { db: 'shop', graph: 'people', autoscaleMax: 2000 });
  const { containers } = await read('overview');
  const made = containers.filter(({ isAutoscale }: { isAutoscale: boolean }) => isAutoscale);
  expect(made).toEqual([
    expect.objectContaining({ container: 'people', api: 'gremlin', throughput: 2000 }),
    expect.objectContaining({ container: 'readings', api: 'table', throughput: 4000 }),
  ]);
});

test('hot keys are known to the children of a split, and its log to the next process', async () => {
  const before = await read('hot-keys?db=shop&container=orders');
  const body = { db: 'shop', container: 'orders', partition: '0' };
  const split = await signed('POST', 'split', { body: JSON.stringify(body) });
  const { children } = (await split.json()) as { readonly children: readonly string[] };
  const after = await read('hot-keys?db=shop&container=orders');
  const keys = ({ byRequestUnits }: typeof before) =>
    byRequestUnits.map(({ key }: { key: string[] }) => key[0]).sort();
  expect(keys(after)).toEqual(keys(before));
  expect(
    new Set(after.byRequestUnits.map(({ partition }: { partition: string }) => partition)),
  ).toEqual(new Set(children));
  await signed('PUT', 'saved/kept', {
    body: JSON.stringify({
      name: 'kept',
      api: 'nosql',
      db: 'shop',
      container: 'orders',
      text: 'x',
    }),
  });
  const lineage = await read('lineage?db=shop&container=orders');
  await server.stop();
  server = await ChildServer.start(FLAGS);
  const restarted = await read('lineage?db=shop&container=orders');
  expect(restarted.partitions).toEqual(lineage.partitions);
  expect(restarted.partitions).toContainEqual(
    expect.objectContaining({ id: children[0], parents: ['0'], cause: 'hand' }),
  );
  expect((await read('saved/kept')).name).toBe('kept');
});
