// Goal: charges are the documented ones, and follow index and consistency. Method: the stock client, sizes of the table.
import { ConsistencyLevel, type Container, type IndexingPolicy } from '@azure/cosmos';
import { afterEach, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';

let account: Account;

afterEach(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function newContainer(indexingPolicy?: IndexingPolicy): Promise<Container> {
  const { database } = await account.client().databases.createIfNotExists({ id: 'd' });
  const { container } = await database.containers.create({
    id: `c${Math.random()}`,
    partitionKey: { paths: ['/pk'] },
    ...(indexingPolicy === undefined ? {} : { indexingPolicy }),
  });
  return container;
}

test('the table by size, within 15 percent', async () => {
  account = await startAccount();
  const container = await newContainer();
  const table = [
    [1, 1, 4.95],
    [2, 1.04, 6.29],
    [4, 1.14, 6.67],
    [16, 1.67, 9.52],
    [64, 4.76, 22.67],
    [256, 20.28, 98.29],
    [1024, 145.9, 625],
  ] as const;
  for (const [kilobytes, read, write] of table) {
    const text = 'x'.repeat(kilobytes * 1024 - 300);
    const item = { id: `i${kilobytes}`, pk: 'a', n: 1, tags: ['a', 'b'], at: { x: 1 }, text };
    const created = await container.items.create(item);
    expect(created.requestCharge / write).toBeGreaterThan(0.85);
    expect(created.requestCharge / write).toBeLessThan(1.15);
    const got = await container.item(item.id, 'a').read();
    expect(got.requestCharge / read).toBeGreaterThan(0.85);
    expect(got.requestCharge / read).toBeLessThan(1.15);
    const replaced = await container.item(item.id, 'a').replace(item);
    expect(replaced.requestCharge / (2 * write)).toBeCloseTo(1, 1);
  }
});

test('a write costs more with many indexed values, less with few or none', async () => {
  account = await startAccount();
  const numbers = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`n${n}`, n]));
  const charge = async (policy: IndexingPolicy | undefined, more: object): Promise<number> => {
    const container = await newContainer(policy);
    return (await container.items.create({ id: 'i', pk: 'a', ...more })).requestCharge;
  };
  const usual = await charge(undefined, { text: 'x' });
  expect(usual).toBe(4.95);
  expect(await charge(undefined, numbers)).toBeGreaterThan(usual + 2);
  const excluded = { excludedPaths: [{ path: '/*' }] };
  expect(await charge(excluded, numbers)).toBeLessThan(usual * 0.8);
  const off = { indexingMode: 'none', automatic: false } as const;
  expect(await charge(off, numbers)).toBeLessThan(usual * 0.7);
});

test.each([
  ['Strong', 2],
  ['BoundedStaleness', 2],
  ['Session', 1],
] as const)(
  'reads of an account with %s consistency cost %d times as much',
  async (level, factor) => {
    account = await startAccount({ settings: { consistency: level } });
    const container = await newContainer();
    await container.items.create({ id: 'i', pk: 'a' });
    expect((await container.item('i', 'a').read()).requestCharge).toBe(factor);
    const weaker = account.client({ consistencyLevel: ConsistencyLevel.Eventual });
    const item = weaker.database('d').container(container.id).item('i', 'a');
    expect((await item.read()).requestCharge).toBe(1);
    const stronger = account.client({ consistencyLevel: ConsistencyLevel.Strong });
    const read = stronger.database('d').container(container.id).item('i', 'a').read();
    if (level === 'Strong') expect((await read).requestCharge).toBe(2);
    else await expect(read).rejects.toMatchObject({ code: 400 });
  },
);
