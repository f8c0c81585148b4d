// Goal: a key that is there is never taken for one that is not; most that are not there are known without the store.
// Method: many keys in the filter; a partition's keys learnt while others are added; creates of taken keys.
import { expect, test } from 'vitest';
import { memoryEngine } from '../engine/memory/index.ts';
import { KeyFilter } from './key-filter.ts';
import { KnownKeys } from './known-keys.ts';
import { keyOf, openForTest, put } from './test-kit.ts';

test('a filter knows every key added, through all its layers, and few others', () => {
  const filter = new KeyFilter();
  const key = (kind: string, number: number) => Buffer.from(`${kind}-${number}`);
  for (let number = 0; number < 50_000; number++) filter.add(key('item', number));
  let forgotten = 0;
  for (let number = 0; number < 50_000; number++)
    if (!filter.mayHave(key('item', number))) forgotten++;
  expect(forgotten).toBe(0);
  let wrong = 0;
  for (let number = 0; number < 50_000; number++) if (filter.mayHave(key('x', number))) wrong++;
  expect(wrong).toBeLessThan(50_000 * 0.04);
});

test('the keys of a partition with items are learnt after some looks in vain, new ones meanwhile too', async () => {
  const engine = memoryEngine();
  const store = await engine.open('partition');
  const primary = (number: number) => keyOf(`pk${number % 7}`, `id${number}`).primary;
  const value = new Uint8Array(8);
  await store.commit({
    puts: Array.from({ length: 3000 }, (_, number) => ({ key: primary(number), value })),
  });
  const known = new KnownKeys(store, 3000);
  for (let misses = 0; misses < 16 + 47; misses++) {
    known.missed();
    expect(known.mayHave(primary(9999))).toBe(true);
  }
  known.add(primary(3000));
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  let forgotten = 0;
  for (let number = 0; number <= 3000; number++) if (!known.mayHave(primary(number))) forgotten++;
  expect(forgotten).toBe(0);
  let unknown = 0;
  for (let number = 5000; number < 6000; number++) if (!known.mayHave(primary(number))) unknown++;
  expect(unknown).toBeGreaterThan(950);
  await engine.close();
});

test('creating what exists is refused, whether the partition was empty when opened or not', async () => {
  const engine = memoryEngine();
  let partition = await openForTest(await engine.open('partition'), { cacheBytes: 1 });
  const createAll = (ids: readonly number[]) =>
    Promise.allSettled(ids.map((id) => put(partition, 'create', keyOf('a', `${id}`), '{}')));
  const ids = Array.from({ length: 200 }, (_, id) => id);
  const first = await createAll(ids);
  expect(first.filter(({ status }) => status === 'fulfilled')).toHaveLength(200);
  for (let round = 0; round < 2; round++) {
    const again = await createAll(ids);
    expect(again.filter(({ status }) => status === 'rejected')).toHaveLength(200);
    await partition.close();
    partition = await openForTest(await engine.open('partition'), { cacheBytes: 1 });
    await createAll(ids.map((id) => 1000 * (round + 1) + id));
  }
  const last = await createAll(ids.map((id) => 1000 + id));
  expect(last.filter(({ status }) => status === 'rejected')).toHaveLength(200);
  await partition.close();
  await engine.close();
});
