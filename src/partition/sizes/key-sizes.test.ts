// Goal: the bytes of large keys are exact, whatever is written while they are counted.
// Method: writers of keys of very different sizes, by seed, before, during and after the scan; then a sum of all items.
import { expect, test } from 'vitest';
import { bytesToLatin1, seededRandom } from '../../base/index.ts';
import { asyncEngine } from '../../engine/async-engine.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { EPK_MAX, EPK_MIN } from '../../value/index.ts';
import { epkOfPrimary, KeySizes, type Partition } from '../index.ts';
import { keyOf, openForTest, put, remove } from '../test-kit.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? 11);
const LIMIT = 20_000;
const never = new AbortController().signal;

async function trueSizes(partition: Partition): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  const scan = { after: undefined, limit: 100_000, bytesMax: 1e9 };
  const page = await partition.scanByKey(scan, { min: EPK_MIN, max: EPK_MAX });
  for (const { primary, record } of page.items) {
    const text = bytesToLatin1(epkOfPrimary(primary));
    sizes.set(text, (sizes.get(text) ?? 0) + record.length);
  }
  return sizes;
}

test.each([
  ['at once', memoryEngine()],
  ['later', asyncEngine(memoryEngine())],
])('heavy keys are counted exactly on an engine that responds %s (seed %#)', async (_, engine) => {
  const random = seededRandom(SEED);
  const partition = await openForTest(await engine.open('p'));
  const write = async (): Promise<void> => {
    // The lower the number, the more often: k0 becomes large, k30 stays small.
    const key = keyOf(`k${Math.floor(random.below(30) ** 2 / 30)}`, `i${random.below(20)}`);
    if (random.below(5) === 0) await remove(partition, key).catch(() => undefined);
    else await put(partition, 'upsert', key, 'x'.repeat(random.below(400)));
  };
  const writeMany = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await write();
  };
  await writeMany(300);
  const sizes = new KeySizes(LIMIT);
  const writers = [writeMany(100), writeMany(100), writeMany(100)];
  await partition.scanKeySizes(() => undefined, never, sizes);
  await Promise.all(writers);
  await writeMany(100);
  const truth = await trueSizes(partition);
  expect(sizes.totalBytes).toBe(partition.itemBytes);
  const heavy = sizes.heavy();
  expect(heavy.length).toBeGreaterThan(0);
  expect(heavy.length).toBeLessThan(truth.size);
  for (const { epk, bytes } of heavy) expect(bytes).toBe(truth.get(bytesToLatin1(epk)));
  if (!sizes.isDue)
    for (const [text, bytes] of truth)
      if (!heavy.some(({ epk }) => bytesToLatin1(epk) === text))
        expect(bytes).toBeLessThan(LIMIT * 0.75);
  const seen = new Map<string, number>();
  await partition.scanKeySizes(({ epk, bytes }) => seen.set(bytesToLatin1(epk), bytes), never);
  expect(seen).toEqual(truth);
  expect(await partition.keyCount()).toEqual({ keys: truth.size, isExact: true });
  await partition.close();
});

test('many heavy keys: the largest are kept', () => {
  const sizes = new KeySizes(100);
  sizes.begin(0);
  for (let n = 0; n < 5000; n++) {
    const { epk, primary } = keyOf(`k${n}`, 'x');
    sizes.found({ epk, primary, bytes: 10 + (n % 50) });
  }
  sizes.end();
  const heavy = sizes.heavy();
  expect(heavy).toHaveLength(1024);
  expect(heavy.at(-1)?.bytes).toBeGreaterThanOrEqual(49);
});
