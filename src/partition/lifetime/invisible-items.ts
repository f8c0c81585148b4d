/**
 * Items that are stored but invisible: expired, or covered by a range tombstone. Readers and decisions skip them at
 * once; the sweeper removes them later (sweeper.ts).
 */
import { type Bytes, type Clock, compareBytes } from '../../base/index.ts';
import type { Item, Lsn } from '../item/item.ts';

/** Deletes all items with a primary key in [start, end) that were written up to this LSN. */
export interface RangeTombstone {
  readonly start: Bytes;
  readonly end: Bytes;
  readonly lsn: Lsn;
}

/** Why a stored item is invisible. */
export type Cause = 'expired' | 'rangeDeleted';

interface InvisibleOptions {
  readonly clock: Clock;
  /** Undefined: nothing expires. -1: only items with a time to live of their own. */
  readonly defaultTtlSec: number | undefined;
  readonly rangeTombstones: readonly RangeTombstone[];
}

/** Undefined where all stored items are visible, so that most partitions pay one test. */
export function invisibleItems(options: InvisibleOptions): InvisibleItems | undefined {
  const { defaultTtlSec, rangeTombstones } = options;
  return defaultTtlSec === undefined && rangeTombstones.length === 0
    ? undefined
    : new InvisibleItems(options);
}

export class InvisibleItems {
  readonly #options: InvisibleOptions;

  constructor(options: InvisibleOptions) {
    this.#options = options;
  }

  get rangeTombstones(): readonly RangeTombstone[] {
    return this.#options.rangeTombstones;
  }

  /** The item, or undefined where it is invisible. */
  visible(item: Item | undefined): Item | undefined {
    return item === undefined || this.causeOf(item) !== undefined ? undefined : item;
  }

  causeOf(item: Item): Cause | undefined {
    if (this.expiresAtSec(item) * 1000 <= this.#options.clock.nowMs()) return 'expired';
    for (const { start, end, lsn } of this.#options.rangeTombstones)
      if (item.lsn <= lsn && compareBytes(start, item.primary) <= 0)
        if (compareBytes(item.primary, end) < 0) return 'rangeDeleted';
    return undefined;
  }

  /** Infinity for an item that never expires. */
  expiresAtSec({ ttlSec, timestampSec }: Item): number {
    const { defaultTtlSec } = this.#options;
    if (defaultTtlSec === undefined) return Number.POSITIVE_INFINITY;
    const lifeSec = ttlSec === 0 ? defaultTtlSec : ttlSec;
    return lifeSec < 0 ? Number.POSITIVE_INFINITY : timestampSec + lifeSec;
  }
}
