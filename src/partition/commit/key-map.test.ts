// Goal: a map by keys distinguishes keys with one hash. Method: two such keys, set and deleted in every order.
import { expect, test } from 'vitest';
import { ItemKey } from '../item/item.ts';
import { KeyMap } from './key-map.ts';

const keyOf = (name: string) => new ItemKey(new Uint8Array(16), Buffer.from(name));

/** A hash has 30 bits: among some ten thousands of keys two share one. */
function keysOfOneHash(): readonly [ItemKey, ItemKey] {
  const seen = new Map<number, ItemKey>();
  for (let number = 0; ; number++) {
    const key = keyOf(`item-${number}`);
    const other = seen.get(key.hash);
    if (other !== undefined) return [other, key];
    seen.set(key.hash, key);
  }
}

test('keys with the same hash are two keys, in whatever order they are set and deleted', () => {
  const [a, b] = keysOfOneHash();
  expect(a.hash).toBe(b.hash);
  const map = new KeyMap<{ key: ItemKey; name: string }>();
  const names = () => [a, b].map((key) => map.get(key)?.name);
  map.set({ key: a, name: 'a' });
  expect(names()).toEqual(['a', undefined]);
  map.set({ key: b, name: 'b' });
  expect(names()).toEqual(['a', 'b']);
  map.delete(a);
  expect(names()).toEqual([undefined, 'b']);
  map.set({ key: keyOf(b.text), name: 'b again' });
  map.set({ key: a, name: 'a again' });
  expect(names()).toEqual(['a again', 'b again']);
  map.delete(b);
  expect(names()).toEqual(['a again', undefined]);
  map.clear();
  expect(names()).toEqual([undefined, undefined]);
});
