/** Random requests, well-formed and malformed, for containers that hold marked items. */
import { SHAPES } from '../../../../src/api/nosql/routes.ts';
import type { Random } from '../../../../src/base/index.ts';
import type { RawRequest } from '../raw-request.ts';
import { containerIds, databaseIds, IDS, itemIds, KEYS, markOf } from './access-world.ts';

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

type Sent = RawRequest & { readonly method: string };

export function randomRequest(random: Random, tokens: readonly string[]): Sent {
  if (random.below(100) < 25) return bentRequest(random, tokens);
  const request = usualRequest(random);
  const headers: Record<string, string> = { ...request.headers };
  // One or two headers that do not belong there, or another value of one that does.
  for (let count = random.below(3); count > 0; count--) {
    const [name, values] = pick(random, Object.entries(headerValues(random, tokens)));
    headers[name] = pick(random, values);
  }
  if (random.below(10) === 0) delete headers['x-ms-documentdb-partitionkey'];
  return { ...request, headers };
}

/** Everyday requests, for any target. */
function usualRequest(random: Random): Sent {
  const [database, container] = pick(random, [
    ['shop', 'orders'],
    ['shop', 'orders'],
    ['shop', 'orders'],
    ['shop', 'others'],
    ['bank', 'orders'],
  ] as const);
  const key = pick(random, KEYS);
  const id = pick(random, IDS);
  const isByNumber = random.below(4) === 0;
  const path = isByNumber
    ? `/dbs/${databaseIds.get(database)}/colls/${encodeURIComponent(containerIds.get(`${database}/${container}`) ?? '')}`
    : `/dbs/${database}/colls/${container}`;
  const itemId = isByNumber ? itemIds.get(markOf({ database, container, key, id })) : id;
  const docs = `${path}/docs`;
  const one = `${docs}/${encodeURIComponent(itemId ?? id)}`;
  const headers = { 'x-ms-documentdb-partitionkey': JSON.stringify([key]) };
  const item = { id, key, mark: 'overwritten' };
  const query = {
    'x-ms-documentdb-isquery': 'true',
    'x-ms-documentdb-query-enablecrosspartition': 'true',
  };
  const batch = {
    'x-ms-cosmos-is-batch-request': 'true',
    'x-ms-cosmos-batch-continue-on-error': 'true',
  };
  return pick<Sent>(random, [
    { method: 'GET', path: one, headers },
    { method: 'GET', path: docs, headers },
    { method: 'GET', path: docs, headers: { ...headers, 'a-im': 'Incremental Feed' } },
    {
      method: 'GET',
      path: docs,
      headers: { ...headers, 'a-im': 'Full-Fidelity Feed', 'if-none-match': '"1"' },
    },
    {
      method: 'POST',
      path: docs,
      headers: { ...headers, ...query },
      body: { query: pick(random, QUERIES) },
    },
    { method: 'POST', path: docs, headers: query, body: { query: pick(random, QUERIES) } },
    { method: 'POST', path: docs, headers, body: { ...item, id: 'new' } },
    {
      method: 'POST',
      path: docs,
      headers: { ...headers, 'x-ms-documentdb-is-upsert': 'true' },
      body: item,
    },
    {
      method: 'POST',
      path: docs,
      headers: { ...headers, ...batch, 'x-ms-cosmos-batch-atomic': 'true' },
      body: randomBatch(random),
    },
    { method: 'POST', path: docs, headers: { ...headers, ...batch }, body: randomBatch(random) },
    { method: 'PUT', path: one, headers, body: item },
    {
      method: 'PATCH',
      path: one,
      headers,
      body: { operations: [{ op: 'set', path: '/mark', value: 'x' }] },
    },
    { method: 'DELETE', path: one, headers },
    { method: 'POST', path: `${path}/sprocs/all`, headers, body: [] },
    { method: 'POST', path: `${path}/operations/partitionkeydelete`, headers },
    { method: 'GET', path: `${path}/sprocs`, headers: {} },
    { method: 'GET', path: `/dbs/${database}/users`, headers: {} },
  ]);
}

function randomBatch(random: Random): object {
  const operations = Array.from({ length: 1 + random.below(3) }, () => {
    const id = pick(random, IDS);
    const key = pick(random, KEYS);
    const operationType = pick(random, ['Read', 'Read', 'Upsert', 'Delete', 'Create']);
    const resourceBody = { id, key, mark: 'overwritten' };
    const partitionKey = JSON.stringify([key]);
    return {
      operationType,
      id,
      ...(operationType === 'Upsert' || operationType === 'Create' ? { resourceBody } : {}),
      ...(random.below(3) > 0 ? { partitionKey } : {}),
    };
  });
  return operations;
}

