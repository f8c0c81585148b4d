/**
 * The canonical value model that all APIs share. JSON values are themselves; every other type of the five
 * APIs is an instance of Extended, so that no document a client writes can be mistaken for one.
 */
import type { Bytes } from '../base/index.ts';

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
  | { readonly kind: 'decimal'; readonly digits: string }
  | { readonly kind: 'date'; readonly ms: number }
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
}

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
