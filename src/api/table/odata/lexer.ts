/** Splits a filter into tokens. */
import { Extended, normalDateTime, type Value } from '../../../value/index.ts';
import { invalidFilter } from '../errors.ts';

/** The kind of a literal: numbers of all types compare with one another, all others with their own type only. */
export type LiteralKind = 'string' | 'boolean' | 'number' | 'dateTime' | 'guid' | 'binary';

export interface Literal {
  readonly kind: 'literal';
  readonly type: LiteralKind;
  /** In the canonical form of value/edm.ts. */
  readonly value: Value;
}

export type Token =
  | { readonly kind: 'name'; readonly name: string }
  | Literal
  | { readonly kind: '(' | ')' | 'end' };

const SPACE = /\s+/y;
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[LlDdFfMm]?(?![\w.])/y;
/** An ASCII name: most names, recognized without Unicode tables. */
const PLAIN_NAME = /[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_]|[^\0-\x7f])/y;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const HEX = /^(?:[0-9a-f]{2})*$/i;
const GUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export function tokens(text: string): readonly Token[] {
  const found: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const word = pattern.exec(text)?.[0];
    if (word !== undefined) at += word.length;
    return word;
  };
  for (;;) {
    while (text[at] === ' ') at++;
    if (!isPrinted(text.charCodeAt(at))) match(SPACE);
    const character = text[at];
    if (character === undefined) break;
    if (character === '(' || character === ')') {
      found.push({ kind: character });
      at++;
      continue;
    }
    if (character === "'") {
      const quoted = quotedText(text, at);
      found.push({ kind: 'literal', type: 'string', value: quoted.text });
      at = quoted.end;
      continue;
    }
    const number = match(NUMBER);
    if (number !== undefined) {
      found.push(numberLiteral(number));
      continue;
    }
    const name = match(PLAIN_NAME) ?? match(NAME);
    if (name === undefined) throw invalidFilter();
    if (text[at] === "'") {
      const quoted = quotedText(text, at);
      found.push(prefixedLiteral(name, quoted.text));
      at = quoted.end;
    } else found.push(wordToken(name));
  }
  found.push({ kind: 'end' });
  return found;
}

/** ASCII characters other than spaces need no lookup. */
function isPrinted(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

function wordToken(name: string): Token {
  if (/^(?:true|false)$/i.test(name))
    return { kind: 'literal', type: 'boolean', value: name.toLowerCase() === 'true' };
  switch (name) {
    case 'NaN':
      return { kind: 'literal', type: 'number', value: Number.NaN };
    case 'INF':
    case 'Infinity':
      return { kind: 'literal', type: 'number', value: Number.POSITIVE_INFINITY };
    default:
      return { kind: 'name', name };
  }
}

function quotedText(text: string, start: number): { text: string; end: number } {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] !== "'") continue;
    if (text[at + 1] === "'") at++;
    else return { text: text.slice(start + 1, at).replaceAll("''", "'"), end: at + 1 };
  }
  throw invalidFilter();
}

function numberLiteral(word: string): Literal {
  const suffix = /[LlDdFfMm]$/.exec(word)?.[0]?.toLowerCase();
  const digits = suffix === undefined ? word : word.slice(0, -1);
  const isWhole = /^[+-]?\d+$/.test(digits);
  if (suffix === 'l' && !isWhole) throw invalidFilter();
  if (isWhole && !Number.isSafeInteger(Number(digits)) && suffix !== 'd')
    return { kind: 'literal', type: 'number', value: wideInteger(BigInt(digits)) };
  return { kind: 'literal', type: 'number', value: Number(digits) };
}

function prefixedLiteral(prefix: string, text: string): Literal {
  switch (prefix) {
    case 'datetime':
    case 'datetimeoffset': {
      const value = normalDateTime(text);
      if (value === undefined) throw invalidFilter();
      return { kind: 'literal', type: 'dateTime', value };
    }
    case 'guid':
      if (!GUID.test(text)) throw invalidFilter();
      return { kind: 'literal', type: 'guid', value: text.toLowerCase() };
    case 'X':
    case 'binary': {
      if (!HEX.test(text)) throw invalidFilter();
      const value = Buffer.from(text, 'hex').toString('base64');
      return { kind: 'literal', type: 'binary', value };
    }
    default:
      throw invalidFilter();
  }
}

function wideInteger(value: bigint): Value {
  if (value < -(2n ** 63n) || value > 2n ** 63n - 1n) throw invalidFilter();
  return new Extended({ kind: 'int64', value });
}
