/**
 * Texts that differ in the constants they compare with are one query with parameters: a program that writes values into
 * its texts sends a new one each time, and all but the values is known already.
 *
 * Only what is compared is lifted. There a literal and a parameter mean the same, while elsewhere some have to be
 * literals (ESCAPE, names of properties, options of functions) and a text with GROUP BY may repeat an expression, which
 * with parameters would be two.
 */
import type { QueryParameter } from '../run/evaluate.ts';
import { type Token, tokenize } from './lexer.ts';

interface ParameterizedQuery {
  readonly text: string;
  /** Named as no parameter of the text is: it has none. */
  readonly parameters: readonly QueryParameter[];
}

/** Long texts are rarely sent by the thousand, and looking through them takes its time. */
const TEXT_LENGTH_MAX = 4096;
const COMPARISONS = new Set(['=', '!=', '<>', '<', '<=', '>', '>=']);
/** Other numbers are left to the parser. */
const DECIMAL = /^[0-9]+(?:\.[0-9]+)?$/;

/** Undefined where there is nothing to lift. Throws SqlError where the text has a bad token. */
export function autoParameterize(text: string): ParameterizedQuery | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const tokens = tokenize(text);
  const parameters: QueryParameter[] = [];
  let lifted = '';
  let from = 0;
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    // A text with parameters of its own needs no more of them.
    if (token.kind === 'parameter' || (token.kind === 'word' && token.keyword === 'GROUP'))
      return undefined;
    if (token.kind !== 'symbol' || !COMPARISONS.has(token.text)) continue;
    const first = tokens[at + 1] as Token;
    const isNegative = first.text === '-';
    const literal = isNegative ? (tokens[at + 2] as Token) : first;
    const value = constantOf(literal, isNegative);
    if (value === undefined) continue;
    const name = `@_${parameters.length}`;
    parameters.push({ name, value });
    lifted += text.slice(from, first.span.start) + name;
    from = literal.span.end;
  }
  return parameters.length === 0 ? undefined : { text: lifted + text.slice(from), parameters };
}

function constantOf(token: Token, isNegative: boolean): string | number | undefined {
  if (token.kind === 'string' && !isNegative) return token.value;
  if (token.kind !== 'number' || !DECIMAL.test(token.text)) return undefined;
  return isNegative ? -Number(token.text) : Number(token.text);
}
