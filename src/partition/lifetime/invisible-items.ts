/**
 * Items that are stored but no longer there: expired, or erased with all others of their partition key. Readers and
 * decisions pass over them at once; the sweeper removes them in its own time (sweeper.ts).
 */
import { type Bytes, type Clock, compareBytes } from '../../base/index.ts';
import type { Item, Lsn } from '../item/item.ts';

/** All items with a primary key in [start, end) that were written up to this LSN. */
export interface RangeTombstone {
  readonly start: Bytes;
  readonly end: Bytes;
  readonly lsn: Lsn;
}

/** Why an item is gone although nobody deleted it. */
export type Cause = 'expired' | 'erased';

interface InvisibleOptions {
  readonly clock: Clock;
  /** Undefined: nothing expires, whatever items say. -1: only items that say when. */
  readonly defaultTtlSec: number | undefined;
  readonly rangeTombstones: readonly RangeTombstone[];
}

/** Undefined where everything stored is there: one test for partitions that need no more. */
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

  /** The item, where it is there. */
  visible(item: Item | undefined): Item | undefined {
    return item === undefined || this.causeOf(item) !== undefined ? undefined : item;
  }

  causeOf(item: Item): Cause | undefined {
    if (this.expiresAtSec(item) * 1000 <= this.#options.clock.nowMs()) return 'expired';
    for (const { start, end, lsn } of this.#options.rangeTombstones)
      if (item.lsn <= lsn && compareBytes(start, item.primary) <= 0)
        if (compareBytes(item.primary, end) < 0) return 'erased';
    return undefined;
  }

  /** Infinity where it never does. */
  expiresAtSec({ ttlSec, timestampSec }: Item): number {
    const { defaultTtlSec } = this.#options;
    if (defaultTtlSec === undefined) return Number.POSITIVE_INFINITY;
    const lifeSec = ttlSec === 0 ? defaultTtlSec : ttlSec;
    return lifeSec < 0 ? Number.POSITIVE_INFINITY : timestampSec + lifeSec;
  }
}