function headerValues(random: Random, tokens: readonly string[]): Record<string, string[]> {
  return {
    'x-ms-documentdb-partitionkey': [randomKey(random)],
    'x-ms-documentdb-isquery': ['true', 'True', 'false', ''],
    'content-type': ['application/query+json', 'application/json'],
    'x-ms-documentdb-query-enablecrosspartition': ['true'],
    'x-ms-documentdb-partitionkeyrangeid': ['0', '1', '2'],
    'x-ms-start-epk': ['', '00', '1F'],
    'x-ms-end-epk': ['FF', '20', '3FFF'],
    'x-ms-documentdb-is-upsert': ['true', 'True', 'false'],
    'x-ms-cosmos-is-batch-request': ['true'],
    'x-ms-cosmos-batch-atomic': ['true', 'false'],
    'x-ms-cosmos-is-query-plan-request': ['True', 'false'],
    'x-ms-continuation': [pick(random, tokens)],
    'a-im': ['Incremental Feed', 'Full-Fidelity Feed', ''],
    'if-none-match': ['*', '"1"', '"0"'],
    'x-ms-max-item-count': ['1', '-1', '1000'],
    'x-http-method-override': ['GET', 'DELETE'],
    'x-ms-documentdb-populatequotainfo': ['true'],
    'if-match': ['*'],
    prefer: ['return=minimal'],
  };
}

/** Anything for anything. */
function bentRequest(random: Random, tokens: readonly string[]): Sent {
  const path = randomPath(random);
  const method = pick(random, [
    'GET',
    'GET',
    'POST',
    'POST',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'HEAD',
    'OPTIONS',
  ]);
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(headerValues(random, tokens)))
    if (random.below(100) < 15) headers[name] = pick(random, values);
  const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
  return { method, path, headers, ...(hasBody ? { body: randomBody(random) } : {}) };
}

function randomPath(random: Random): string {
  const shape = random.below(100) < 60 ? 'dbs/colls/docs' : pick(random, SHAPES);
  if (shape === '') return '/';
  const database = pick(random, ['shop', 'shop', 'shop', 'bank']);
  const container = pick(random, ['orders', 'orders', 'others']);
  const key = pick(random, KEYS);
  const id = pick(random, IDS);
  const byNumber = random.below(100) < 30;
  const names = byNumber
    ? [
        databaseIds.get(database) ?? '',
        containerIds.get(`${database}/${container}`) ?? '',
        itemIds.get(markOf({ database, container, key, id })) ?? '',
      ]
    : [database, container, id];
  const kinds = shape.split('/');
  const count = kinds.length - (random.below(2) === 0 ? 0 : 1);
  const slash = random.below(20) === 0 ? '//' : '/';
  const segments = kinds.flatMap((kind, at) =>
    at < count ? [kind, encodeURIComponent(names[at] ?? '1')] : [kind],
  );
  return `${slash}${segments.join(slash)}${random.below(10) === 0 ? '/' : ''}`;
}

function randomKey(random: Random): string {
  const one = () => pick<unknown>(random, [...KEYS, null, 1, {}, true]);
  return pick(random, [
    () => JSON.stringify([one()]),
    () => JSON.stringify([one()]),
    () => JSON.stringify(['ada']),
    () => JSON.stringify([one(), one()]),
    () => '[]',
    () => 'ada',
    () => '["ada"],["bob"]',
  ])();
}

function randomBody(random: Random): object {
  const key = pick(random, KEYS);
  const id = pick(random, IDS);
  const item = { id, key, mark: 'overwritten' };
  return pick<() => object>(random, [
    () => ({ query: pick(random, QUERIES) }),
    () => ({ query: pick(random, QUERIES), parameters: [{ name: '@k', value: key }] }),
    () => item,
    () => ({ ...item, query: 'SELECT * FROM c' }),
    () => [
      { operationType: 'Read', id, partitionKey: JSON.stringify([key]) },
      { operationType: 'Upsert', id, resourceBody: item, partitionKey: JSON.stringify([key]) },
      { operationType: 'Delete', id, partitionKey: JSON.stringify([key]) },
    ],
    () => ({ operations: [{ op: 'set', path: '/mark', value: 'patched' }] }),
    () => ({ id: 'p', permissionMode: 'All', resource: 'dbs/shop/colls/others' }),
    () => ({ id: 'new', body: 'function () {}', triggerType: 'Pre', triggerOperation: 'All' }),
    () => [],
  ])();
}

const QUERIES = [
  'SELECT * FROM c',
  'SELECT VALUE c.mark FROM c',
  "SELECT * FROM c WHERE c.key = 'bob'",
  'SELECT * FROM c WHERE c.key = @k',
  'SELECT * FROM c ORDER BY c.key DESC',
  'SELECT c.key, MAX(c.mark) AS m FROM c GROUP BY c.key',
  'SELECT VALUE MAX(c.mark) FROM c',
  'SELECT DISTINCT VALUE c.mark FROM c',
  'SELECT * FROM c OFFSET 1 LIMIT 5',
];
