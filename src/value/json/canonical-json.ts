/**
 * Canonical JSON: text that is exactly what JSON.stringify prints for what JSON.parse reads from it. It has no
 * spaces, each name of an object once, no name that begins with a digit (JavaScript would reorder such names), and
 * escapes and numbers in their only form. Clients send nearly all their items so, and such bytes can be stored
 * without parsing and printing them.
 *
 * The check takes a sixth of the time of parsing and printing. Rare canonical forms, such as exponents and \u
 * escapes, are rejected too: the caller then parses the text, which is always correct.
 *
 * All functions take valid UTF-8 and return the end of the value, or -1.
 */
import { bytesEqualAt, NESTING_MAX } from '../../base/index.ts';
import type { Value } from '../value.ts';
import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from './json-bytes.ts';

const SPACE = 0x20;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

/** Characters that may follow a backslash; JSON.stringify never escapes a slash. */
const IS_ESCAPED = new Uint8Array(256);
for (const character of 'bfnrt"\\') IS_ESCAPED[character.charCodeAt(0)] = 1;

/** Numbers of so many digits are exact in a double and are printed with the same digits. */
const DIGITS_MAX = 15;
/** Fractional digits from which on small numbers may be printed with an exponent. */
const FRACTION_DIGITS_MAX = 6;

/** Hashes of the names of all open objects. Equal hashes may be one name twice. */
const names = new Int32Array(1024);
/** Each name is compared with all before it, so parsing is faster for objects with more names. */
const OBJECT_NAMES_MAX = 128;
let nameCount = 0;

/**
 * The positions of an object's properties in its text. One instance is reused for many objects and describes the
 * last.
 */
export class CanonicalJson {
  readonly #inner: { readonly name: Buffer; readonly object: CanonicalJson } | undefined;
  #text: Buffer = Buffer.alloc(0);
  /** Four numbers per property: start and end of its name and of its value. */
  readonly #offsets: number[] = [];
  #count = 0;

  /** @param inner - receives the properties of the object that is the value of this property, if it is one. */
  constructor(inner?: { readonly name: string; readonly object: CanonicalJson }) {
    this.#inner = inner && { name: Buffer.from(inner.name), object: inner.object };
  }

