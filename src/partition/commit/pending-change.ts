/** A write that is decided and not durable yet. */
import type { Value } from '../../value/index.ts';
import type { Terms } from '../index/memory/posting-lists.ts';
import type { Item, ItemKey } from '../item/item.ts';
import type { CommitGroup } from './commit-group.ts';

/** The decided state of one item, until its group is durable. */
export interface PendingChange {
  readonly key: ItemKey;
  readonly group: CommitGroup;
  /** As stored when the group began. */
  readonly before: Item | undefined;
  /** The item whose entries the index has, with the changes noted so far. */
  indexed: Item | undefined;
  /** Whether `indexed` is `after`. */
  isIndexed: boolean;
  after: Item | undefined;
  /** The decoded body of `after` before it was finished, where the writer had it. */
  value: Value;
  /** The posting lists of `after`, where all its entries are new and already found; then `value` is dropped. */
  terms: Terms | undefined;
  /** Whether `after` was written in another partition and moved here. */
  isMoved: boolean;
  /** Whether it was copied before anybody relies on this partition; see `isCopy`. */
  isCopied: boolean;
  /** Whether `after` comes from a bulk command; see `isBulk`. */
  isBulk: boolean;
}
