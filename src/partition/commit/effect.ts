/** The result of a write command. */
import type { Item, Lsn } from '../item/item.ts';

export interface WriteResult {
  /** One per mutation, in order. */
  readonly effects: readonly Effect[];
  readonly lsn: Lsn;
}

export interface Effect {
  readonly kind: 'created' | 'replaced' | 'deleted';
  /** After the write; undefined when deleted. */
  readonly item: Item | undefined;
  readonly previous: Item | undefined;
}
