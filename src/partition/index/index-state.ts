/** How far the index of a partition is built, and under which policy. Stored as JSON. */
import { type Bytes, bytesToText, textToBytes } from '../../base/index.ts';
import type { Rid } from '../item/item.ts';

export interface IndexState {
  readonly fingerprint: string;
  /** Items up to this rid are indexed; `all` when the index is complete. */
  readonly builtTo: Rid | 'all';
}

export function encodeIndexState(state: IndexState): Bytes {
  return textToBytes(JSON.stringify(state));
}

export function decodeIndexState(bytes: Bytes): IndexState {
  return JSON.parse(bytesToText(bytes)) as IndexState;
}
