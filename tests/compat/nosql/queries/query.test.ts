// Goal: the same rows in the same order, whatever the number of partitions, the page size and who does the merging.
// Method: a table of queries and their results over fixed items, through the stock client, raw and by plan.
import type { Container, FeedOptions, SqlQuerySpec } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

interface Thing {
  readonly id: string;
  readonly pk: string;
  readonly n: number;
  readonly team: string;
  readonly tags: readonly string[];
  readonly maybe?: number | null | string;
}

const COUNT = 40;
const THINGS: readonly Thing[] = Array.from({ length: COUNT }, (_, at) => ({
  id: `thing ${at}`,
  pk: `key ${at % 13}`,
  // Every value twice, out of order.
  n: (at * 7) % 20,
  team: 'abc'.charAt(at % 3),
  tags: at % 2 === 0 ? ['even', `t${at % 5}`] : [],
  ...(at % 4 === 0 ? {} : { maybe: at % 4 === 1 ? null : at % 4 === 2 ? at : `text ${at}` }),
}));

interface Case {
  readonly query: string | SqlQuerySpec;
  readonly rows: readonly unknown[];
  /** False: compared as a set. */
  readonly isOrdered: boolean;
}

const inOrder = (query: Case['query'], rows: readonly unknown[]): Case => ({
  query,
  rows,
  isOrdered: true,
});
const inAnyOrder = (query: Case['query'], rows: readonly unknown[]): Case => ({
  query,
  rows,
  isOrdered: false,
});
const byN = [...THINGS].sort((a, b) => a.n - b.n);
const withNumber = THINGS.filter(({ maybe }) => typeof maybe === 'number');

