// Goal: items that are read once do not push out hot ones. Method: a cache of a hundred items, offered thousands.
import { expect, test } from 'vitest';
import { ItemKey } from '../item/item.ts';
import { newItem } from '../item/record.ts';
import { RecordCache } from './record-cache.ts';

const BODY_BYTES = 1000;
const ITEMS_MAX = 100;

function keyOf(rid: number): ItemKey {
  return new ItemKey(new Uint8Array(16), Buffer.from(`k${rid}`));
}

function itemOf(rid: number) {
  return newItem({
    rid,
    primary: keyOf(rid).primary,
    version: { salt: 0, lsn: rid, operation: 0 },
    timestampSec: 0,
    ttlSec: 0,
    encoding: 'json',
    body: new Uint8Array(BODY_BYTES),
  });
}

/** Holds about ITEMS_MAX items. */
function cacheOfItems() {
  const cache = new RecordCache(ITEMS_MAX * (BODY_BYTES + 350)).forPartition();
  const held = (rids: readonly number[]) =>
    rids.filter((rid) => cache.get(keyOf(rid)) !== undefined);
  return { cache, held, offer: (rid: number) => cache.offer(keyOf(rid), itemOf(rid)) };
}

test('while there is room, an item is kept at its first read', () => {
  const { held, offer } = cacheOfItems();
  for (let rid = 1; rid <= 50; rid++) offer(rid);
  expect(held([1, 25, 50, 51])).toEqual([1, 25, 50]);
});

test('a full cache keeps what it has when thousands of others are read once', () => {
  const { held, offer } = cacheOfItems();
  for (let rid = 1; rid <= 50; rid++) offer(rid);
  for (let rid = 1001; rid <= 6000; rid++) offer(rid);
  expect(held([1, 25, 50])).toEqual([1, 25, 50]);
  expect(held([5999, 6000])).toEqual([]);
});

test('a full cache takes an item at its second read, and at once when it is written over', () => {
  const { cache, held, offer } = cacheOfItems();
  for (let rid = 1; rid <= 200; rid++) offer(rid);
  expect(held([300, 301])).toEqual([]);
  offer(300);
  offer(300);
  cache.set(keyOf(301), itemOf(301));
  expect(held([300, 301])).toEqual([300, 301]);
});

test('an item is found by its rid in its own partition only, in its last version, until it is deleted', () => {
  const all = new RecordCache(1024 * 1024);
  const [own, other] = [all.forPartition(), all.forPartition()];
  own.offer(keyOf(7), itemOf(7));
  expect(own.getByRid(7)?.rid).toBe(7);
  expect(own.getByRid(7 + 2 ** 16)).toBe(undefined);
  expect(other.getByRid(7)).toBe(undefined);
  const later = itemOf(7);
  own.set(keyOf(7), later);
  expect(own.getByRid(7)).toBe(later);
  own.delete(keyOf(7));
  expect(own.getByRid(7)).toBe(undefined);
  own.offerItem(itemOf(8));
  expect([own.getByRid(8)?.rid, own.get(keyOf(8))?.rid]).toEqual([8, 8]);
  other.offer(keyOf(8), itemOf(8));
  expect([own.getByRid(8), own.get(keyOf(8))?.rid]).toEqual([undefined, 8]);
});

test('an item is found by its own key only, not by another key with the same hash', () => {
  const { cache } = cacheOfItems();
  const seen = new Map<number, number>();
  let rids: readonly [number, number] | undefined;
  for (let rid = 0; rids === undefined; rid++) {
    const other = seen.get(keyOf(rid).hash);
    if (other !== undefined) rids = [other, rid];
    seen.set(keyOf(rid).hash, rid);
  }
  const [first, second] = rids;
  cache.set(keyOf(first), itemOf(first));
  expect(cache.get(keyOf(second))).toBe(undefined);
  cache.set(keyOf(second), itemOf(second));
  expect(cache.get(keyOf(second))?.rid).toBe(second);
  expect(cache.get(keyOf(first))).toBe(undefined);
});
