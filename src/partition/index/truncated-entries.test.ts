// Goal: truncated entries are recognized, with the prefix that they share. Method: entries of given values.
import { describe, expect, it } from 'vitest';
import { bytesToLatin1, concatBytes, KEY_TEXT_BYTES_MAX } from '../../base/index.ts';
import { KeyWriter, type Value } from '../../value/index.ts';
import { compositePart, pathPrefix } from './indexing.ts';
import { truncatedPrefixOfComposite, truncatedPrefixOfTerm } from './truncated-entries.ts';

const LONG = 'x'.repeat(KEY_TEXT_BYTES_MAX);
const writer = new KeyWriter();
const RID = writer.reset().u64(7).take().slice();

function term(value: Value): string {
  const key = writer.reset().value(value).take();
  return bytesToLatin1(concatBytes(pathPrefix(['a']), key, RID));
}

function composite(values: readonly Value[], isDescending: readonly boolean[]): string {
  const parts = values.map((value, at) => compositePart(value, isDescending[at] === true).slice());
  return bytesToLatin1(concatBytes(Uint8Array.of(0x21, 0, 0), ...parts, RID));
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

describe.each([false, true])('composites, descending %s', (isDescending) => {
  it('the first text that is cut counts', () => {
    const directions = [isDescending, !isDescending];
    expect(
      truncatedPrefixOfComposite(composite([LONG, LONG], directions), { isDescending: directions }),
    ).toBe(undefined);
    for (const other of ['short', 7, undefined, `${LONG}c`]) {
      const one = composite([`${LONG}a`, other], directions);
      const two = composite([`${LONG}b`, other], directions);
      const cut = truncatedPrefixOfComposite(one, { isDescending: directions }) as number;
      expect(one.slice(0, cut)).toBe(two.slice(0, cut));
      expect(one[cut]).not.toBe(two[cut]);
    }
    const second = composite([1, `${LONG}a`], directions);
    const cut = truncatedPrefixOfComposite(second, { isDescending: directions }) as number;
    expect(composite([1, `${LONG}b`], directions).slice(0, cut)).toBe(second.slice(0, cut));
    expect(composite([2, `${LONG}a`], directions).slice(0, cut)).not.toBe(second.slice(0, cut));
  });
});
