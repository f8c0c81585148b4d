/**
 * Goal: no pattern of a client runs for long, and patterns that end soon match as a RegExp does. Method: tables of
 * both.
 */
import { describe, expect, it } from 'vitest';
import { BoundedRegex } from './bounded-regex.ts';
import { DomainError } from './errors.ts';

const ENDLESS: readonly (readonly [source: string, flags: string, text: string])[] = [
  ['(?=a)(a+)+$', '', `${'a'.repeat(40)}b`],
  ['(A+)+$', 'i', `${'a'.repeat(40)}b`],
  ['^(?:a|a)*$', 'i', `${'a'.repeat(40)}b`],
  ['^((a)|(a))*\\1$', '', `${'a'.repeat(40)}b`],
  ['a.*a.*a.*a.*\\1(b)', '', 'a'.repeat(3000)],
];

describe('endless patterns', () => {
  for (const [source, flags, text] of ENDLESS)
    it(`ends /${source}/${flags}`, () => {
      const regex = new BoundedRegex(source, flags);
      expect(() => regex.test(text)).toThrow(DomainError);
    });
});

const PATTERNS: readonly (readonly [source: string, flags: string])[] = [
  ['b+', ''],
  ['(a|b)+', 'i'],
  ['(?<first>a)(?!c)', ''],
  ['[+*](x)?', ''],
  ['\\+|\\(', ''],
  ['^line', 'm'],
  ['a{2}|b{1,}', 's'],
];
const TEXTS = ['', 'aab', 'ABBA', 'x+y(', 'first\nline', 'aaaa'];

describe('other patterns', () => {
  for (const [source, flags] of PATTERNS)
    it(`matches /${source}/${flags}`, () => {
      const bounded = new BoundedRegex(source, flags);
      for (const text of TEXTS) {
        const plain = new RegExp(source, flags);
        expect(bounded.test(text)).toBe(plain.test(text));
        expect(bounded.exec(text)).toEqual(plain.exec(text));
        const all = [...text.matchAll(new RegExp(source, `${flags}g`))];
        expect(bounded.matchAll(text)).toEqual(all);
      }
    });

  it('refuses text that is not a pattern', () => {
    expect(() => new BoundedRegex('(', '')).toThrow(SyntaxError);
  });
});
