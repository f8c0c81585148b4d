// Goal: a query that once held up everybody ends with its rows or a refusal, and point reads are answered meanwhile.
// Method: each attack through the stock client over one large item, with reads of another item until the attack has ended.
import type { Container } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

const TIMEOUT_MS = 240_000;
const PARTS = 2000;
const ENTRIES = 100_000;

let account: Account;
let container: Container;

/** Small squares along a parallel. */
function squares(latitude: number): object {
  const square = (_: unknown, at: number) => {
    const west = -170 + (at * 340) / PARTS;
    const east = west + 0.05;
    const [south, north] = [latitude, latitude + 0.05];
    const ring = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ];
    return [ring];
  };
  return { type: 'MultiPolygon', coordinates: Array.from({ length: PARTS }, square) };
}

beforeAll(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'db' });
  ({ container } = await database.containers.create({
    id: 'c',
    partitionKey: '/pk',
    indexingPolicy: { includedPaths: [{ path: '/pk/?' }], excludedPaths: [{ path: '/*' }] },
    fullTextPolicy: {
      defaultLanguage: 'en-US',
      fullTextPaths: [{ path: '/text', language: 'en-US' }],
    },
  } as never));
  await container.items.create({ id: 'calm', pk: 'calm' });
  const list = Array.from({ length: ENTRIES }, (_, at) => at);
  await container.items.create({ id: 'list', pk: 'list', list });
  await container.items.create({ id: 'text', pk: 'text', text: 'amber stone '.repeat(80_000) });
  await container.items.create({ id: 'a', pk: 'geo', north: squares(40), south: squares(-40) });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

/** Nine levels of eight are 27 doublings. */
let joins = '';
for (let at = 0; at < 9; at++)
  joins += ` JOIN (SELECT VALUE ARRAY_CONCAT(${Array(8).fill(`z${at}`)})) AS z${at + 1}`;

const TOO_LARGE = /size of the values/;
const TOO_LONG = /exceeded (the time|its time limit)/;

/** With the part of the message, or the rows; a machine that is busy may run out of time where rows are named. */
const ATTACKS: readonly (readonly [string, string, string, readonly unknown[] | RegExp])[] = [
  [
    'ST_DISTANCE of two MultiPolygons of 2,000 parts',
    'geo',
    'SELECT VALUE ST_DISTANCE(c.north, c.south) > 1000 FROM c',
    [true],
  ],
  [
    'ARRAY_CONTAINS in a JOIN over 100,000 entries',
    'list',
    'SELECT VALUE COUNT(1) FROM c JOIN a IN c.list WHERE ARRAY_CONTAINS(c.list, a + 1000)',
    TOO_LONG,
  ],
  [
    'ARRAY_CONCAT of 100,000 entries doubled 27 times',
    'list',
    `SELECT VALUE ARRAY_LENGTH(z9) FROM c${joins.replaceAll('z0', 'c.list')}`,
    TOO_LARGE,
  ],
  [
    'REVERSE of 100 MB',
    'text',
    "SELECT VALUE LENGTH(REVERSE(REPLACE(c.text, 'stone', REPLICATE('x', 1250)))) FROM c",
    TOO_LARGE,
  ],
  [
    'FullTextScore of a text of 1 MB',
    'text',
    "SELECT TOP 1 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, 'amber')",
    ['text'],
  ],
];

async function besideReads<T>(work: Promise<T>): Promise<T> {
  let hasEnded = false;
  const ended = work.finally(() => {
    hasEnded = true;
  });
  ended.catch(() => undefined);
  do expect((await container.item('calm', 'calm').read()).statusCode).toBe(200);
  while (!hasEnded);
  return ended;
}

test.each(ATTACKS)(
  '%s does not stop everybody',
  async (_, partitionKey, query, expected) => {
    const answer = container.items.query(query, { partitionKey }).fetchAll();
    const end = await besideReads(
      answer.then(
        ({ resources }) => resources,
        (error: { code: number; message: string }) => error,
      ),
    );
    if (Array.isArray(end)) expect(end).toEqual(expected);
    else {
      expect([400, 408]).toContain(end.code);
      expect(end.message).toMatch(expected instanceof RegExp ? expected : TOO_LONG);
    }
  },
  TIMEOUT_MS,
);

test(
  'an item of 100,000 properties is written while others are read',
  async () => {
    const names = Array.from({ length: 100_000 }, (_, at) => [`p${at}`, at]);
    const item = { id: 'wide', pk: 'wide', ...Object.fromEntries(names) };
    const { statusCode } = await besideReads(container.items.create(item));
    expect(statusCode).toBe(201);
    const { resource } = await container.item('wide', 'wide').read();
    expect(resource).toMatchObject({ p0: 0, p99999: 99_999 });
  },
  TIMEOUT_MS,
);
