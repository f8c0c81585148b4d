/** What a committer is given by its partition. */
import type { Clock, MaybePromise, SlicedWork } from '../../base/index.ts';
import type { Store } from '../../engine/index.ts';
import type { History } from '../history/history.ts';
import type { Indexing } from '../index/indexing.ts';
import type { PostingLists } from '../index/posting-lists.ts';
import type { BodyFinisher, Item, ItemKey } from '../item/item.ts';
import type { ItemVisibility } from '../lifetime/item-visibility.ts';
import type { PartitionState } from '../state.ts';
import type { CommitGroup } from './commit-group.ts';
import type { ConflictTrackers } from './conflict-tracker.ts';

export interface CommitterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly finisher: BodyFinisher;
  readonly etagSalt: number;
  readonly ridPrefix: number;
  /** The counters as stored; the committer owns them from here on. */
  readonly state: PartitionState;
  readonly history: History;
  readonly indexing: Indexing;
  readonly visibility: ItemVisibility;
  /** Reads what is durable; undefined where the item does not exist. */
  readonly readStored: (key: ItemKey) => MaybePromise<Item | undefined>;
  /** Called when a group is durable, before its writers learn of it. */
  readonly publish: (group: CommitGroup) => void;
  /** Where the entries of new items belong. */
  readonly postings: () => PostingLists;
  readonly conflicts: ConflictTrackers;
  /** Whether a new item will not be kept in memory once it is written. */
  readonly isCacheFull: () => boolean;
  /** Where long computations of the process take turns. */
  readonly work: SlicedWork;
  /** Told once why the committer takes no more. */
  readonly onFailure: (error: Error) => void;
}
