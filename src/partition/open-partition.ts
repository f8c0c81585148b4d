/** Opens a partition from what is stored. */
import type { Bytes, Clock, SlicedWork } from '../base/index.ts';
import type { Store } from '../engine/index.ts';
import { expiryUpdater, type Updaters } from './commit/command/updater.ts';
import { History } from './history/history.ts';
import { decodeRetention } from './history/retention.ts';
import { decodeIndexState } from './index/stored/index-state.ts';
import type { Indexing } from './index/terms/indexing.ts';
import {
  checkFormat,
  decodeOwner,
  encodeFormat,
  encodeOwner,
  type StoreFormat,
} from './item/format.ts';
import type { BodyFinisher } from './item/item.ts';
import {
  FORMAT_KEY,
  INDEX_STATE_KEY,
  OWNER_KEY,
  RANGE_TOMBSTONES_KEY,
  RETENTION_KEY,
  STATE_KEY,
} from './item/keyspace.ts';
import { ItemVisibility } from './lifetime/item-visibility.ts';
import { decodeRangeTombstones } from './lifetime/range-tombstones.ts';
import { Partition } from './partition.ts';
import { PreparedTransactions } from './prepared/prepared-transactions.ts';
import type { PartitionCache } from './read/record-cache.ts';
import { decodeState, newState } from './state.ts';

export interface PartitionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly finisher: BodyFinisher;
  /** The format of the container's keys; absent: the first one. */
  readonly format?: StoreFormat | undefined;
  /** The updates that writes may name. */
  readonly updaters?: Updaters | undefined;
  /** Sixteen bits of the container that are part of every etag. */
  readonly etagSalt: number;
  /** Thirteen bits that make the rids of a container's partitions differ. */
  readonly ridPrefix: number;
  readonly cache: PartitionCache;
  readonly indexing: Indexing;
  /** Seconds that all versions of items are kept; 0 keeps none. */
  readonly retentionSec: number;
  /** Time to live of items without their own; -1: for ever; undefined: nothing expires. */
  readonly defaultTtlSec: number | undefined;
  /** Runs long computations in slices, alternating with those of other partitions. */
  readonly work?: SlicedWork;
  /** Called after every group of writes that readers can see. */
  readonly onPublished?: () => void;
  /** Called when the partition has failed and has to be opened again, or when its index could not be built. */
  readonly onFailure?: (error: Error) => void;
  /** Index entries kept in memory before they are flushed. */
  readonly indexMemoryEntries?: number;
}

/** The format of stores that do not say it. */
const FIRST_FORMAT: StoreFormat = { keyFormat: 1, ring: 'hash' };

const STORED_KEYS = [
  STATE_KEY,
  INDEX_STATE_KEY,
  RETENTION_KEY,
  RANGE_TOMBSTONES_KEY,
  FORMAT_KEY,
  OWNER_KEY,
];

function epochAfter(owner: Bytes | undefined): number {
  return 1 + (owner === undefined ? 0 : decodeOwner(owner).epoch);
}

export async function openPartition(options: PartitionOptions): Promise<Partition> {
  const [stored, indexState, retention, rangeTombstones, format, owner] =
    await options.store.getMany(STORED_KEYS);
  const expected = options.format ?? FIRST_FORMAT;
  if (format !== undefined) checkFormat(format, expected);
  const state = stored === undefined ? newState() : decodeState(stored);
  const { store, clock, retentionSec } = options;
  const kept = retention && decodeRetention(retention);
  const history = new History({ store, clock, state, retentionSec, retention: kept });
  const visibility = new ItemVisibility({
    clock,
    defaultTtlSec: options.defaultTtlSec,
    rangeTombstones: decodeRangeTombstones(rangeTombstones),
    hasInternal: state.internalCount > 0,
    leavesShadow: ({ encoding }) => expiryUpdater(encoding, options.updaters ?? {}) !== undefined,
  });
  const transactions = new PreparedTransactions();
  await transactions.load(store, options.indexing.unique !== undefined);
  const firstEntries = [
    { key: OWNER_KEY, value: encodeOwner({ epoch: epochAfter(owner), name: '' }) },
    ...(format === undefined ? [{ key: FORMAT_KEY, value: encodeFormat(expected) }] : []),
  ];
  const parts = { state, history, visibility, transactions, firstEntries };
  const partition = new Partition(options, parts);
  await partition.resumeIndexing(
    indexState === undefined ? undefined : decodeIndexState(indexState),
  );
  return partition;
}
