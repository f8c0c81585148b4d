// Goal: a query that cannot run is refused with the service's messages, and never with a failure of the server.
// Method: a table of bodies and texts over raw requests; query plans as well as the queries themselves.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../../../src/base/index.ts';
import { type Account, startAccount } from '../harness.ts';
import { type RawReply, sendRaw } from '../raw-request.ts';

let account: Account;

beforeAll(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'db' });
  await database.containers.create({
    id: 'c',
    partitionKey: '/pk',
    indexingPolicy: {
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/hidden/*' }],
      compositeIndexes: [
        [
          { path: '/a', order: 'ascending' },
          { path: '/b', order: 'descending' },
        ],
      ],
    },
  });
  const { container } = await database.containers.create({
    id: 'unindexed',
    partitionKey: '/pk',
    indexingPolicy: { indexingMode: 'none', automatic: false },
  });
  await container.items.create({ id: '1', pk: 'x', a: 2, b: 1 });
  await container.items.create({ id: '2', pk: 'x', a: 1, b: 1 });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

function post(body: unknown, headers: Record<string, string> = {}, id = 'c'): Promise<RawReply> {
  return sendRaw(account, {
    method: 'POST',
    path: `/dbs/db/colls/${id}/docs`,
    headers: {
      'x-ms-documentdb-isquery': 'true',
      'x-ms-documentdb-query-enablecrosspartition': 'true',
      'content-type': 'application/query+json',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const PLAN = { 'x-ms-cosmos-is-query-plan-request': 'True' };

test.each([
  ['', /payload is invalid/],
  ['[]', /a JSON object is expected/],
  ['{}', /property 'query'/],
  [{ query: 5 }, /property 'query'/],
  [{ query: 'SELECT 1', parameters: {} }, /'parameters' must be/],
  [{ query: 'SELECT 1', parameters: [1] }, /'parameters' must be/],
  [{ query: 'SELECT 1', parameters: [{ name: 'x', value: 1 }] }, /'parameters' must be/],
  [{ query: '' }, /SC100/],
  [{ query: 'SELECT * FROM c WHERE' }, /SC100/],
  [
    { query: 'SELECT BADFUNC(c.x) FROM c' },
    /"location":\{"start":7,"end":14\},"code":"SC2005","message":"'BADFUNC' is not a recognized built-in function name\."/,
  ],
  [{ query: `SELECT ${'('.repeat(5000)}1${')'.repeat(5000)}` }, /nested too deeply/],
  [{ query: `SELECT "${'x'.repeat(300_000)}"` }, /SC3001/],
  [{ query: `SELECT * FROM c WHERE ${new Array(10_000).fill('c.x = 1').join(' OR ')}` }, /SC3004/],
])('%# is refused, and so is its plan', async (body, message) => {
  for (const headers of [{}, PLAN]) {
    const reply = await post(body, headers);
    expect(reply.status).toBe(400);
    expect(reply.json.code).toBe('BadRequest');
    expect(reply.json.message).toMatch(message);
  }
});

test.each([
  ['SELECT @x', /SC2001.*@x/],
  ['SELECT udf.f(1) FROM c', /SC2006/],
  ['SELECT TOP @x * FROM c', /SC2001.*@x/],
])('%s cannot run, though it has a plan', async (query, message) => {
  const reply = await post({ query });
  expect(reply.status).toBe(400);
  expect(reply.json.message).toMatch(message);
});

describe('ORDER BY and the indexing policy', () => {
  const EXCLUDED = 'The index path corresponding to the specified order-by item is excluded.';
  const NO_COMPOSITE =
    'The order by query does not have a corresponding composite index that it can be served from.';
  test.each([
    ['c.x', undefined],
    ['c.pk', undefined],
    ['c._ts DESC', undefined],
    ['c._rid', undefined],
    ['c.hidden.x', EXCLUDED],
    ['c._etag', EXCLUDED],
    ['c.a, c.b DESC', undefined],
    ['c.a DESC, c.b', undefined],
    ['c.a, c.b', NO_COMPOSITE],
    ['c.b DESC, c.a', NO_COMPOSITE],
    ['c.a, c.b DESC, c.x', NO_COMPOSITE],
  ])('%s', async (order, message) => {
    const reply = await post({ query: `SELECT * FROM c ORDER BY ${order}` });
    expect(reply.status).toBe(message === undefined ? 200 : 400);
    if (message !== undefined) expect(reply.json.message).toContain(message);
  });

  test('a container without indexes sorts everything', async () => {
    const query = 'SELECT VALUE c.id FROM c ORDER BY c.b, c.a';
    expect((await post({ query }, {}, 'unindexed')).json.Documents).toEqual(['2', '1']);
  });
});

describe('query plans', () => {
  test('say what the client has to do', async () => {
    const reply = await post(
      {
        query: 'SELECT TOP 3 * FROM c WHERE c.pk = @k ORDER BY c.n',
        parameters: [{ name: '@k', value: 'v' }],
      },
      PLAN,
    );
    expect(reply.status).toBe(200);
    const { queryInfo, queryRanges } = reply.json;
    expect(queryInfo).toMatchObject({ top: 3, orderBy: ['Ascending'], aggregates: [] });
    expect(queryRanges).toHaveLength(1);
    expect(queryRanges[0]).toMatchObject({ min: queryRanges[0].max, isMaxInclusive: true });
  });

  test('need features that the client must have', async () => {
    const query = 'SELECT DISTINCT c.a, COUNT(1) AS n FROM c GROUP BY c.a';
    const features = { 'x-ms-cosmos-supported-query-features': 'OrderBy, Top' };
    const reply = await post({ query }, { ...PLAN, ...features });
    expect(reply.status).toBe(400);
    expect(reply.json.message).toMatch(
      /features, which the calling client does not support.*GroupBy/,
    );
  });

  test('of a container that is not there', async () => {
    const reply = await post({ query: 'SELECT 1' }, PLAN, 'gone');
    expect([reply.status, reply.headers['x-ms-substatus']]).toEqual([404, '1003']);
  });
});

const SEEDS = [
  'SELECT TOP 3 c.id, c["a b"], [1, {"x": c.y}] AS z FROM c WHERE c.pk IN ("x", @p) ORDER BY c.a DESC',
  'SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags WHERE t LIKE "a%!_" ESCAPE "!" AND NOT c.b BETWEEN 1 AND -2.5e3',
  'SELECT c.a, MAX(c.b) AS m FROM c GROUP BY c.a OFFSET 1 LIMIT 2',
  'SELECT DISTINCT VALUE (c.a ?? "none") || UPPER(c.s) FROM c WHERE EXISTS(SELECT VALUE x FROM x IN c.l WHERE x > 1)',
  "SELECT * FROM c WHERE RegexMatch(c.s, '(a+)+$') OR ST_DISTANCE(c.p, {'type': 'Point', 'coordinates': [1, 2]}) < 5",
  'SELECT VALUE ARRAY(SELECT VALUE t.x FROM t IN c.l ORDER BY t.x) FROM (SELECT VALUE c FROM c WHERE c.a > 1) AS c -- end',
  'SELECT udf.f(c.x) FROM c ORDER BY RANK RRF(FullTextScore(c.t, "x"), VectorDistance(c.v, [1, 2]))',
];

test.each([1, 2])(
  'texts cut and joined at random return rows or are refused, seed %i',
  async (seed) => {
    const random = seededRandom(seed);
    const pick = (): string => SEEDS[random.below(SEEDS.length)] as string;
    for (let round = 0; round < 250; round++) {
      let query = pick();
      for (let change = random.below(4); change >= 0; change--) {
        const other = pick();
        const from = random.below(other.length);
        const at = random.below(query.length + 1);
        const piece = other.slice(from, from + random.below(20));
        query = query.slice(0, at) + piece + query.slice(at + random.below(6));
      }
      const parameters = [{ name: '@p', value: [null, 1, 'x', { a: [] }][random.below(4)] }];
      const reply = await post({ query, parameters }, random.below(4) === 0 ? PLAN : {});
      expect([200, 400], `round ${round}: ${query}`).toContain(reply.status);
    }
  },
);
