// Goal: the setting of PostgreSQL is read as PostgreSQL reads it. Method: a table.
import { expect, test } from 'vitest';
import { parseQuorumRule } from './postgres-quorum.ts';

const RULES: readonly (readonly [text: string, rule: ReturnType<typeof parseQuorumRule>])[] = [
  ['', { needed: 1, members: 1, kind: 'none' }],
  ['ANY 2 (b, c, d)', { needed: 3, members: 4, kind: 'any' }],
  ['any 2(b,c,d)', { needed: 3, members: 4, kind: 'any' }],
  ['ANY 2 (*)', { needed: 3, members: undefined, kind: 'any' }],
  ['FIRST 1 (b, c)', { needed: 2, members: 3, kind: 'first' }],
  ['2 (b, c, d)', { needed: 3, members: 4, kind: 'first' }],
  ['b, c', { needed: 2, members: 3, kind: 'first' }],
  ['*', { needed: 2, members: undefined, kind: 'first' }],
];

for (const [text, rule] of RULES)
  test(`'${text}'`, () => expect(parseQuorumRule(text)).toEqual(rule));