  read(text: Buffer, at: number): number {
    this.begin(text);
    if (this.#inner !== undefined) this.#inner.object.begin(text);
    if (text[at] !== OPENING_BRACE) return -1;
    nameCount = 0;
    return endOfObject(text, at, 1, this);
  }

  /** Only for the reader functions. */
  begin(text: Buffer): void {
    this.#text = text;
    this.#count = 0;
  }

  /** False if this inner object has no properties, or is not there. */
  get isRead(): boolean {
    return this.#count > 0;
  }

  /** Only for the reader functions. */
  innerOf(nameStart: number, nameEnd: number): CanonicalJson | undefined {
    const inner = this.#inner;
    if (inner === undefined || !bytesEqualAt(this.#text, nameStart, nameEnd, inner.name))
      return undefined;
    return inner.object;
  }

  /** Only for the reader functions. */
  note(nameStart: number, nameEnd: number, start: number, end: number): void {
    const at = 4 * this.#count++;
    this.#offsets[at] = nameStart;
    this.#offsets[at + 1] = nameEnd;
    this.#offsets[at + 2] = start;
    this.#offsets[at + 3] = end;
  }

  /** Whether the name of a property begins with this ASCII character. */
  hasInitial(code: number): boolean {
    for (let at = 0; at < 4 * this.#count; at += 4)
      if (this.#text[this.#offsets[at] as number] === code) return true;
    return false;
  }

  has(name: Buffer): boolean {
    return this.#find(name) >= 0;
  }

  /** The value of a property; undefined where there is none. */
  get(name: Buffer): Value {
    const at = this.#find(name);
    if (at < 0) return undefined;
    return canonicalValue(
      this.#text,
      this.#offsets[at + 2] as number,
      this.#offsets[at + 3] as number,
    );
  }

  /** The text of a property's value. */
  textOf(name: Buffer): Buffer | undefined {
    const at = this.#find(name);
    return at < 0 ? undefined : this.#text.subarray(this.#offsets[at + 2], this.#offsets[at + 3]);
  }

  #find(name: Buffer): number {
    const offsets = this.#offsets;
    const { length } = name;
    for (let at = 0; at < 4 * this.#count; at += 4)
      if (
        (offsets[at + 1] as number) - (offsets[at] as number) === length &&
        bytesEqualAt(this.#text, offsets[at] as number, offsets[at + 1] as number, name)
      )
        return at;
    return -1;
  }
}

/** Decodes the canonical value in text[start, end). */
export function canonicalValue(text: Buffer, start: number, end: number): Value {
  if (text[start] !== QUOTE) return JSON.parse(text.toString('utf8', start, end)) as Value;
  const inner = text.toString('utf8', start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(`"${inner}"`) as Value) : inner;
}

/** The end of the canonical value that begins at `start`. */
export function endOfCanonicalValue(text: Buffer, start: number): number {
  nameCount = 0;
  return endOfValue(text, start, 1);
}

function endOfValue(text: Buffer, at: number, depth: number): number {
  switch (text[at]) {
    case QUOTE:
      return endOfText(text, at);
    case OPENING_BRACE:
      return endOfObject(text, at, depth, undefined);
    case OPENING_BRACKET:
      return endOfArray(text, at, depth);
    case 0x74:
      return endOfWord(text, at, TRUE);
    case 0x66:
      return endOfWord(text, at, FALSE);
    case 0x6e:
      return endOfWord(text, at, NULL);
    default:
      return endOfNumber(text, at);
  }
}

function endOfWord(text: Buffer, at: number, word: Buffer): number {
  const end = at + word.length;
  return bytesEqualAt(text, at, end, word) ? end : -1;
}

export function endOfText(text: Buffer, start: number): number {
  const { length } = text;
  for (let at = start + 1; at < length; at++) {
    const byte = text[at] as number;
    if (byte !== QUOTE && byte !== BACKSLASH && byte >= SPACE) continue;
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH || ++at === length || IS_ESCAPED[text[at] as number] !== 1) return -1;
  }
  return -1;
}

function endOfNumber(text: Buffer, start: number): number {
  const first = text[start] === MINUS ? start + 1 : start;
  const isBelowOne = text[first] === ZERO;
  const point = isBelowOne ? first + 1 : endOfDigits(text, first);
  if (point === first) return -1;
  if (text[point] !== POINT) {
    if (isExponent(text[point]) || (isBelowOne && first !== start)) return -1;
    return point - first <= DIGITS_MAX ? point : endOfPrinted(text, start, point);
  }
  const end = endOfDigits(text, point + 1);
  if (end === point + 1 || text[end - 1] === ZERO || isExponent(text[end])) return -1;
  const isSmall = isBelowOne && text[point + 1] === ZERO && end - point > FRACTION_DIGITS_MAX;
  return isSmall || end - first - 1 > DIGITS_MAX ? endOfPrinted(text, start, end) : end;
}

function endOfDigits(text: Buffer, start: number): number {
  const { length } = text;
  let at = start;
  for (; at < length; at++) {
    const byte = text[at] as number;
    if (byte < ZERO || byte > NINE) break;
  }
  return at;
}

function isExponent(byte: number | undefined): boolean {
  return byte === 0x65 || byte === 0x45;
}

function endOfPrinted(text: Buffer, start: number, end: number): number {
  const printed = text.toString('latin1', start, end);
  return String(Number(printed)) === printed ? end : -1;
}

function endOfArray(text: Buffer, start: number, depth: number): number {
  if (depth > NESTING_MAX) return -1;
  if (text[start + 1] === CLOSING_BRACKET) return start + 2;
  for (let at = start + 1; ; at++) {
    at = endOfValue(text, at, depth + 1);
    if (at < 0) return -1;
    if (text[at] === CLOSING_BRACKET) return at + 1;
    if (text[at] !== COMMA) return -1;
  }
}

function endOfObject(
  text: Buffer,
  start: number,
  depth: number,
  properties: CanonicalJson | undefined,
): number {
  if (depth > NESTING_MAX) return -1;
  if (text[start + 1] === CLOSING_BRACE) return start + 2;
  const firstName = nameCount;
  for (let at = start + 1; ; at++) {
    const name = at + 1;
    const nameEnd = text[at] === QUOTE ? endOfNewName(text, name, firstName) : -1;
    if (nameEnd < 0 || text[nameEnd + 1] !== COLON) return -1;
    const value = nameEnd + 2;
    const inner = text[value] === OPENING_BRACE ? properties?.innerOf(name, nameEnd) : undefined;
    at =
      inner === undefined
        ? endOfValue(text, value, depth + 1)
        : endOfObject(text, value, depth + 1, inner);
    if (at < 0) return -1;
    properties?.note(name, nameEnd, value, at);
    if (text[at] === COMMA) continue;
    nameCount = firstName;
    return text[at] === CLOSING_BRACE ? at + 1 : -1;
  }
}

/** The end of a name, which begins behind its quotation mark; -1 if it is not canonical or would be reordered. */
export function endOfPrintedName(text: Buffer, start: number): number {
  const { length } = text;
  const first = text[start] as number;
  if (first >= ZERO && first <= NINE) return -1;
  for (let at = start; at < length; at++) {
    const byte = text[at] as number;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH || byte < SPACE) return -1;
  }
  return -1;
}

/** The end of a name that its object did not have before; -1 otherwise. */
function endOfNewName(text: Buffer, start: number, firstName: number): number {
  let hash = 0;
  let at = start;
  const { length } = text;
  for (; at < length; at++) {
    const byte = text[at] as number;
    if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) break;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  const first = text[start] as number;
  if (text[at] !== QUOTE || (first >= ZERO && first <= NINE)) return -1;
  if (nameCount === names.length || nameCount - firstName === OBJECT_NAMES_MAX) return -1;
  for (let other = firstName; other < nameCount; other++) if (names[other] === hash) return -1;
  names[nameCount++] = hash;
  return at;
}
