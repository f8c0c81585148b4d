/** Query text → tokens. Comments (`--` to the end of the line) and white space are dropped. */
import { diagnostics, type Span, SqlError } from '../errors.ts';

export type Token =
  | {
      readonly kind: 'word';
      readonly text: string;
      /** The reserved word it is, in its canonical spelling, or undefined for a free identifier. */
      readonly keyword: Keyword | undefined;
      readonly span: Span;
    }
  | { readonly kind: 'number'; readonly text: string; readonly span: Span }
  | {
      readonly kind: 'string';
      readonly text: string;
      readonly value: string;
      readonly span: Span;
    }
  | { readonly kind: 'parameter'; readonly text: string; readonly span: Span }
  | { readonly kind: 'symbol'; readonly text: string; readonly span: Span }
  | { readonly kind: 'end'; readonly text: ''; readonly span: Span };

const KEYWORDS = [
  'ALL',
  'AND',
  'ARRAY',
  'AS',
  'ASC',
  'BETWEEN',
  'BY',
  'DESC',
  'DISTINCT',
  'ESCAPE',
  'EXISTS',
  'FIRST',
  'FROM',
  'GROUP',
  'IN',
  'JOIN',
  'LAST',
  'LEFT',
  'LIKE',
  'LIMIT',
  'NOT',
  'OFFSET',
  'OR',
  'ORDER',
  'RANK',
  'RIGHT',
  'SELECT',
  'TOP',
  'VALUE',
  'WHERE',
] as const;

/** These are keywords in lower case only. */
const CASED_KEYWORDS = ['true', 'false', 'null', 'undefined', 'udf'] as const;

export type Keyword = (typeof KEYWORDS)[number] | (typeof CASED_KEYWORDS)[number];

const keywordOf: ReadonlyMap<string, Keyword> = new Map<string, Keyword>(
  KEYWORDS.map((word) => [word, word]),
);
const casedKeywordOf: ReadonlyMap<string, Keyword> = new Map<string, Keyword>(
  CASED_KEYWORDS.map((word) => [word, word]),
);
const KEYWORD_LENGTH_MAX = 9;

const SYMBOLS_OF_TWO = new Set(['??', '||', '!=', '<>', '<=', '>=', '<<', '>>']);
const SYMBOLS_OF_ONE = new Set('?|=<>+-*/%&^~()[]{}.,:');

/** Matches nearly all words; a word with other letters is read again as a whole. */
const ASCII_WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const WORD = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
/** No letter or second point may follow a number, so that `12a` and `0.E` are bad tokens and not two good ones. */
const NUMBER =
  /(?:0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(?![\p{L}\p{Nd}_.])/uy;
const NUMBER_START = new Set('.0123456789');
const SPACE = /(?:\s+|--[^\n]*)+/y;
const STRING =
  /'(?:[^'\\]|\\(?:["'\\/bfnrt]|u[0-9a-fA-F]{4}))*'|"(?:[^"\\]|\\(?:["'\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/g;
const ESCAPED: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** All tokens of the text, the last one of kind `end`. Throws SqlError at the first character that starts none. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = skip(SPACE, text, 0);
  while (at < text.length) {
    const token = nextToken(text, at);
    tokens.push(token);
    at = skip(SPACE, text, token.span.end);
  }
  tokens.push({ kind: 'end', text: '', span: { start: text.length, end: text.length } });
  return tokens;
}

function nextToken(text: string, start: number): Token {
  const first = text[start] as string;
  if (first === "'" || first === '"') return stringToken(text, start);
  if (first === '@') {
    const end = skip(WORD, text, start + 1);
    if (end === start + 1) throw badToken(text, start);
    return { kind: 'parameter', text: text.slice(start, end), span: { start, end } };
  }
  const ascii = skip(ASCII_WORD, text, start);
  if (ascii > start && !(text.charCodeAt(ascii) >= 0x80)) return wordToken(text, start, ascii);
  if (NUMBER_START.has(first)) {
    const end = skip(NUMBER, text, start);
    if (end > start) return { kind: 'number', text: text.slice(start, end), span: { start, end } };
  }
  const two = text.slice(start, start + 2);
  if (two === '>>' && text[start + 2] === '>')
    return { kind: 'symbol', text: '>>>', span: { start, end: start + 3 } };
  if (SYMBOLS_OF_TWO.has(two))
    return { kind: 'symbol', text: two, span: { start, end: start + 2 } };
  if (SYMBOLS_OF_ONE.has(first))
    return { kind: 'symbol', text: first, span: { start, end: start + 1 } };
  const end = skip(WORD, text, start);
  if (end === start) throw badToken(text, start);
  return wordToken(text, start, end);
}

function wordToken(text: string, start: number, end: number): Token {
  const word = text.slice(start, end);
  return { kind: 'word', text: word, keyword: findKeyword(word), span: { start, end } };
}

function findKeyword(word: string): Keyword | undefined {
  if (word.length > KEYWORD_LENGTH_MAX) return undefined;
  return casedKeywordOf.get(word) ?? keywordOf.get(word.toUpperCase());
}

function stringToken(text: string, start: number): Token {
  const end = skip(STRING, text, start);
  if (end === start) {
    const span = { start, end: text.length };
    throw new SqlError(diagnostics.stringToken(text.slice(start), span));
  }
  const raw = text.slice(start, end);
  const inner = raw.slice(1, -1);
  const value = inner.includes('\\')
    ? inner.replace(ESCAPE, (_, hex?: string, letter?: string) =>
        hex === undefined
          ? (ESCAPED[letter as string] ?? (letter as string))
          : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : inner;
  return { kind: 'string', text: raw, value, span: { start, end } };
}

/** Digits with letters attached are reported whole; otherwise the one character. */
function badToken(text: string, start: number): SqlError {
  const glued = /[\p{L}\p{Nd}_]+/uy;
  const end = Math.max(skip(glued, text, start), start + 1);
  return new SqlError(diagnostics.token(text.slice(start, end), { start, end }));
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
