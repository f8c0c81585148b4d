// Goal: pages of an order by several properties neither lose nor repeat a row. Method: many rows of equal keys under
// composite indexes that begin rising and falling, read forwards and backwards in pages of several sizes.
import type { Container } from '@azure/cosmos';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;
let container: Container;

const COUNT = 60;

beforeAll(async () => {
  account = await startAccount();
  const { database } = await account.client().databases.create({ id: 'db' });
  const index = (...orders: ('ascending' | 'descending')[]) =>
    ['/n', '/s', '/z'].slice(0, orders.length).map((path, at) => ({ path, order: orders[at] }));
  const made = await database.containers.create({
    id: 'c',
    partitionKey: { paths: ['/pk'] },
    indexingPolicy: {
      compositeIndexes: [
        index('ascending', 'descending'),
        index('descending', 'ascending', 'descending'),
      ] as never,
    },
  });
  container = made.container;
  for (let at = 0; at < COUNT; at++)
    await container.items.create({ id: `i${at}`, pk: at % 3, n: at % 4, s: `${at % 2}`, z: null });
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

test.each([
  'c.n ASC, c.s DESC',
  'c.n DESC, c.s ASC',
  'c.n DESC, c.s ASC, c.z DESC',
  'c.n ASC, c.s DESC, c.z ASC',
])('ORDER BY %s gives every row once on pages of any size', async (order) => {
  const query = `SELECT VALUE c.id FROM c ORDER BY ${order}`;
  const whole = (await container.items.query(query).fetchAll()).resources;
  expect(new Set(whole).size).toBe(COUNT);
  for (const maxItemCount of [1, 7, 25])
    expect((await container.items.query(query, { maxItemCount }).fetchAll()).resources).toEqual(
      whole,
    );
});
