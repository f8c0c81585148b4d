// Goal: the result of a query, and whether it is accepted, do not depend on the number of partitions.
// Method: the same items in one partition and in five, queried through the stock client by default, through the client with
// a plan forced upon it, and by a plain request; a table of what comes back.
import { type Container, ErrorResponse } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

const ITEMS = Array.from({ length: 36 }, (_, at) => ({
  id: `item ${at}`,
  pk: `key ${at}`,
  g: `g${String(at % 12).padStart(2, '0')}`,
  u: (at * 17) % 36,
  n: at % 12,
  mixed: at === 7 ? 'text' : at,
  s: at % 2 === 0 ? 'even' : 'Odd',
  ...(at % 3 === 0 ? {} : { maybe: at }),
}));
const mostOfU = ITEMS.toSorted((a, b) => b.u - a.u).map(({ g }) => g);
const withMaybe = ITEMS.flatMap(({ maybe }) => (maybe === undefined ? [] : [maybe]));

const ANSWERS: readonly (readonly [string, readonly unknown[]])[] = [
  ['SELECT TOP 2 c.g FROM c GROUP BY c.g ORDER BY c.g DESC', [{ g: 'g11' }, { g: 'g10' }]],
  [
    'SELECT c.g, COUNT(1) AS many FROM c WHERE c.n < 2 GROUP BY c.g ORDER BY c.g',
    [
      { g: 'g00', many: 3 },
      { g: 'g01', many: 3 },
    ],
  ],
  ['SELECT VALUE AVG(c.n) * 2 FROM c', [11]],
  ['SELECT VALUE COUNT(1) > 0 FROM c', [true]],
  ['SELECT VALUE {"sum": SUM(c.n), "all": COUNT(1)} FROM c', [{ sum: 198, all: 36 }]],
  ['SELECT VALUE AVG(c.mixed) FROM c', []],
  ['SELECT VALUE SUM(c.mixed) FROM c', []],
  ['SELECT VALUE MAX(c.mixed) FROM c', ['text']],
  ['SELECT SUM(c.mixed) AS sum, COUNT(1) AS many FROM c', [{ many: 36 }]],
  ['SELECT VALUE MIN(c.nothing) FROM c', []],
  ['SELECT VALUE MAX(c.n) FROM c WHERE c.n > 99', []],
  ['SELECT DISTINCT TOP 1 VALUE c.g FROM c ORDER BY c.u DESC', mostOfU.slice(0, 1)],
  ['SELECT DISTINCT VALUE c.g FROM c ORDER BY c.u DESC', [...new Set(mostOfU)]],
  [
    'SELECT DISTINCT VALUE c.g FROM c ORDER BY c.u DESC OFFSET 3 LIMIT 4',
    [...new Set(mostOfU)].slice(3, 7),
  ],
  [
    'SELECT c.maybe FROM c ORDER BY c.maybe',
    [...Array.from({ length: 12 }, () => ({})), ...withMaybe.map((maybe) => ({ maybe }))],
  ],
  [
    'SELECT c.maybe FROM c ORDER BY c.maybe DESC',
    [
      ...withMaybe.toReversed().map((maybe) => ({ maybe })),
      ...Array.from({ length: 12 }, () => ({})),
    ],
  ],
  [
    'SELECT c.n, COUNT(1) AS k FROM c WHERE c.n < 3 GROUP BY c.n',
    [0, 1, 2].map((n) => ({ n, k: 3 })),
  ],
  // The client alone would compare null with null, and average what it can.
  [
    'SELECT MAX(c.mixed = 7 ? 1 : null) AS most, c.s FROM c GROUP BY c.s',
    [
      { most: null, s: 'even' },
      { most: null, s: 'Odd' },
    ],
  ],
  ['SELECT AVG(c.mixed) AS mean, c.s FROM c GROUP BY c.s', [{ mean: 17, s: 'even' }, { s: 'Odd' }]],
  ['SELECT VALUE c.maybe % 2 FROM c GROUP BY c.maybe % 2', [0, 1]],
];

const REFUSALS: readonly (readonly [string, string])[] = [
  ['SELECT VALUE COUNT(1) FROM (SELECT TOP 3 VALUE c FROM c) AS r', 'SC2203'],
  ['SELECT VALUE COUNT(1) FROM (SELECT VALUE c FROM c OFFSET 0 LIMIT 3) AS r', 'SC2204'],
  ['SELECT VALUE r FROM (SELECT VALUE c.n FROM c ORDER BY c.n) AS r', 'SC2202'],
  ['SELECT c.g FROM c GROUP BY c.g ORDER BY c.u', 'SC2103'],
];

