/**
 * Where a page of a query ended, as plain data. The next page needs nothing else: no state of the server, and not the
 * partitions that held the items before.
 */
import { assert, type Bytes, equalBytes } from '../../base/index.ts';
import {
  decodeWhole,
  Extended,
  encodeWhole,
  isList,
  isMap,
  printedSize,
  type Value,
} from '../../value/index.ts';
import type { RowPlace } from '../order/row-order.ts';

export type Position =
  /**
   * The parts that are begun, in order: everything below the first is read, nothing between and behind them. There is
   * one part as long as no partition is split meanwhile. The ranges of the query are not repeated here, because the
   * query itself determines them.
   */
  | { readonly kind: 'stream'; readonly parts: readonly Part[]; readonly window: Window }
  /** Everything behind a row, or from the beginning where no row fits in a token. */
  | { readonly kind: 'ordered'; readonly after: RowPlace | undefined; readonly window: Window }
  /** So many rows of the result are skipped. It is computed again, unless the cache has it under this name. */
  | { readonly kind: 'fold'; readonly given: number; readonly cachedAs?: string };

/** Hexadecimal effective partition keys, [min, max). */
export interface HashRange {
  readonly min: string;
  readonly max: string;
}

export interface Part extends HashRange {
  /** The rid of the item to continue with. */
  readonly from: number;
  /** Rows of that item already given. */
  readonly rows: number;
}

/** The rest of OFFSET and LIMIT. */
export interface Window {
  readonly skip: number;
  /** Infinity for all. */
  readonly take: number;
}

const VERSION = 1;

/** The greater of two hashes: hexadecimal texts of one case sort as their bytes do. */
export function maxHash(a: string, b: string): string {
  if (a > b) return a;
  return b;
}

export function minHash(a: string, b: string): string {
  if (a < b) return a;
  return b;
}

/** Parts of a position at most: each comes from a split during the query, and the position is sent in a header. */
const PARTS_MAX = 100;

/** Characters of all texts, arrays and objects among the sort keys in a position, which is sent in a header. */
const KEY_TEXT_MAX = 400;

/** True where the sort keys are short enough for a position. */
export function fitsInToken(keys: readonly Value[]): boolean {
  let length = 0;
  for (const key of keys) {
    if (typeof key === 'string') length += key.length;
    else if (typeof key === 'object' && key !== null)
      length += printedSize(key, KEY_TEXT_MAX - length);
    if (length > KEY_TEXT_MAX || isLongDecimal(key)) return false;
  }
  return true;
}

/** Tuples do not hold such a decimal whole; only CQL has them. */
function isLongDecimal(key: Value): boolean {
  if (!(key instanceof Extended) || key.payload.kind !== 'decimal') return false;
  return key.payload.digits.length > DECIMAL_DIGITS_MAX;
}

/** As many digits as a tuple holds. */
const DECIMAL_DIGITS_MAX = 128;

/** The parts of the ranges that are not read yet, in order. */
export function partsLeft(ranges: readonly HashRange[], begun: readonly Part[]): Part[] {
  const left: Part[] = [];
  const add = (part: Part): void => {
    if (part.min < part.max) left.push(part);
  };
  for (const { min, max } of ranges) {
    let low = maxHash(min, begun[0]?.min ?? min);
    for (const part of begun) {
      add({ min: low, max: minHash(part.min, max), from: 0, rows: 0 });
      add({ ...part, min: maxHash(low, part.min), max: minHash(part.max, max) });
      low = maxHash(low, part.max);
    }
    add({ min: low, max, from: 0, rows: 0 });
  }
  return left;
}

/**
 * The parts left that a position has to name: all up to the last one that is begun, and at least the first. The halves
 * of a partition that was split both continue where the whole ended.
 */
export function begunParts(left: readonly Part[]): readonly Part[] {
  const last = left.findLastIndex(({ from, rows }) => from > 0 || rows > 0);
  return left.slice(0, Math.max(last, 0) + 1);
}

