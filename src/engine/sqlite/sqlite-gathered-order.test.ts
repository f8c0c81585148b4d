// Goal: entries come out in the order of their keys, each key once, as it was said last. Method: seeded random rows with few
// keys, short and long, that begin alike, against a map.
import { expect, test } from 'vitest';
import { seededRandom, toHex } from '../../base/index.ts';
import { inKeyOrder } from './sqlite-gathered-order.ts';
import { packRow } from './sqlite-gathered-row.ts';

for (const [seed, rowCount] of [
  [1, 0],
  [2, 1],
  [3, 40],
  [4, 900],
] as const)
  test(`${rowCount} rows, seed ${seed}`, () => {
    const random = seededRandom(seed);
    const expected = new Map<string, string>();
    const rows = Array.from({ length: rowCount }, () => {
      const entries = Array.from({ length: random.below(8) }, () => {
        const tail = Array.from({ length: random.below(7) }, () => 255 * random.below(2));
        const key = Uint8Array.of(0x11, ...tail);
        return { key, value: random.below(4) === 0 ? null : Uint8Array.of(random.below(256)) };
      });
      for (const { key, value } of entries) expected.set(toHex(key), value ? toHex(value) : '-');
      return packRow('none', entries);
    });
    const found = [...inKeyOrder(rows)].map(({ key, value }) => [
      toHex(key),
      value ? toHex(value) : '-',
    ]);
    expect(found).toEqual([...expected].sort(([a], [b]) => (a < b ? -1 : 1)));
  });