/** Queries whose rows are left to clients that run plans (400/1004), and others like them that are not. */
const LEFT_TO_CLIENTS: readonly (readonly [string, boolean])[] = [
  ['SELECT VALUE MAX(c.n) FROM c WHERE c.n > 99', true],
  ['SELECT VALUE MIN(c.nothing) FROM c', true],
  ['SELECT VALUE MIN(c.nothing) FROM c WHERE c.pk IN ("key 1", "key 2")', true],
  ['SELECT VALUE MIN(c.nothing) FROM c WHERE c.pk = "key 1"', false],
  ['SELECT VALUE MAX(c.n) FROM c', false],
  // Clients would make an average of the partitions without a text.
  ['SELECT VALUE AVG(c.mixed) FROM c', false],
  ['SELECT MAX(c.nothing) AS most FROM c', false],
  ['SELECT VALUE c.n FROM c WHERE c.n > 99', false],
];

/** Queries that have no plan for clients, with the message. */
const NO_PLANS: readonly (readonly [string, RegExp])[] = [
  [
    'SELECT c.g FROM c GROUP BY c.g ORDER BY c.g',
    /'ORDER BY' is not supported in presence of GROUP BY/,
  ],
  ['SELECT VALUE AVG(c.n) * 2 FROM c', /Compositions of aggregates/],
];

describe.each([1, 5])('over %i partitions', (partitions) => {
  let account: Account;
  let container: Container;

  beforeAll(async () => {
    account = await startAccount({ settings: { partitionThroughputLimit: 6000 } });
    const { database } = await account.client().databases.create({ id: 'db' });
    ({ container } = await database.containers.create({
      id: 'things',
      partitionKey: { paths: ['/pk'], version: 2 },
      throughput: partitions === 1 ? 400 : 30_000,
    }));
    for (const item of ITEMS) await container.items.create(item);
    const { resources } = await container.readPartitionKeyRanges().fetchAll();
    expect(resources).toHaveLength(partitions);
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  test.each(LEFT_TO_CLIENTS)('%s is left to clients that run plans: %s', async (query, isLeft) => {
    const reply = await sendRaw(account, {
      method: 'POST',
      path: '/dbs/db/colls/things/docs',
      headers: {
        'content-type': 'application/query+json',
        'x-ms-documentdb-isquery': 'True',
        'x-ms-documentdb-query-enablecrosspartition': 'True',
        'x-ms-cosmos-correlated-activityid': 'x',
      },
      body: JSON.stringify({ query, parameters: [] }),
    });
    const expected = isLeft ? [400, '1004'] : [200, undefined];
    expect([reply.status, reply.headers['x-ms-substatus']]).toEqual(expected);
  });

  async function plainRows(query: string): Promise<unknown[]> {
    const rows: unknown[] = [];
    let continuation: string | undefined;
    do {
      const reply = await sendRaw(account, {
        method: 'POST',
        path: '/dbs/db/colls/things/docs',
        headers: {
          'content-type': 'application/query+json',
          'x-ms-documentdb-isquery': 'True',
          'x-ms-documentdb-query-enablecrosspartition': 'True',
          'x-ms-max-item-count': '7',
          ...(continuation && { 'x-ms-continuation': continuation }),
        },
        body: JSON.stringify({ query, parameters: [] }),
      });
      expect(reply.status).toBe(200);
      rows.push(...reply.json.Documents);
      continuation = reply.headers['x-ms-continuation'] as string | undefined;
    } while (continuation !== undefined);
    return rows;
  }

  test.each(ANSWERS)('%s', async (query, rows) => {
    for (const maxItemCount of [1, 5, 100]) {
      const { resources } = await container.items.query(query, { maxItemCount }).fetchAll();
      expect(resources).toEqual(rows);
    }
    expect(await plainRows(query)).toEqual(rows);
  });

  test.each(REFUSALS)('%s is refused', async (query, code) => {
    for (const forceQueryPlan of [false, true]) {
      const result = container.items.query(query, { forceQueryPlan }).fetchAll();
      const error = await result.catch((refusal: unknown) => refusal);
      expect(error).toBeInstanceOf(ErrorResponse);
      expect((error as ErrorResponse).code).toBe(400);
      expect((error as ErrorResponse).message).toContain(code);
    }
  });

  test.each(NO_PLANS)('%s has no plan', async (query, message) => {
    const result = container.items.query(query, { forceQueryPlan: true }).fetchAll();
    await expect(result).rejects.toThrow(message);
  });

  test('rows of a plan come in order of a property that all items have', async () => {
    const query = 'SELECT DISTINCT TOP 3 VALUE c.g FROM c ORDER BY c.u DESC';
    const { resources } = await container.items
      .query(query, { forceQueryPlan: true, maxItemCount: 2 })
      .fetchAll();
    expect(resources).toEqual([...new Set(mostOfU)].slice(0, 3));
  });
});
