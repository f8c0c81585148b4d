/** The result of a write command. */
import type { Item, Lsn } from '../../item/item.ts';
import type { UpdateReply } from './updater.ts';

export interface WriteResult {
  /** One per mutation, in order. */
  readonly effects: readonly Effect[];
  readonly lsn: Lsn;
}

export interface Effect {
  /** `kept`: an update decided to write nothing. */
  readonly kind: 'created' | 'replaced' | 'deleted' | 'kept';
  /** After the write; undefined when deleted. */
  readonly item: Item | undefined;
  readonly previous: Item | undefined;
  /** The reply of the updater. */
  readonly reply?: UpdateReply;
  /** True where the write was run before: the reply is its note. */
  readonly isRepeated?: boolean;
}

/** What a write did, as readers see it: to them an internal item is not there. */
export function changeKind(
  item: Item | undefined,
  previous: Item | undefined,
): 'created' | 'replaced' | 'deleted' {
  if (item === undefined) return 'deleted';
  if (previous === undefined) return 'created';
  if (previous.isInternal === item.isInternal) return 'replaced';
  return item.isInternal ? 'deleted' : 'created';
}
