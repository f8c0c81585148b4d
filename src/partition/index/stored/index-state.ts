/** How far the index of a partition is built, and under which policy. Stored as JSON. */
import { type Bytes, bytesToText, textToBytes } from '../../../base/index.ts';
import type { Rid } from '../../item/item.ts';

/** Items up to this rid are indexed; `all` when the index is complete. */
export type BuiltTo = Rid | 'all';

export interface IndexState {
  readonly fingerprint: string;
  /** The automatic index, and with it all indexes that were declared when it began. */
  readonly builtTo: BuiltTo;
  /**
   * The declared indexes by id. `failed`: items violate its uniqueness; `dropped`: it is no longer declared, and its
   * entries are still stored.
   */
  readonly declared?: Readonly<Record<string, BuiltTo | 'failed' | 'dropped'>>;
}

export function encodeIndexState(state: IndexState): Bytes {
  return textToBytes(JSON.stringify(state));
}

export function decodeIndexState(bytes: Bytes): IndexState {
  return JSON.parse(bytesToText(bytes)) as IndexState;
}
