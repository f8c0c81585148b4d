// Goal: patterns of PCRE match as in MongoDB. Method: a table of patterns and texts; refusals by code.
import { describe, expect, it } from 'vitest';
import { compileRegex } from './regex.ts';

const CASES: readonly (readonly [source: string, flags: string, text: string, matches: boolean])[] =
  [
    ['^a.c$', '', 'abc', true],
    ['^.$', '', '\u{1f600}', true],
    ['(?i)ABC', '', 'abc', true],
    ['a(?i)b', '', 'aB', true],
    ['a(?i)b', '', 'AB', false],
    ['\\Aabc\\z', '', 'abc', true],
    ['a b # c', 'x', 'ab', true],
    ['[[:alpha:]]+', '', '123', false],
    ['\\Qa.b\\E', '', 'a.b', true],
    ['\\Qa.b\\E', '', 'axb', false],
    ['(?P<w>a)(?P=w)', '', 'aa', true],
    ['\\p{Latin}', '', 'a', true],
    ['(*UCP)\\d', '', '\u0663', true],
    ['a++b', '', 'aab', true],
    ['{x}', '', '{x}', true],
    ['^\\P{L}+$', '', '12!', true],
    ['^\\x{41}+$', '', 'AA', true],
    ['^a{2}+b$', '', 'aab', true],
  ];

describe('patterns', () => {
  it.each(CASES)('/%s/%s on %s: %s', (source, flags, text, matches) => {
    expect(compileRegex(source, flags).test(text)).toBe(matches);
  });

  it.each([
    ['[a', '', 51091],
    ['a', 'q', 51108],
    ['a\0', '', 2],
  ])('/%s/%s is refused', (source, flags, number) => {
    expect(() => compileRegex(source, flags)).toThrow(expect.objectContaining({ number }));
  });
});
