/**
 * The canonical value model that all APIs share. JSON values are themselves; every other type of the five
 * APIs is an instance of Extended, so that no document a client writes can be mistaken for one.
 */
import { type Bytes, equalBytes, spend } from '../base/index.ts';
import { toExtendedJson } from './json/extended-json.ts';
import { compareNumbers } from './key/number-key.ts';

/** A uuid is a binary of this subtype, as BSON has it. */
export const UUID_SUBTYPE = 4;

export type Value =
  | undefined
  | null
  | boolean
  | number
  | string
  | readonly Value[]
  | ValueMap
  | Extended;

export interface ValueMap {
  readonly [name: string]: Value;
}

export type ExtendedPayload =
  | { readonly kind: 'int64'; readonly value: bigint }
  /** `digits` is text such as -12.50E+3, or NaN, Infinity, -Infinity. */
  | { readonly kind: 'decimal'; readonly digits: string }
  | { readonly kind: 'date'; readonly ms: number }
  /** Sixteen bytes; the same value as a binary of subtype 4 with these bytes. */
  | { readonly kind: 'uuid'; readonly bytes: Bytes }
  | { readonly kind: 'objectId'; readonly bytes: Bytes }
  | { readonly kind: 'binary'; readonly bytes: Bytes; readonly subtype: number }
  | { readonly kind: 'timestamp'; readonly high: number; readonly low: number }
  | { readonly kind: 'regex'; readonly source: string; readonly flags: string }
  | { readonly kind: 'minKey' }
  | { readonly kind: 'maxKey' };

export class Extended {
  readonly payload: ExtendedPayload;

  constructor(payload: ExtendedPayload) {
    this.payload = payload;
  }

  /** The value that JSON.stringify prints instead; see extended-json.ts. */
  toJSON(): unknown {
    return toExtendedJson(this.payload);
  }
}

/** Narrower than Extended, so that to the compiler a value that is not a number may still be an Extended. */
type ExtendedNumber = Extended & {
  readonly payload: Extract<ExtendedPayload, { readonly kind: 'int64' | 'decimal' }>;
};

export function isMap(value: Value): value is ValueMap {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Extended)
  );
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** True for everything on the number line: doubles, 64-bit integers, decimals. */
export function isNumeric(value: Value): value is number | ExtendedNumber {
  if (typeof value === 'number') return true;
  if (!(value instanceof Extended)) return false;
  return value.payload.kind === 'int64' || value.payload.kind === 'decimal';
}

/**
 * Deep equality, the same as compareValues(a, b, 'cosmos') === 0. Numbers of all kinds are on one line, -0 equals 0,
 * NaN equals NaN. The order of properties does not matter, and an undefined property equals an absent one.
 */
export function equalValues(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (isNumeric(a)) return isNumeric(b) && compareNumbers(a, b) === 0;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Extended)
    return b instanceof Extended && equalPayloads(bare(a.payload), bare(b.payload));
  if (isList(a)) return isList(b) && equalLists(a, b);
  return isMap(b) && equalMaps(a, b);
}

function equalLists(a: readonly Value[], b: readonly Value[]): boolean {
  spend(1 + a.length);
  return a.length === b.length && a.every((element, at) => equalValues(element, b[at]));
}

function equalMaps(a: ValueMap, b: ValueMap): boolean {
  const names = Object.keys(a).filter((name) => a[name] !== undefined);
  spend(1 + 4 * names.length);
  if (names.length !== Object.keys(b).filter((name) => b[name] !== undefined).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && equalValues(a[name], b[name]));
}

function equalPayloads(a: ExtendedPayload, b: ExtendedPayload): boolean {
  switch (a.kind) {
    case 'date':
      return b.kind === 'date' && a.ms === b.ms;
    case 'objectId':
      return b.kind === 'objectId' && equalBytes(a.bytes, b.bytes);
    case 'binary':
      return b.kind === 'binary' && a.subtype === b.subtype && equalBytes(a.bytes, b.bytes);
    case 'timestamp':
      return b.kind === 'timestamp' && a.high === b.high && a.low === b.low;
    case 'regex':
      return b.kind === 'regex' && a.source === b.source && a.flags === b.flags;
    default:
      return a.kind === b.kind;
  }
}

/** The payload, where a uuid is the binary it equals. */
function bare(payload: ExtendedPayload): ExtendedPayload {
  return payload.kind === 'uuid'
    ? { kind: 'binary', bytes: payload.bytes, subtype: UUID_SUBTYPE }
    : payload;
}
