/** Splits a script into tokens. */
import { syntaxError } from '../errors.ts';
import { type GremlinNumber, integerOf, type NumberKind, numberOf } from '../model/number.ts';

export type Token =
  | { readonly kind: 'name'; readonly text: string; readonly at: number }
  | { readonly kind: 'text'; readonly text: string; readonly at: number }
  | { readonly kind: 'number'; readonly value: GremlinNumber; readonly at: number }
  | { readonly kind: 'sign'; readonly text: string; readonly at: number }
  | { readonly kind: 'end'; readonly at: number };

const BLANK = /(?:[ \t\f\r]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const NAME = /[A-Za-z_$][\w$]*/y;
const NUMBER = /(?:0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)[a-zA-Z]?/y;
const SIGN = /\.\.|[.,()[\]{}:;+\-*\n]/y;

/** Newlines are tokens too: they may end a statement. */
export function tokenize(script: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(script)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  while (at < script.length) {
    if (take(BLANK) !== undefined) continue;
    const start = at;
    const character = script[at] as string;
    if (character === '"' || character === "'") {
      const end = endOfText(script, at);
      tokens.push({ kind: 'text', text: unescaped(script, at + end.quotes, end.close), at: start });
      at = end.close + end.quotes;
      continue;
    }
    const number = /[\d.]/.test(character) ? take(NUMBER) : undefined;
    if (number !== undefined) {
      tokens.push({ kind: 'number', value: readNumber(number, start), at: start });
      continue;
    }
    const name = take(NAME);
    if (name !== undefined) {
      tokens.push({ kind: 'name', text: name, at: start });
      continue;
    }
    const sign = take(SIGN);
    if (sign === undefined)
      throw syntaxError(`Unexpected character '${character}' at position ${start}.`);
    tokens.push({ kind: 'sign', text: sign, at: start });
  }
  tokens.push({ kind: 'end', at });
  return tokens;
}

/** Texts have one quote on each side, or three. */
function endOfText(script: string, at: number): { quotes: number; close: number } {
  const quote = script[at] as string;
  const quotes = script.startsWith(quote.repeat(3), at) ? 3 : 1;
  const ending = quote.repeat(quotes);
  for (let next = at + quotes; next < script.length; next++) {
    if (script[next] === '\\') next++;
    else if (script.startsWith(ending, next)) return { quotes, close: next };
    else if (script[next] === '\n' && quotes === 1) break;
  }
  throw syntaxError(`The text that begins at position ${at} has no end.`);
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
};

function unescaped(script: string, start: number, end: number): string {
  const raw = script.slice(start, end);
  if (!raw.includes('\\')) return raw;
  return raw.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_, hex?: string, character = '') =>
    hex === undefined
      ? (ESCAPES[character] ?? character)
      : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const SUFFIXES: Readonly<Record<string, NumberKind>> = {
  b: 'byte',
  s: 'short',
  i: 'int',
  l: 'long',
  n: 'bigInteger',
  f: 'float',
  d: 'double',
  m: 'bigDecimal',
};

function readNumber(text: string, at: number): GremlinNumber {
  const isHex = /^0[xX]/.test(text);
  const suffix = isHex ? undefined : /[a-zA-Z]$/.exec(text)?.[0];
  const digits = suffix === undefined ? text : text.slice(0, -1);
  const isWhole = isHex || /^\d+$/.test(digits);
  if (suffix === undefined)
    return isWhole ? integerOf(BigInt(digits)) : numberOf('double', Number(digits));
  const kind = SUFFIXES[suffix.toLowerCase()];
  const isFraction = kind === 'float' || kind === 'double' || kind === 'bigDecimal';
  if (kind === undefined || (!isWhole && !isFraction))
    throw syntaxError(`'${text}' at position ${at} is not a number.`);
  return numberOf(kind, isWhole && !isFraction ? BigInt(digits) : digits);
}
