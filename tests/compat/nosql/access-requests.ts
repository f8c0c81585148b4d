/** Random requests, well-formed and bent, for containers that hold marked items. */
import { SHAPES } from '../../../src/api/nosql/routes.ts';
import type { Random } from '../../../src/base/index.ts';
import { containerIds, databaseIds, IDS, itemIds, KEYS, markOf } from './access-world.ts';
import type { RawRequest } from './raw-request.ts';

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

function maybe<T>(random: Random, percent: number, make: () => T): T | undefined {
  return random.below(100) < percent ? make() : undefined;
}

type Sent = RawRequest & { readonly method: string };

export function randomRequest(random: Random, tokens: readonly string[]): Sent {
  return random.below(100) < 40 ? plainRequest(random, tokens) : bentRequest(random, tokens);
}

/** What clients send every day, for whatever place. */
function plainRequest(random: Random, tokens: readonly string[]): Sent {
  const container = pick(random, ['shop/colls/orders', 'shop/colls/orders', 'bank/colls/orders']);
  const docs = `/dbs/${container}/docs`;
  const key = pick(random, KEYS);
  const headers = {
    'x-ms-documentdb-partitionkey': JSON.stringify([key]),
    ...(random.below(4) === 0 ? { 'x-ms-continuation': pick(random, tokens) } : {}),
  };
  const id = pick(random, IDS);
  return pick<() => Sent>(random, [
    () => ({ method: 'GET', path: `${docs}/${id}`, headers }),
    () => ({ method: 'GET', path: docs, headers }),
    () => ({
      method: 'POST',
      path: docs,
      headers: { ...headers, 'x-ms-documentdb-isquery': 'true' },
      body: { query: pick(random, QUERIES) },
    }),
    () => ({
      method: 'POST',
      path: docs,
      headers: { ...headers, 'x-ms-documentdb-is-upsert': 'true' },
      body: { id, key, mark: 'overwritten' },
    }),
    () => ({ method: 'DELETE', path: `${docs}/${id}`, headers }),
  ])();
}

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
  const set = (percent: number, name: string, make: () => string): void => {
    const value = maybe(random, percent, make);
    if (value !== undefined) headers[name] = value;
  };
  set(70, 'x-ms-documentdb-partitionkey', () => randomKey(random));
  set(40, 'x-ms-documentdb-isquery', () => pick(random, ['true', 'True', 'false', '']));
  set(20, 'content-type', () => pick(random, ['application/query+json', 'application/json']));
  set(50, 'x-ms-documentdb-query-enablecrosspartition', () => 'true');
  set(20, 'x-ms-documentdb-partitionkeyrangeid', () => pick(random, ['0', '1', '2']));
  set(15, 'x-ms-start-epk', () => pick(random, ['', '00', '1F']));
  set(15, 'x-ms-end-epk', () => pick(random, ['FF', '20', '3FFF']));
  set(20, 'x-ms-documentdb-is-upsert', () => pick(random, ['true', 'True', 'false']));
  set(15, 'x-ms-cosmos-is-batch-request', () => 'true');
  set(10, 'x-ms-cosmos-batch-atomic', () => pick(random, ['true', 'false']));
  set(10, 'x-ms-cosmos-is-query-plan-request', () => 'True');
  set(25, 'x-ms-continuation', () => pick(random, tokens));
  set(10, 'a-im', () =>
    pick(random, ['Incremental Feed', 'Full-Fidelity Feed', 'Incremental feed']),
  );
  set(10, 'x-ms-max-item-count', () => pick(random, ['1', '-1', '1000']));
  set(5, 'x-http-method-override', () => pick(random, ['GET', 'DELETE']));
  set(5, 'x-ms-documentdb-populatequotainfo', () => 'true');
  set(5, 'if-match', () => '*');
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
