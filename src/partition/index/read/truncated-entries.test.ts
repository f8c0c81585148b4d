// Goal: truncated entries are recognized, with the prefix that they share. Method: entries of given values.
import { describe, expect, it, test } from 'vitest';
import { bytesToLatin1, concatBytes, KEY_TEXT_BYTES_MAX } from '../../../base/index.ts';
import { Extended, KeyWriter, type Value } from '../../../value/index.ts';
import { compositePart } from '../declared/declared-values.ts';
import { pathPrefix } from '../terms/indexing.ts';
import { truncatedPrefixOfComposite, truncatedPrefixOfTerm } from './truncated-entries.ts';

const LONG = 'x'.repeat(KEY_TEXT_BYTES_MAX);
const writer = new KeyWriter();
const PREFIX = Uint8Array.of(0x21, 0, 0, 0, 1);
const RID = writer.reset().u64(7).take().slice();

function term(value: Value): string {
  const key = writer.reset().value(value).take();
  return bytesToLatin1(concatBytes(pathPrefix(['a']), key, RID));
}

function composite(values: readonly Value[], isDescending: readonly boolean[]): string {
  const parts = values.map((value, at) => compositePart(value, isDescending[at] === true).slice());
  return bytesToLatin1(concatBytes(PREFIX, ...parts, RID));
}

describe('terms', () => {
  it.each<Value>([null, 7, '', 'short', LONG, [1], { a: LONG }])('%j is not cut', (value) => {
    expect(truncatedPrefixOfTerm(term(value))).toBeUndefined();
  });

  it('texts that begin alike share all up to their digests', () => {
    const [one, two] = [term(`${LONG}a`), term(`${LONG}b`)];
    const cut = truncatedPrefixOfTerm(one) as number;
    expect(truncatedPrefixOfTerm(two)).toBe(cut);
    expect(one.slice(0, cut)).toBe(two.slice(0, cut));
    expect(one[cut]).not.toBe(two[cut]);
    expect(term(`${LONG.slice(1)}yb`).slice(0, cut)).not.toBe(one.slice(0, cut));
  });
});

test.each<[string, (tail: number) => Value]>([
  ['binaries', (tail) => binaryOf(tail)],
  ['patterns', (tail) => new Extended({ kind: 'regex', source: `${LONG}${tail}`, flags: 'i' })],
  ['texts with zeros', (tail) => `${'\0'.repeat(KEY_TEXT_BYTES_MAX)}${tail}`],
])('%s that begin alike share all up to their digests', (_, made) => {
  const [one, two] = [term(made(1)), term(made(2))];
  const cut = truncatedPrefixOfTerm(one) as number;
  expect(one.slice(0, cut)).toBe(two.slice(0, cut));
  expect(one.slice(cut, cut + 2)).not.toBe(two.slice(cut, cut + 2));
  expect(one.charCodeAt(cut - 1)).toBe(0xff);
});

function binaryOf(tail: number): Value {
  const bytes = new Uint8Array(KEY_TEXT_BYTES_MAX + 1).fill(3);
  bytes[KEY_TEXT_BYTES_MAX] = tail;
  return new Extended({ kind: 'binary', bytes, subtype: 0 });
}

describe.each([false, true])('composites, descending %s', (isDescending) => {
  it('the first text that is cut counts', () => {
    const directions = [isDescending, !isDescending];
    expect(
      truncatedPrefixOfComposite(composite([LONG, LONG], directions), {
        prefix: PREFIX,
        isDescending: directions,
      }),
    ).toBe(undefined);
    for (const other of ['short', 7, undefined, `${LONG}c`]) {
      const one = composite([`${LONG}a`, other], directions);
      const two = composite([`${LONG}b`, other], directions);
      const cut = truncatedPrefixOfComposite(one, {
        prefix: PREFIX,
        isDescending: directions,
      }) as number;
      expect(one.slice(0, cut)).toBe(two.slice(0, cut));
      expect(one[cut]).not.toBe(two[cut]);
    }
    const second = composite([1, `${LONG}a`], directions);
    const cut = truncatedPrefixOfComposite(second, {
      prefix: PREFIX,
      isDescending: directions,
    }) as number;
    expect(composite([1, `${LONG}b`], directions).slice(0, cut)).toBe(second.slice(0, cut));
    expect(composite([2, `${LONG}a`], directions).slice(0, cut)).not.toBe(second.slice(0, cut));
  });
});
