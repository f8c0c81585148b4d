/** String functions. Positions count UTF-16 units from 0, as in the service's own engine. */
import { draw, listBytes, NESTING_MAX, spend } from '../../../../base/index.ts';
import { isList, type Value } from '../../../../value/index.ts';
import { checkDepth, drawPrinted } from '../run/value-size.ts';
import { anyOf, define, defineTotal, everyOf, finite, type SystemFunction } from './function.ts';

/** REPLICATE beyond this is undefined (documented). */
const REPLICATE_LENGTH_MAX = 10_000;

function textual(name: string, compute: (text: string) => Value): SystemFunction {
  return define(name, 1, (text) => (typeof text === 'string' ? compute(text) : undefined));
}

/** A test of one string against another, with an optional boolean third argument to ignore case. */
function comparison(name: string, test: (text: string, other: string) => boolean): SystemFunction {
  return define(name, [2, 3], (text, other, ignoresCase = false) => {
    if (typeof text !== 'string' || typeof other !== 'string') return undefined;
    if (typeof ignoresCase !== 'boolean') return undefined;
    chargeSearch(text, other);
    if (ignoresCase) draw(text.length + other.length);
    return ignoresCase ? test(text.toLowerCase(), other.toLowerCase()) : test(text, other);
  });
}

/** Whether a string contains all, or any, of the other arguments: a chain of CONTAINS. */
function containment(
  names: readonly string[],
  ignoresCase: boolean,
  combine: typeof anyOf | typeof everyOf,
): SystemFunction[] {
  const fold = (text: string) => (ignoresCase ? text.toLowerCase() : text);
  return names.map((name) =>
    defineTotal(name, [2, Number.POSITIVE_INFINITY], (text, ...parts) => {
      if (typeof text !== 'string') return undefined;
      draw(text.length);
      const folded = fold(text);
      return combine(parts, (part) => {
        if (typeof part !== 'string') return undefined;
        chargeSearch(text, part);
        return folded.includes(fold(part));
      });
    }),
  );
}

