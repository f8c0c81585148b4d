// Goal: hot keys are found with few samples, cold ones are not reported as hot, old minutes are dropped. Method:
// injected time and seeds.
import { expect, test } from 'vitest';
import { bytesToLatin1, seededRandom } from '../base/index.ts';
import { HEAT_MINUTES, type HeatKey, KeyHeat } from './key-heat.ts';

const START_MS = 1_700_000_000_000;

function keyOf(name: string): HeatKey {
  const epk = Buffer.from(name.padEnd(16, '.'));
  return { epk, primary: epk };
}

const nameOf = ({ epk }: HeatKey): string => bytesToLatin1(epk).replaceAll('.', '');

test('a small load is counted exactly', () => {
  const heat = new KeyHeat(seededRandom(1));
  for (let n = 0; n < 100; n++) heat.add(n % 2 === 0 ? 1 : 5, 1000, keyOf(`k${n % 2}`), START_MS);
  const { requestUnits, bytes, keys } = heat.report(START_MS);
  expect([requestUnits, bytes]).toEqual([300, 100_000]);
  expect(keys.map((key) => [nameOf(key), key.requestUnits, key.bytes])).toEqual([
    ['k1', 250, 50_000],
    ['k0', 50, 50_000],
  ]);
});

test.each([1, 2, 3])('large load: shares within a few percent (seed %d)', (seed) => {
  const heat = new KeyHeat(seededRandom(seed));
  const random = seededRandom(seed + 100);
  let [all, hot] = [0, 0];
  for (let n = 0; n < 300_000; n++) {
    const isHot = random.below(10) < 3;
    const charge = isHot ? 1 : 5;
    all += charge;
    if (isHot) hot += charge;
    heat.add(charge, 100, keyOf(isHot ? 'hot' : `k${random.below(10_000)}`), START_MS + n / 10);
  }
  const { requestUnits, keys } = heat.report(START_MS + 30_000);
  expect(requestUnits / all).toBeCloseTo(1, 2);
  expect(nameOf(keys[0] as HeatKey)).toBe('hot');
  expect(Math.abs((keys[0]?.requestUnits ?? 0) / requestUnits - hot / all)).toBeLessThan(0.04);
  // No cold key is reported as hot.
  expect((keys[1]?.requestUnits ?? 0) / requestUnits).toBeLessThan(0.02);
});

test('a key with every eighth request is found in spite of the regular pattern', () => {
  const heat = new KeyHeat(seededRandom(4));
  for (let n = 0; n < 100_000; n++) heat.add(1, 1, keyOf(`k${n % 8}`), START_MS + n / 10);
  const { requestUnits, keys } = heat.report(START_MS + 10_000);
  expect(keys).toHaveLength(8);
  for (const key of keys)
    expect(Math.abs(key.requestUnits / requestUnits - 1 / 8)).toBeLessThan(0.05);
});

test('old minutes are dropped', () => {
  const heat = new KeyHeat(seededRandom(5));
  heat.add(7, 1, keyOf('old'), START_MS);
  heat.add(3, 1, keyOf('new'), START_MS + 60_000);
  expect(heat.report(START_MS + 60_000).keys).toHaveLength(2);
  const later = heat.report(START_MS + HEAT_MINUTES * 60_000);
  expect(later.requestUnits).toBe(3);
  expect(later.keys.map(nameOf)).toEqual(['new']);
  expect(heat.report(START_MS + 24 * 3600_000)).toEqual({ requestUnits: 0, bytes: 0, keys: [] });
});

test('a charge without a key counts only in the total', () => {
  const heat = new KeyHeat(seededRandom(6));
  heat.add(10, 5, undefined, START_MS);
  heat.add(10, 5, keyOf('a'), START_MS);
  const { requestUnits, keys } = heat.report(START_MS);
  expect(requestUnits).toBe(20);
  expect(keys.map(nameOf)).toEqual(['a']);
});

test('the children of a split begin with the heat of their keys', () => {
  const parent = new KeyHeat(seededRandom(1));
  const key = (byte: number) => ({ epk: Uint8Array.of(byte), primary: Uint8Array.of(byte) });
  for (let at = 0; at < 10; at++) parent.add(10, 0, key(1), 1000);
  parent.add(30, 0, key(9), 1000);
  parent.add(20, 0, undefined, 1000);
  const low = new KeyHeat(seededRandom(2));
  const high = new KeyHeat(seededRandom(3));
  low.inherit(parent, (epk) => (epk[0] as number) < 5, 0.5);
  high.inherit(parent, (epk) => (epk[0] as number) >= 5, 0.5);
  expect(low.report(1000)).toMatchObject({ requestUnits: 110, keys: [{ requestUnits: 100 }] });
  expect(high.report(1000)).toMatchObject({ requestUnits: 40, keys: [{ requestUnits: 30 }] });
});
