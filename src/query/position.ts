/**
 * Where a page of a query ended, as plain data. The next page needs nothing else: no state of the server, and not the
 * partitions that held the items before.
 */
import { isList, isMap, type Value } from '../value/index.ts';
import type { RowPlace } from './order/row-order.ts';

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

/** Characters of all texts among the sort keys in a position, which is sent in a header. */
const KEY_TEXT_MAX = 400;

/** True where the sort keys are short enough for a position. */
export function fitsInToken(keys: readonly Value[]): boolean {
  let length = 0;
  for (const key of keys) if (typeof key === 'string') length += key.length;
  return length <= KEY_TEXT_MAX;
}

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
    // The text is not JSON and so not a position.
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
      // Each key is a list of one or none, because JSON has no undefined. Arrays have one place, and so have objects.
      const packed = keys.map((key) =>
        key === undefined ? [] : [isList(key) ? [] : isMap(key) ? {} : key],
      );
      return { after: [packed, rid, row], w: packWindow(position.window) };
    }
    case 'fold':
      return { given: position.given, k: position.cachedAs };
  }
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
  if (!Array.isArray(keys) || !isCount(rid) || !isCount(row)) return undefined;
  if (!keys.every((key) => Array.isArray(key) && key.length <= 1)) return undefined;
  return {
    kind: 'ordered',
    after: { keys: keys.map((key: Value[]) => key[0]), rid, row },
    window,
  };
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
