// Goal: the text of an item has the same entries as its value, and as many. Method: seeded items, added by their texts to
// one set of posting lists and by their values to another; both are compared.
import { expect, it } from 'vitest';
import { type Random, seededRandom } from '../../../base/index.ts';
import { jsonCodec, type Value } from '../../../value/index.ts';
import { newItem } from '../../item/record.ts';
import { indexingForTest } from '../../test-kit.ts';
import { runOf } from '../memory/index-run.ts';
import { PostingLists } from '../memory/posting-lists.ts';

const ITEMS = 600;

function itemOf(rid: number, value: Value) {
  return newItem({
    primary: new Uint8Array(0),
    rid,
    version: { salt: 0, lsn: 1, operation: 0 },
    timestampSec: 0,
    ttlSec: 0,
    encoding: 'json',
    body: jsonCodec.encode(value),
  });
}

it.each([1, 2, 3])('texts and values have the same entries, seed %d', (seed) => {
  const random = seededRandom(seed);
  const excluded = ['/b/*', '/"_etag"/?'];
  const byText = indexingForTest({ excluded });
  const byValue = indexingForTest({ excluded });
  const texts = new PostingLists();
  const values = new PostingLists();
  let noted = 0;
  for (let rid = 1; rid <= ITEMS; rid++) {
    const value = itemValue(random, rid);
    const [left, right] = [itemOf(rid, value), itemOf(rid, value)];
    const isNew = random.below(2) === 0;
    if (byText.noteText(left, texts, isNew)) noted++;
    else texts.add(byText.find(left, undefined, texts, isNew), rid);
    values.add(byValue.find(right, value, values, isNew), rid);
    expect(left.indexEntryCount, `seed ${seed} rid ${rid}`).toBe(right.indexEntryCount);
  }
  expect(noted).toBeGreaterThan(ITEMS / 4);
  const { termPrefixes, changes } = runOf(texts);
  const expected = runOf(values);
  expect(termPrefixes).toEqual(expected.termPrefixes);
  expect(changes).toEqual(expected.changes);
});

/** An own id, some similar and some different properties, sometimes in another order. */
function itemValue(random: Random, rid: number): Value {
  const all: [string, Value][] = [
    ['id', `item-${rid}`],
    ['a', anyValue(random, 0)],
    ['b', anyValue(random, 0)],
    ['ü "q"', anyValue(random, 0)],
    ['long', 'x'.repeat(random.below(3) * 700) + random.below(3)],
    ['_etag', '"quoted"'],
    ['deep', { a: anyValue(random, 1), list: [anyValue(random, 1), anyValue(random, 1)] }],
  ];
  const kept = all.filter(() => random.below(8) > 0);
  return Object.fromEntries(random.below(5) === 0 ? kept.reverse() : kept);
}

const SCALARS: readonly Value[] = [
  ...[null, true, false, 0, 1, -7.25, 1e21, 1.5e-7, 12345678901234567000],
  ...['', 'steel', 'é😀', 'line\nbreak', 'back\\slash"', '\u0001', 'ends with \\', '7'],
];

function anyValue(random: Random, depth: number): Value {
  const kind = random.below(depth > 2 ? 8 : 10);
  if (kind === 8) return Array.from({ length: random.below(4) }, () => anyValue(random, depth + 1));
  if (kind === 9) return { k: anyValue(random, depth + 1), l: anyValue(random, depth + 1) };
  return kind === 7 ? random.below(1000) : SCALARS[random.below(SCALARS.length)];
}
