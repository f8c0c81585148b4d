/**
 * The kept past of a partition: tombstones always, versions where the container wants them. Both are deleted with one
 * of the next commits when their time is over.
 */
import {
  andThen,
  type Clock,
  DomainError,
  isPromise,
  type MaybePromise,
  TOMBSTONE_RETENTION_SEC,
} from '../../base/index.ts';
import type { Store } from '../../engine/index.ts';
import type { CommitGroup } from '../commit/commit-group.ts';
import type { Item, Lsn } from '../item/item.ts';
import {
  type LogPrefix,
  logAfter,
  lsnOfLogKey,
  PREFIX_TOMBSTONE,
  PREFIX_VERSION,
  RETENTION_KEY,
} from '../item/keyspace.ts';
import { decodeTombstone } from '../item/tombstone.ts';
import { encodeVersion, timestampOfVersion, type VersionKind } from '../item/version.ts';
import type { PartitionState } from '../state.ts';
import { encodeRetention, newRetention, type Retention, raiseFloor } from './retention.ts';

/** Interval of the search for expired entries. */
const TRIM_INTERVAL_SEC = 60;

/** Entries of one search. */
const TRIM_PAGE = { limit: 1000, bytesMax: 4 * 1024 * 1024 };

export interface HistoryOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** The counters as stored. */
  readonly state: PartitionState;
  /** Seconds that versions are kept; 0 keeps none. */
  readonly retentionSec: number;
  /** As stored; undefined where no versions are kept. */
  readonly retention: Retention | undefined;
}

/** A write as the committer knows it. */
export interface Written {
  readonly previous: Item | undefined;
  readonly item: Item | undefined;
  readonly operation: number;
  /** Whether it was deleted because its time to live was over. */
  readonly isExpired: boolean;
}

export class History {
  readonly #options: HistoryOptions;
  #retentionSec: number;
  #retention: Retention | undefined;
  #trimDueSec = 0;
  /** Whether the retention differs from the stored one: it is stored with the next commit. */
  #isChanged: boolean;

  constructor(options: HistoryOptions) {
    const { retentionSec, retention, state } = options;
    this.#options = options;
    this.#retentionSec = retentionSec;
    this.#isChanged = retentionSec > 0 !== (retention !== undefined);
    this.#retention = retentionSec > 0 ? (retention ?? newRetention(state.lsn)) : undefined;
  }

  /** True where versions are kept. */
  get isKept(): boolean {
    return this.#retentionSec > 0;
  }

  get retention(): Retention | undefined {
    return this.#retention;
  }

  get retentionSec(): number {
    return this.#retentionSec;
  }

  /** A new policy: versions are kept from the next write on, or no longer. */
  change(retentionSec: number): void {
    if (retentionSec > 0 === this.isKept) {
      this.#retentionSec = retentionSec;
      return;
    }
    this.#retentionSec = retentionSec;
    this.#retention = retentionSec > 0 ? newRetention(this.#options.state.lsn) : undefined;
    this.#isChanged = true;
  }

  /** Takes over the retention of other partitions. */
  import(retention: Retention): void {
    this.#retention = this.isKept ? retention : undefined;
    this.#isChanged = true;
  }

  note(group: CommitGroup, written: Written, at: { lsn: Lsn; timestampSec: number }): void {
    const { operation, isExpired } = written;
    // Shadows and headers are no versions: for readers the item is not there.
    const previous = written.previous?.isInternal === true ? undefined : written.previous;
    const item = written.item?.isInternal === true ? undefined : written.item;
    const image = item ?? previous;
    if (image === undefined) return;
    const version = { ...at, previousLsn: previous?.lsn ?? 0, item: image };
    group.add(
      encodeVersion({ kind: kindOf({ previous, item }, isExpired), ...version }, operation),
    );
  }

  /** Adds a changed retention to a group that is about to be committed. */
  addTo(group: CommitGroup): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    if (this.#retention === undefined) {
      group.clearsVersions = true;
      group.remove(RETENTION_KEY);
    } else {
      group.add({ key: RETENTION_KEY, value: encodeRetention(this.#retention) });
    }
  }

  /** Adds deletions of expired entries to the open group; `undefined` where there is nothing to wait for. */
  trim(openGroup: () => CommitGroup): Promise<unknown> | undefined {
    const { state, clock } = this.#options;
    if (state.tombstoneCount === 0 && !this.isKept) return undefined;
    const nowSec = Math.floor(clock.nowMs() / 1000);
    if (nowSec < this.#trimDueSec) return undefined;
    this.#trimDueSec = nowSec + TRIM_INTERVAL_SEC;
    const trimmed = [
      state.tombstoneCount > 0 ? this.#trimTombstones(openGroup, nowSec) : undefined,
      this.isKept ? this.#trimVersions(openGroup, nowSec) : undefined,
    ].filter(isPromise);
    return trimmed.length > 0 ? Promise.all(trimmed).catch(ignoreUnavailable) : undefined;
  }

  #trimTombstones(openGroup: () => CommitGroup, nowSec: number): MaybePromise<void> {
    const expiredSec = nowSec - TOMBSTONE_RETENTION_SEC;
    const page = this.#oldest(
      PREFIX_TOMBSTONE,
      (value) => decodeTombstone(value).timestampSec <= expiredSec,
    );
    return andThen(page, (keys) => {
      for (const key of keys) openGroup().remove(key);
      this.#options.state.tombstoneCount -= keys.length;
    });
  }

  #trimVersions(openGroup: () => CommitGroup, nowSec: number): MaybePromise<void> {
    const expiredSec = nowSec - this.#retentionSec;
    const page = this.#oldest(PREFIX_VERSION, (value) => timestampOfVersion(value) <= expiredSec);
    return andThen(page, (keys) => {
      const last = keys.at(-1);
      if (last === undefined || this.#retention === undefined) return;
      for (const key of keys) openGroup().remove(key);
      this.#retention = raiseFloor(this.#retention, lsnOfLogKey(last));
      this.#isChanged = true;
      // More than one page has expired: the rest is deleted with the next commit.
      if (keys.length >= TRIM_PAGE.limit) this.#trimDueSec = nowSec;
    });
  }

  #oldest(
    prefix: LogPrefix,
    isExpired: (value: Uint8Array) => boolean,
  ): MaybePromise<readonly Uint8Array[]> {
    return andThen(this.#options.store.scan(logAfter(prefix, 0), TRIM_PAGE), ({ entries }) => {
      const kept = entries.findIndex(({ value }) => !isExpired(value));
      return entries.slice(0, kept < 0 ? undefined : kept).map(({ key }) => key);
    });
  }
}

/** Entries that could not be read, such as while there is no primary, are deleted another time. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof DomainError && error.code === 'unavailable')) throw error;
}

function kindOf(
  { previous, item }: Pick<Written, 'previous' | 'item'>,
  isExpired: boolean,
): VersionKind {
  if (item === undefined) return isExpired ? 'expire' : 'delete';
  return previous === undefined ? 'create' : 'replace';
}
