// Goal: searches with vector and full text indexes give what a look at every item gives, as items come, change and go.
// Method: the same random items in a container with indexes and in one without, the same queries by the stock client.
import type { Container, ContainerRequest } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Random, seededRandom } from '../../../../src/base/index.ts';
import { type Account, startAccount } from '../harness.ts';

const SEED = Number(process.env.SEED ?? 20261115);
const DIMENSIONS = 8;
const WORDS = 'river stone light amber cloud meadow silver thunder lantern harbor'.split(' ');

let account: Account;
let random: Random;

beforeAll(async () => {
  account = await startAccount();
  await account.client().databases.create({ id: 'd' });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

interface Item {
  readonly id: string;
  readonly pk: string;
  readonly color: string;
  readonly vector?: number[];
  readonly text?: string;
}

function makeItem(n: number): Item {
  const vector = Array.from({ length: DIMENSIONS }, () => random.below(2001) / 1000 - 1);
  const words = Array.from({ length: 3 + random.below(9) }, () => WORDS[random.below(10)]);
  return {
    id: `i${n}`,
    pk: `k${n % 3}`,
    color: ['red', 'green', 'blue'][random.below(3)] as string,
    ...(random.below(10) > 0 && { vector }),
    ...(random.below(10) > 0 && { text: words.join(' ') }),
  };
}

async function makeContainer(id: string, more: object): Promise<Container> {
  const spec = { id, partitionKey: '/pk', throughput: 1000, ...more } as ContainerRequest;
  return (await account.client().database('d').containers.create(spec)).container;
}

function vectorPolicy(distanceFunction: string) {
  const embedding = {
    path: '/vector',
    dataType: 'float32',
    dimensions: DIMENSIONS,
    distanceFunction,
  };
  return { vectorEmbeddingPolicy: { vectorEmbeddings: [embedding] } };
}

function indexes(type: string) {
  return {
    indexingPolicy: {
      includedPaths: [{ path: '/*' }],
      excludedPaths: [{ path: '/vector/*' }],
      vectorIndexes: [{ path: '/vector', type }],
      fullTextIndexes: [{ path: '/text' }],
    },
  };
}

const TEXTS = {
  fullTextPolicy: {
    defaultLanguage: 'en-US',
    fullTextPaths: [{ path: '/text', language: 'en-US' }],
  },
};

/** By partition, as one that runs the query itself: nothing is added by the client. */
async function run(container: Container, query: string): Promise<unknown[]> {
  const { resources } = await container.items.query(query).fetchAll();
  return resources;
}

describe.each([
  ['cosine', 'flat'],
  ['dotproduct', 'quantizedFlat'],
  ['euclidean', 'diskANN'],
])(`%s with a %s index (seed ${SEED})`, (distance, type) => {
  test('agrees with a look at every item', async () => {
    random = seededRandom(SEED);
    const policies = { ...vectorPolicy(distance), ...TEXTS };
    const indexed = await makeContainer(`${distance}-indexed`, { ...policies, ...indexes(type) });
    const plain = await makeContainer(`${distance}-plain`, policies);
    const both = [indexed, plain];
    const live = new Map<string, Item>();
    const write = async (item: Item) => {
      live.set(item.id, item);
      for (const container of both) await container.items.upsert(item);
    };
    for (let n = 0; n < 90; n++) await write(makeItem(n));
    for (let round = 0; round < 2; round++) {
      const vector = JSON.stringify(makeItem(0).vector ?? Array(DIMENSIONS).fill(0.5));
      const [a, b, c] = [0, 1, 2].map(() => WORDS[random.below(10)]);
      const near = `ORDER BY VectorDistance(c.vector, ${vector})`;
      const score = `_FullTextScore(c.text, ["${a}", "${b} ${c}"], 120, 700, [40, 3])`;
      for (const query of [
        `SELECT TOP 10 c.id, VectorDistance(c.vector, ${vector}) AS score FROM c ${near}`,
        `SELECT TOP 5 c.id FROM c WHERE c.color = 'red' ${near}`,
        `SELECT c.id FROM c WHERE c.color != 'blue' ${near} OFFSET 3 LIMIT 7`,
        `SELECT TOP 300 c.id FROM c ${near}`,
        `SELECT TOP 4 c.id FROM c WHERE c.pk = 'k1' ${near}`,
        `SELECT c.id FROM c WHERE FullTextContains(c.text, '${a}')`,
        `SELECT c.id FROM c WHERE FullTextContains(c.text, '${a} ${b}')`,
        `SELECT c.id FROM c WHERE FullTextContainsAll(c.text, '${a}', '${b}')`,
        `SELECT c.id FROM c WHERE FullTextContainsAny(c.text, '${a}', '${b}') AND c.color = 'green'`,
        `SELECT c.id FROM c WHERE NOT FullTextContains(c.text, '${a}')`,
        `SELECT TOP 10 c.id FROM c ORDER BY RANK FullTextScore(c.text, '${a}', '${b}')`,
        `SELECT TOP 10 c.id FROM c ORDER BY RANK FullTextScore(c.text, '${a} ${c}')`,
        `SELECT TOP 10 c.id FROM c WHERE c.color = 'red' ORDER BY RANK FullTextScore(c.text, '${a}')`,
        `SELECT TOP 10 c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, '${a}'), VectorDistance(c.vector, ${vector}))`,
        `SELECT TOP 12 c.id, ${score} AS score FROM c ORDER BY ${score} DESC`,
        `SELECT TOP 200 c.id FROM c WHERE c.color = 'green' ORDER BY ${score} DESC`,
        `SELECT COUNT(1) AS documentCount, [{"totalWordCount": SUM(_FullTextWordCount(c.text)), "hitCounts": [COUNTIF(FullTextContains(c.text, "${a}")), COUNTIF(FullTextContains(c.text, "${b} ${c}"))]}] AS fullTextStatistics FROM c`,
      ])
        expect(await run(indexed, query), query).toEqual(await run(plain, query));
      for (let n = 0; n < 40; n++) {
        const id = `i${random.below(160)}`;
        const existing = live.get(id);
        if (existing !== undefined && random.below(3) === 0) {
          live.delete(id);
          for (const container of both) await container.item(id, existing.pk).delete();
        } else await write(makeItem(Number(id.slice(1))));
      }
    }
  });
});
