// Goal: collations order texts as MongoDB documents it. Method: sorted lists for each option; refusals by code.
import { describe, expect, it } from 'vitest';
import type { Bson } from '../../../value/index.ts';
import { parseCollation } from './collation.ts';

const collation = (options: Readonly<Record<string, Bson>>) =>
  parseCollation(new Map<string, Bson>([['locale', 'en'], ...Object.entries(options)]));

describe('collations', () => {
  it.each([
    [{}, ['b', 'A', 'a'], ['a', 'A', 'b']],
    [{ caseFirst: 'upper' }, ['a', 'A'], ['A', 'a']],
    [{ numericOrdering: true }, ['10', '9', '1'], ['1', '9', '10']],
    [{ locale: 'fr_CA' }, ['cot\u00e9', 'c\u00f4te'], ['c\u00f4te', 'cot\u00e9']],
    [{ locale: 'fr_CA', backwards: false }, ['c\u00f4te', 'cot\u00e9'], ['cot\u00e9', 'c\u00f4te']],
    [{ backwards: true, numericOrdering: true }, ['a10', 'a2'], ['a2', 'a10']],
    [{ alternate: 'shifted', strength: 4 }, ['ab', 'a-b', 'a_b'], ['a_b', 'a-b', 'ab']],
    [{ locale: 'sv' }, ['\u00f6', 'z', 'a'], ['a', 'z', '\u00f6']],
  ] as const)('%j', (options, texts, expected) => {
    expect([...texts].sort(collation(options)?.compare)).toEqual(expected);
  });

  it.each([
    [{ strength: 1 }, 'a', '\u00c1', true],
    [{ strength: 2 }, 'a', 'A', true],
    [{ strength: 2 }, 'a', '\u00e1', false],
    [{ strength: 1, caseLevel: true }, 'a', 'A', false],
    [{ strength: 3 }, 'a', 'A', false],
    [{ alternate: 'shifted' }, 'a-b', 'ab', true],
    [{ alternate: 'shifted', strength: 4 }, 'a\u200bb', 'ab', true],
    [{ alternate: 'shifted', maxVariable: 'space' }, 'a\u00a0b', 'ab', false],
    [{ locale: 'th' }, 'a b', 'ab', true],
    [{ locale: 'ja', strength: 4 }, '\u3042', '\u30a2', false],
    [{ alternate: 'shifted', maxVariable: 'space' }, 'a-b', 'ab', false],
    [{ alternate: 'shifted', maxVariable: 'space' }, 'a b', 'ab', true],
  ] as const)('%j: %s equals %s: %s', (options, a, b, isEqual) => {
    expect(collation(options)?.compare([a], [b]) === 0).toBe(isEqual);
  });

  it('the simple one is none', () => {
    expect(collation({ locale: 'simple' })).toBeUndefined();
    expect(collation({ locale: 'simple', strength: 1, backwards: true })).toBeUndefined();
  });

  it.each([
    [{ locale: 'no such' }, 2],
    [{ strength: 9 }, 2],
    [{ strength: 'x' }, 14],
    [{ unknown: 1 }, 40415],
  ])('%j is refused', (options, number) => {
    expect(() => collation(options)).toThrow(expect.objectContaining({ number }));
  });
});