export const stringFunctions: readonly SystemFunction[] = [
  define('CONCAT', [2, Number.POSITIVE_INFINITY], (...parts) =>
    areStrings(parts) ? joined(parts, '') : undefined,
  ),
  comparison('CONTAINS', (text, part) => text.includes(part)),
  comparison('STARTSWITH', (text, part) => text.startsWith(part)),
  comparison('ENDSWITH', (text, part) => text.endsWith(part)),
  comparison('STRINGEQUALS', (text, other) => text === other),
  ...containment(['CONTAINS_ALL_CI', 'ContainsAllCi'], true, everyOf),
  ...containment(['CONTAINS_ALL_CS', 'ContainsAllCs'], false, everyOf),
  ...containment(['CONTAINS_ANY_CI', 'ContainsAnyCi'], true, anyOf),
  ...containment(['CONTAINS_ANY_CS', 'ContainsAnyCs'], false, anyOf),
  define('INDEX_OF', [2, 3], indexOf),
  define('LastIndexOf', [2, 3], lastIndexOf),
  define('LEFT', 2, (text, count) =>
    typeof text === 'string' && typeof count === 'number'
      ? text.slice(0, Math.max(0, count))
      : undefined,
  ),
  define('RIGHT', 2, (text, count) =>
    typeof text === 'string' && typeof count === 'number'
      ? text.slice(Math.max(0, text.length - Math.max(0, Math.trunc(count))))
      : undefined,
  ),
  textual('LENGTH', (text) => text.length),
  textual('LOWER', (text) => drawn(text).toLowerCase()),
  textual('UPPER', (text) => drawn(text).toUpperCase()),
  textual('REVERSE', reverse),
  define('LTRIM', [1, 2], (text, characters) => trim(text, characters, 'start')),
  define('RTRIM', [1, 2], (text, characters) => trim(text, characters, 'end')),
  define('TRIM', [1, 2], (text, characters) => trim(text, characters, 'both')),
  define('REPLACE', 3, replace),
  define('REPLICATE', 2, replicate),
  define('SUBSTRING', 3, substring),
  define('SubstringAfter', 2, (text, mark) => substringBeside(text, mark, 'first', 'after')),
  define('SubstringBefore', 2, (text, mark) => substringBeside(text, mark, 'first', 'before')),
  define('LastSubstringAfter', 2, (text, mark) => substringBeside(text, mark, 'last', 'after')),
  define('LastSubstringBefore', 2, (text, mark) => substringBeside(text, mark, 'last', 'before')),
  define('StringJoin', 2, (parts, separator) =>
    isList(parts) && areStrings(parts) && typeof separator === 'string'
      ? joined(parts, separator)
      : undefined,
  ),
  define('StringSplit', 2, (text, separator) =>
    typeof text === 'string' && typeof separator === 'string'
      ? splitAt(text, separator)
      : undefined,
  ),
  defineTotal('ToString', 1, toText),
  textual('StringToArray', (text) => parsed(text, Array.isArray)),
  textual('StringToBoolean', (text) => parsed(text, (value) => typeof value === 'boolean')),
  textual('StringToNull', (text) => parsed(text, (value) => value === null)),
  textual('StringToNumber', (text) => {
    const value = parsed(text, (candidate) => typeof candidate === 'number');
    return typeof value === 'number' ? finite(value) : undefined;
  }),
  textual('StringToObject', (text) =>
    parsed(text, (value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
  ),
];

/** The text itself, after its bytes are drawn for the copy that follows. */
function drawn(text: string): string {
  draw(text.length);
  return text;
}

function joined(parts: readonly string[], separator: string): string {
  let length = separator.length * parts.length;
  for (const part of parts) length += part.length;
  draw(length);
  spend(parts.length);
  return parts.join(separator);
}

/** Charges a search: scanning is fast, but a long part is compared at many positions. */
function chargeSearch(text: string, part: string): void {
  spend(1 + (text.length / 16) * (1 + part.length / 256));
}

/** UTF-16 units per call of fromCharCode, whose argument count is limited. */
const REVERSED_AT_ONCE = 4096;

/** Reverses by code points. */
function reverse(text: string): string {
  draw(4 * text.length);
  spend(text.length / 2);
  const units = new Uint16Array(text.length);
  for (let at = 0, to = text.length; at < text.length; at++) {
    const isPair = (text.codePointAt(at) as number) > 0xffff;
    if (isPair) units[to - 1] = text.charCodeAt(at + 1);
    units[to - (isPair ? 2 : 1)] = text.charCodeAt(at);
    to -= isPair ? 2 : 1;
    if (isPair) at++;
  }
  const parts: string[] = [];
  for (let at = 0; at < units.length; at += REVERSED_AT_ONCE)
    parts.push(String.fromCharCode(...units.subarray(at, at + REVERSED_AT_ONCE)));
  return parts.join('');
}

function areStrings(values: readonly Value[]): values is readonly string[] {
  return values.every((value) => typeof value === 'string');
}

function indexOf(text: Value, part: Value, start: Value = 0): Value {
  if (typeof text !== 'string' || typeof part !== 'string' || typeof start !== 'number')
    return undefined;
  chargeSearch(text, part);
  return text.indexOf(part, start);
}

/** Searches backwards from a position, the last possible one for the last character of the part. */
function lastIndexOf(text: Value, part: Value, start: Value = Number.MAX_SAFE_INTEGER): Value {
  if (typeof text !== 'string' || typeof part !== 'string' || typeof start !== 'number')
    return undefined;
  chargeSearch(text, part);
  const last = Math.trunc(start) - part.length + 1;
  return last < 0 ? -1 : text.lastIndexOf(part, last);
}

/** An empty separator gives the whole text. */
function splitAt(text: string, separator: string): readonly string[] {
  if (separator === '') return [text];
  chargeSearch(text, separator);
  // Draws for the largest possible number of parts, each a string of its own.
  draw(text.length + listBytes((4 * text.length) / separator.length));
  return text.split(separator);
}

function trim(text: Value, characters: Value, side: 'start' | 'end' | 'both'): Value {
  if (typeof text !== 'string') return undefined;
  if (characters !== undefined && typeof characters !== 'string') return undefined;
  const isTrimmed = (at: number): boolean => {
    const character = text[at] as string;
    return characters === undefined ? character.trim() === '' : characters.includes(character);
  };
  spend((text.length * (1 + (characters?.length ?? 0))) / 16);
  let start = 0;
  let end = text.length;
  if (side !== 'end') while (start < end && isTrimmed(start)) start++;
  if (side !== 'start') while (end > start && isTrimmed(end - 1)) end--;
  return text.slice(start, end);
}

function replace(text: Value, part: Value, replacement: Value): Value {
  if (typeof text !== 'string' || typeof part !== 'string' || typeof replacement !== 'string')
    return undefined;
  return part === '' ? text : replaced(text, part, replacement);
}

function replaced(text: string, part: string, replacement: string): string {
  chargeSearch(text, part);
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    count++;
    spend(10);
  }
  draw(text.length + count * Math.max(0, replacement.length - part.length));
  return text.replaceAll(part, () => replacement);
}

function replicate(text: Value, count: Value): Value {
  if (typeof text !== 'string' || typeof count !== 'number') return undefined;
  const times = Math.trunc(count);
  if (!(times >= 0 && text.length * times <= REPLICATE_LENGTH_MAX)) return undefined;
  draw(text.length * times);
  return text.repeat(times);
}

function substring(text: Value, start: Value, length: Value): Value {
  if (typeof text !== 'string' || typeof start !== 'number' || typeof length !== 'number')
    return undefined;
  const from = Math.max(0, Math.trunc(start));
  return text.slice(from, from + Math.max(0, Math.trunc(length)));
}

/** The part before or after a mark; undefined where the mark is missing. */
function substringBeside(
  text: Value,
  mark: Value,
  which: 'first' | 'last',
  side: 'before' | 'after',
): Value {
  if (typeof text !== 'string' || typeof mark !== 'string') return undefined;
  chargeSearch(text, mark);
  const at = which === 'first' ? text.indexOf(mark) : text.lastIndexOf(mark);
  if (at < 0) return undefined;
  return side === 'before' ? text.slice(0, at) : text.slice(at + mark.length);
}

export function toText(value: Value): Value {
  if (value === undefined || typeof value === 'string') return value;
  drawPrinted(value);
  return JSON.stringify(value);
}

function parsed(text: string, isWanted: (value: unknown) => boolean): Value {
  // Values take more memory than their texts; numbers of one digit, several times as much.
  draw(4 * text.length);
  const value = parsedOrUndefined(text);
  if (!isWanted(value)) return undefined;
  checkDepth(value, NESTING_MAX);
  return value;
}

function parsedOrUndefined(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    // A text that is not JSON makes the function undefined.
    return undefined;
  }
}