/** The position as JSON, as clients expect it, in characters that a header may have. */
export function printPosition(position: Position): string {
  return JSON.stringify({ v: VERSION, ...pack(position) }).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The position in a text; undefined for anything else, because clients may send any text. */
export function parsePosition(text: string): Position | undefined {
  try {
    const packed = JSON.parse(text);
    return packed?.v === VERSION ? unpack(packed) : undefined;
  } catch {
    // The text is not JSON, or its sort keys are no tuple, and so it is not a position.
    return undefined;
  }
}

function pack(position: Position): object {
  switch (position.kind) {
    case 'stream': {
      const at = position.parts.map(({ min, max, from, rows }) => [min, max, from, rows]);
      return { at, w: packWindow(position.window) };
    }
    case 'ordered': {
      if (position.after === undefined) return { after: null, w: packWindow(position.window) };
      const { keys, rid, row } = position.after;
      const packed = Buffer.from(packKeys(keys)).toString('base64url');
      return { after: [packed, rid, row], w: packWindow(position.window) };
    }
    case 'fold':
      return { given: position.given, k: position.cachedAs };
  }
}

/** Sort keys as a tuple of whole values. Only in the bson collation do tuples hold arrays and objects whole. */
function packKeys(keys: readonly Value[]): Bytes {
  const parts = keys.map((key) =>
    encodeWhole([key], { collation: isList(key) || isMap(key) ? 'bson' : 'cosmos' }),
  );
  return Buffer.concat(parts);
}

/** Throws for a text that is no tuple, or not as `packKeys` writes it. */
function unpackKeys(text: string): readonly Value[] {
  const bytes = Buffer.from(text, 'base64url');
  const keys = decodeWhole(bytes, { collation: 'cosmos' });
  assert(equalBytes(packKeys(keys), bytes), 'sort keys are read as they were written');
  return keys;
}

function packWindow({ skip, take }: Window): readonly (number | null)[] {
  return [skip, take === Number.POSITIVE_INFINITY ? null : take];
}

function unpack(packed: Record<string, unknown>): Position | undefined {
  const { at, after, given, k, w } = packed;
  if (isCount(given)) return { kind: 'fold', given, ...(typeof k === 'string' && { cachedAs: k }) };
  const window = unpackWindow(w);
  if (window === undefined) return undefined;
  if (at !== undefined) {
    const parts = unpackParts(at);
    return parts && { kind: 'stream', parts, window };
  }
  if (after === null) return { kind: 'ordered', after: undefined, window };
  if (!Array.isArray(after)) return undefined;
  const [keys, rid, row] = after as unknown[];
  if (!isCount(rid) || !isCount(row)) return undefined;
  const sortKeys = typeof keys === 'string' ? unpackKeys(keys) : unpackJsonKeys(keys);
  return sortKeys && { kind: 'ordered', after: { keys: sortKeys, rid, row }, window };
}

/**
 * Sort keys in a token of earlier versions: each a list of one JSON value, or of none for undefined. Arrays and objects
 * are empty there; other objects were values that JSON does not hold, and are refused.
 */
function unpackJsonKeys(keys: unknown): readonly Value[] | undefined {
  if (!Array.isArray(keys)) return undefined;
  if (!keys.every((key) => Array.isArray(key) && key.length <= 1 && isJsonKey(key[0])))
    return undefined;
  return keys.map((key: Value[]) => key[0]);
}

function isJsonKey(key: unknown): boolean {
  return typeof key !== 'object' || key === null || Object.keys(key).length === 0;
}

function unpackParts(packed: unknown): readonly Part[] | undefined {
  if (!Array.isArray(packed) || packed.length === 0 || packed.length > PARTS_MAX) return undefined;
  const parts: Part[] = [];
  for (const entry of packed) {
    const part = unpackPart(entry);
    if (part === undefined || part.min < (parts.at(-1)?.max ?? '')) return undefined;
    parts.push(part);
  }
  return parts;
}

function unpackPart(packed: unknown): Part | undefined {
  if (!Array.isArray(packed)) return undefined;
  const [min, max, from, rows] = packed as unknown[];
  if (!isHex(min) || !isHex(max) || !isCount(from) || !isCount(rows)) return undefined;
  return { min, max, from, rows };
}

function unpackWindow(packed: unknown): Window | undefined {
  if (!Array.isArray(packed)) return undefined;
  const [skip, take] = packed as unknown[];
  if (!isCount(skip) || !(take === null || isCount(take))) return undefined;
  return { skip, take: take ?? Number.POSITIVE_INFINITY };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isHex(value: unknown): value is string {
  return typeof value === 'string' && /^(?:[0-9A-F]{2})*$/.test(value);
}
