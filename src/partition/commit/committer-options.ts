/** The parts of a partition that its committer uses. */
import type { Clock, MaybePromise, SlicedWork } from '../../base/index.ts';
import type { Entry, Store } from '../../engine/index.ts';
import type { History } from '../history/history.ts';
import type { PostingLists } from '../index/memory/posting-lists.ts';
import type { Indexing } from '../index/terms/indexing.ts';
import type { BodyFinisher, Item, ItemKey } from '../item/item.ts';
import type { ItemVisibility } from '../lifetime/item-visibility.ts';
import type { NoteBook } from '../notes/note-book.ts';
import type { PreparedTransactions } from '../prepared/prepared-transactions.ts';
import type { PartitionState } from '../state.ts';
import type { Updaters } from './command/updater.ts';
import type { CommitGroup } from './commit-group.ts';
import type { ConflictTrackers } from './conflict-tracker.ts';

export interface CommitterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly finisher: BodyFinisher;
  readonly updaters?: Updaters | undefined;
  readonly etagSalt: number;
  readonly ridPrefix: number;
  /** The stored counters; the committer owns them. */
  readonly state: PartitionState;
  readonly history: History;
  readonly indexing: Indexing;
  readonly visibility: ItemVisibility;
  readonly notes: NoteBook;
  /** Stored with the first group. */
  readonly firstEntries: readonly Entry[];
  /** Reads what is durable; undefined where the item does not exist. */
  readonly readStored: (key: ItemKey) => MaybePromise<Item | undefined>;
  /** Whether some unique index has not the entries of all items. */
  readonly lacksUniqueEntries: () => boolean;
  /** Called when a group is durable, before its writers are informed. */
  readonly publish: (group: CommitGroup) => void;
  /** The posting lists that new entries are added to. */
  readonly postings: () => PostingLists;
  readonly conflicts: ConflictTrackers;
  readonly transactions: PreparedTransactions;
  /** Whether the record cache does not take a new item at its first write. */
  readonly isCacheFull: () => boolean;
  /** Runs long computations of the process in slices. */
  readonly work: SlicedWork;
  /** Called once, when the committer takes no more writes. */
  readonly onFailure: (error: Error) => void;
}
