// Goal: vector and hybrid searches as programs write them: a vector named by a parameter, VALUE with ORDER BY RANK, on
// one partition and on several. Method: the same few items, queries by the stock client, results by hand.
import type { Container, ContainerRequest, SqlParameter } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;

beforeAll(async () => {
  account = await startAccount();
  await account.client().databases.create({ id: 'd' });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const ITEMS = [
  { id: 'a', text: 'amber river amber', vector: [10, 0], tags: ['x'] },
  { id: 'b', text: 'amber stone', vector: [1, 1], tags: ['y'] },
  { id: 'c', text: 'cloud', vector: [2, 2], tags: ['z'] },
  { id: 'd', text: 'meadow', vector: [0, 9], tags: ['w'] },
];

describe.each([
  ['one partition', 1000],
  ['several partitions', 25_000],
])('%s', (name, throughput) => {
  let container: Container;
  beforeAll(async () => {
    const spec = {
      id: name.replace(' ', '-'),
      partitionKey: '/id',
      throughput,
      vectorEmbeddingPolicy: {
        vectorEmbeddings: [
          { path: '/vector', dataType: 'float32', dimensions: 2, distanceFunction: 'euclidean' },
        ],
      },
      fullTextPolicy: {
        defaultLanguage: 'en-US',
        fullTextPaths: [{ path: '/text', language: 'en-US' }],
      },
    } as ContainerRequest;
    ({ container } = await account.client().database('d').containers.create(spec));
    for (const item of ITEMS) await container.items.create(item);
  });

  const run = async (query: string, ...parameters: readonly (readonly [string, unknown])[]) => {
    const named = parameters.map(([key, value]) => ({ name: key, value }) as SqlParameter);
    return (await container.items.query({ query, parameters: named }).fetchAll()).resources;
  };

  test('VectorDistance(c[@p], @q) measures as the policy of the container says', async () => {
    const query =
      'SELECT TOP 4 c.id, VectorDistance(c[@p], @q) AS score FROM c ORDER BY VectorDistance(c[@p], @q)';
    expect(await run(query, ['@p', 'vector'], ['@q', [1, 1]])).toEqual([
      { id: 'b', score: 0 },
      { id: 'c', score: Math.sqrt(2) },
      { id: 'd', score: Math.sqrt(65) },
      { id: 'a', score: Math.sqrt(82) },
    ]);
  });

  test.each<readonly [string, readonly unknown[]]>([
    ['SELECT TOP 2 VALUE c.id', ['a', 'b']],
    ['SELECT TOP 2 VALUE c.tags', [['x'], ['y']]],
    ['SELECT TOP 2 VALUE { "id": c.id }', [{ id: 'a' }, { id: 'b' }]],
    ['SELECT TOP 2 c.id', [{ id: 'a' }, { id: 'b' }]],
  ])('%s with ORDER BY RANK of one score', async (select, expected) => {
    const query = `${select} FROM c ORDER BY RANK FullTextScore(c.text, 'amber')`;
    expect(await run(query)).toEqual(expected);
  });

  test.each<readonly [string, readonly unknown[]]>([
    ['SELECT TOP 2 VALUE c.id', ['b', 'c']],
    ['SELECT TOP 2 VALUE c.tags', [['y'], ['z']]],
    ['SELECT TOP 2 VALUE { "id": c.id }', [{ id: 'b' }, { id: 'c' }]],
    ['SELECT TOP 2 c.id', [{ id: 'b' }, { id: 'c' }]],
  ])('%s with ORDER BY RANK of two scores', async (select, expected) => {
    const scores = "FullTextScore(c.text, 'amber', 'stone'), VectorDistance(c.vector, [1, 1])";
    expect(await run(`${select} FROM c ORDER BY RANK RRF(${scores})`)).toEqual(expected);
  });

  test('RRF with weights given by a parameter ranks as with the weights themselves', async () => {
    const scores = "FullTextScore(c.text, 'amber', 'stone'), VectorDistance(c.vector, [0, 9])";
    const ranked = (weights: string) =>
      `SELECT TOP 4 c.id FROM c ORDER BY RANK RRF(${scores}, ${weights})`;
    const byText = await run(ranked('[10, 0.1]'));
    expect(byText[0]).toEqual({ id: 'b' });
    expect(await run(ranked('@w'), ['@w', [10, 0.1]])).toEqual(byText);
    const byVector = await run(ranked('[0.1, 10]'));
    expect(byVector[0]).toEqual({ id: 'd' });
    expect(await run(ranked('@w'), ['@w', [0.1, 10]])).toEqual(byVector);
  });
});
