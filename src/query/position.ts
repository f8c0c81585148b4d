/**
 * Where a page of a query ended, as plain data: enough to go on with nothing kept in the server, in whatever partitions
 * hold the items by then.
 */
import { isList, isMap, type Value } from '../value/index.ts';
import type { RowPlace } from './row-order.ts';

export type Position =
  /** All below `at` is read; behind it nothing is. What the query covers is not said again: its text does. */
  | { readonly kind: 'stream'; readonly at: Part; readonly window: Window }
  /** Everything behind a row, or from the start where no row could be named. */
  | { readonly kind: 'ordered'; readonly after: RowPlace | undefined; readonly window: Window }
  /** The result is made anew and this many rows of it are passed over. */
  | { readonly kind: 'fold'; readonly given: number };

/** Hexadecimal effective partition keys, [min, max). */
export interface HashRange {
  readonly min: string;
  readonly max: string;
}

export interface Part extends HashRange {
  /** The item to go on with. */
  readonly from: number;
  /** Rows of that item already given. */
  readonly rows: number;
}

/** What is left of OFFSET and LIMIT. */
export interface Window {
  readonly skip: number;
  /** Infinity for all. */
  readonly take: number;
}

const VERSION = 1;

/** Hexadecimal of the same case sorts as the bytes do. */
function laterOf(a: string, b: string): string {
  if (a > b) return a;
  return b;
}

/** Characters of all texts among the keys of a place: the position travels in a header. */
const KEY_TEXT_MAX = 400;

/** True where the keys are short enough to stand in a position. */
export function isPortable(keys: readonly Value[]): boolean {
  let length = 0;
  for (const key of keys) if (typeof key === 'string') length += key.length;
  return length <= KEY_TEXT_MAX;
}

/** The parts of the ranges that a position has left, in order. */
export function partsLeft(ranges: readonly HashRange[], at: Part | undefined): Part[] {
  if (at === undefined) return ranges.map(({ min, max }) => ({ min, max, from: 0, rows: 0 }));
  const parts: Part[] = [];
  for (const { min, max } of ranges) {
    const from = laterOf(min, at.min);
    const to = laterOf(max, at.max) === max ? at.max : max;
    if (from < to) parts.push({ ...at, min: from, max: to });
    const rest = laterOf(min, at.max);
    if (rest < max) parts.push({ min: rest, max, from: 0, rows: 0 });
  }
  return parts;
}

/** JSON, as clients expect it, in characters that a header may carry. */
export function printPosition(position: Position): string {
  return JSON.stringify({ v: VERSION, ...pack(position) }).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Undefined for anything that is not a position. */
export function parsePosition(text: string): Position | undefined {
  try {
    const packed = JSON.parse(text);
    return packed?.v === VERSION ? unpack(packed) : undefined;
  } catch {
    return undefined;
  }
}

function pack(position: Position): object {
  switch (position.kind) {
    case 'stream': {
      const { min, max, from, rows } = position.at;
      return { at: [min, max, from, rows], w: packWindow(position.window) };
    }
    case 'ordered': {
      if (position.after === undefined) return { after: null, w: packWindow(position.window) };
      const { keys, rid, row } = position.after;
      // A list of one or none: JSON has no undefined. Of arrays and objects only the kind counts.
      const packed = keys.map((key) =>
        key === undefined ? [] : [isList(key) ? [] : isMap(key) ? {} : key],
      );
      return { after: [packed, rid, row], w: packWindow(position.window) };
    }
    case 'fold':
      return { given: position.given };
  }
}

function packWindow({ skip, take }: Window): readonly (number | null)[] {
  return [skip, take === Number.POSITIVE_INFINITY ? null : take];
}

function unpack(packed: Record<string, unknown>): Position | undefined {
  const { at, after, given, w } = packed;
  if (isCount(given)) return { kind: 'fold', given };
  const window = unpackWindow(w);
  if (window === undefined) return undefined;
  if (at !== undefined) {
    const part = unpackPart(at);
    return part && { kind: 'stream', at: part, window };
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
