/** Opens a partition from what is stored. */
import type { Clock, SlicedWork } from '../base/index.ts';
import type { Store } from '../engine/index.ts';
import { History } from './history/history.ts';
import { decodeRetention } from './history/retention.ts';
import { decodeIndexState } from './index/index-state.ts';
import type { Indexing } from './index/indexing.ts';
import type { BodyFinisher } from './item/item.ts';
import {
  INDEX_STATE_KEY,
  RANGE_TOMBSTONES_KEY,
  RETENTION_KEY,
  STATE_KEY,
} from './item/keyspace.ts';
import { ItemVisibility } from './lifetime/item-visibility.ts';
import { decodeRangeTombstones } from './lifetime/range-tombstones.ts';
import { Partition } from './partition.ts';
import type { PartitionCache } from './read/record-cache.ts';
import { decodeState, newState } from './state.ts';

export interface PartitionOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly finisher: BodyFinisher;
  /** Sixteen bits of the container that go into every etag. */
  readonly etagSalt: number;
  /** Thirteen bits that keep the rids of a container's partitions apart. */
  readonly ridPrefix: number;
  readonly cache: PartitionCache;
  readonly indexing: Indexing;
  /** Seconds that all versions of items are kept; 0: not at all. */
  readonly retentionSec: number;
  /** Seconds items live that do not say themselves; -1 for ever; undefined: nothing expires. */
  readonly defaultTtlSec: number | undefined;
  /** Where long computations take turns with those of other partitions. */
  readonly work?: SlicedWork;
  /** Told of every group of writes once readers know of it. */
  readonly onPublished?: () => void;
  /** Told why the partition has failed and has to be opened again, or why its index could not be built. */
  readonly onFailure?: (error: Error) => void;
  /** Index entries kept in memory before they are written to their place. */
  readonly indexMemoryEntries?: number;
}

export async function openPartition(options: PartitionOptions): Promise<Partition> {
  const keys = [STATE_KEY, INDEX_STATE_KEY, RETENTION_KEY, RANGE_TOMBSTONES_KEY];
  const [stored, indexState, retention, erasures] = await options.store.getMany(keys);
  const state = stored === undefined ? newState() : decodeState(stored);
  const { store, clock, retentionSec } = options;
  const kept = retention && decodeRetention(retention);
  const history = new History({ store, clock, state, retentionSec, retention: kept });
  const visibility = new ItemVisibility({
    clock,
    defaultTtlSec: options.defaultTtlSec,
    rangeTombstones: decodeRangeTombstones(erasures),
  });
  const partition = new Partition(options, { state, history, visibility });
  await partition.resumeIndexing(
    indexState === undefined ? undefined : decodeIndexState(indexState),
  );
  return partition;
}