const CASES: readonly Case[] = [
  inAnyOrder(
    'SELECT VALUE c.id FROM c',
    THINGS.map(({ id }) => id),
  ),
  inAnyOrder(
    'SELECT c.id, c.missing FROM c WHERE c.n < 5',
    THINGS.filter(({ n }) => n < 5).map(({ id }) => ({ id })),
  ),
  inAnyOrder('SELECT VALUE c.id FROM c WHERE c.pk = "key 3" AND c.n > 4', [
    ...THINGS.filter(({ pk, n }) => pk === 'key 3' && n > 4).map(({ id }) => id),
  ]),
  inAnyOrder('SELECT VALUE c.id FROM c WHERE c.pk IN ("key 1", "key 5", "no key")', [
    ...THINGS.filter(({ pk }) => pk === 'key 1' || pk === 'key 5').map(({ id }) => id),
  ]),
  inAnyOrder(
    {
      query: 'SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(@ids, c.id)',
      parameters: [{ name: '@ids', value: ['thing 3', 'thing 30', 'thing 300'] }],
    },
    ['thing 3', 'thing 30'],
  ),
  inAnyOrder('SELECT VALUE c.id FROM c WHERE false', []),
  inAnyOrder('SELECT VALUE 5', [5]),
  inAnyOrder('SELECT VALUE c.maybe FROM c WHERE c.maybe = null', new Array(10).fill(null)),
  inAnyOrder(
    'SELECT VALUE c.id FROM c WHERE c.maybe != null',
    THINGS.filter(({ maybe }) => maybe !== undefined && maybe !== null).map(({ id }) => id),
  ),
  inAnyOrder(
    'SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.maybe)',
    THINGS.filter(({ maybe }) => maybe === undefined).map(({ id }) => id),
  ),
  inAnyOrder(
    'SELECT c.id, t AS tag FROM c JOIN t IN c.tags WHERE t != "even"',
    THINGS.flatMap(({ id, tags }) =>
      tags.filter((tag) => tag !== 'even').map((tag) => ({ id, tag })),
    ),
  ),
  inAnyOrder(
    "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 't2')",
    THINGS.filter(({ tags }) => tags.includes('t2')).map(({ id }) => id),
  ),
  inOrder(
    'SELECT VALUE c.n FROM c ORDER BY c.n',
    byN.map(({ n }) => n),
  ),
  inOrder(
    'SELECT VALUE c.n FROM c WHERE c.team = "b" ORDER BY c.n DESC',
    byN
      .filter(({ team }) => team === 'b')
      .map(({ n }) => n)
      .reverse(),
  ),
  inOrder(
    'SELECT TOP 7 VALUE c.n FROM c ORDER BY c.n',
    byN.slice(0, 7).map(({ n }) => n),
  ),
  inOrder(
    'SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 5 LIMIT 11',
    byN.slice(5, 16).map(({ n }) => n),
  ),
  inOrder(
    'SELECT VALUE c.maybe FROM c WHERE IS_NUMBER(c.maybe) ORDER BY c.maybe DESC',
    withNumber.map(({ maybe }) => maybe).reverse(),
  ),
  inOrder('SELECT c.team, c.n FROM c ORDER BY c.team ASC, c.n DESC', [
    ...[...THINGS]
      .sort((a, b) => (a.team === b.team ? b.n - a.n : a.team < b.team ? -1 : 1))
      .map(({ team, n }) => ({ team, n })),
  ]),
  inAnyOrder('SELECT DISTINCT VALUE c.team FROM c', ['a', 'b', 'c']),
  inOrder('SELECT DISTINCT VALUE c.team FROM c ORDER BY c.team DESC', ['c', 'b', 'a']),
  // The client itself loses distinct zeros, so no query returns one.
  inOrder('SELECT DISTINCT TOP 2 VALUE c.n FROM c WHERE c.n > 0 ORDER BY c.n', [1, 2]),
  inAnyOrder('SELECT VALUE COUNT(1) FROM c', [COUNT]),
  inAnyOrder('SELECT VALUE COUNT(1) FROM c WHERE c.n > 1000', [0]),
  inAnyOrder('SELECT VALUE MAX(c.n) FROM c WHERE c.n > 1000', []),
  inAnyOrder('SELECT COUNT(1) AS many, MAX(c.n) AS most, MIN(c.n) AS least FROM c', [
    { many: COUNT, most: 19, least: 0 },
  ]),
  inAnyOrder('SELECT VALUE AVG(c.n) FROM c', [9.5]),
  inAnyOrder('SELECT VALUE SUM(c.maybe) FROM c', []),
  inAnyOrder(
    'SELECT c.team, COUNT(1) AS many FROM c GROUP BY c.team',
    ['a', 'b', 'c'].map((team) => ({
      team,
      many: THINGS.filter((thing) => thing.team === team).length,
    })),
  ),
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
      indexingPolicy: {
        compositeIndexes: [
          [
            { path: '/team', order: 'ascending' },
            { path: '/n', order: 'descending' },
          ],
        ],
      },
    }));
    for (const thing of THINGS) await container.items.create(thing);
    const { resources } = await container.readPartitionKeyRanges().fetchAll();
    expect(resources).toHaveLength(partitions);
  });
  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  const check = ({ rows, isOrdered }: Case, found: readonly unknown[]): void => {
    const sorted = (list: readonly unknown[]): unknown[] =>
      list.map((row) => JSON.stringify(row)).sort();
    if (isOrdered) expect(found).toEqual(rows);
    else expect(sorted(found)).toEqual(sorted(rows));
  };

  describe.each([1, 3, 100])('in pages of %i', (maxItemCount) => {
    test.each(CASES.map((entry) => [textOf(entry.query), entry] as const))(
      '%s',
      async (_, entry) => {
        const raw = await container.items.query(entry.query, { maxItemCount }).fetchAll();
        check(entry, raw.resources);
        const options: FeedOptions = { maxItemCount, forceQueryPlan: true };
        const planned = await container.items.query(entry.query, options).fetchAll();
        check(entry, planned.resources);
        // Groups over several partitions are the client's own work, which it does not interrupt.
        if (!textOf(entry.query).includes('GROUP BY'))
          check(entry, await byContinuation(container, entry.query, maxItemCount));
      },
    );
  });

  // With query control the client merges the ranges and makes its own tokens.
  test.each([1, 3, 5])('a query of full pages of %i ends', async (maxItemCount) => {
    const rows = await byContinuation(container, 'SELECT VALUE c.id FROM c', maxItemCount, true);
    expect(rows.sort()).toEqual(THINGS.map(({ id }) => id).sort());
  });

  test.each([1, 3, 5])(
    'distinct rows in order go on where pages of %i ended',
    async (maxItemCount) => {
      const query = 'SELECT DISTINCT VALUE c.pk FROM c ORDER BY c.pk';
      const rows = await byContinuation(container, query, maxItemCount, true);
      expect(rows).toEqual([...new Set(THINGS.map(({ pk }) => pk))].sort());
    },
  );

  test('charges are the same for the same query on the same data', async () => {
    for (const { query } of CASES) {
      const charges: number[] = [];
      for (let round = 0; round < 3; round++)
        charges.push((await container.items.query(query).fetchAll()).requestCharge);
      expect(new Set(charges).size).toBe(1);
      expect(charges[0]).toBeGreaterThan(0);
    }
  });
});

function textOf(query: Case['query']): string {
  return typeof query === 'string' ? query : query.query;
}

/** Reads every page with a new iterator, as a web client does that continues later. */
async function byContinuation(
  container: Container,
  query: Case['query'],
  maxItemCount: number,
  enableQueryControl = false,
): Promise<unknown[]> {
  const rows: unknown[] = [];
  let continuationToken: string | undefined;
  for (let page = 0; page < 200; page++) {
    const options: FeedOptions = {
      maxItemCount,
      enableQueryControl,
      ...(continuationToken === undefined ? {} : { continuationToken }),
    };
    const reply = await container.items.query(query, options).fetchNext();
    expect(reply.resources?.length ?? 0).toBeLessThanOrEqual(maxItemCount);
    rows.push(...(reply.resources ?? []));
    continuationToken = reply.continuationToken;
    if (continuationToken === undefined) return rows;
  }
  throw new Error('the query does not end');
}
