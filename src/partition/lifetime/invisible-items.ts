/**
 * Items that are stored but invisible: expired, or covered by a range tombstone. Readers and decisions skip them at
 * once; the sweeper removes them later (sweeper.ts). Shadows and headers are invisible to readers alone, and so are
 * expired items of which an API keeps something for later decisions (commit/updater.ts).
 */
import { type Bytes, type Clock, compareBytes } from '../../base/index.ts';
import { ITEM_FLAGS, type Item, type Lsn } from '../item/item.ts';
import { newItem } from '../item/record.ts';

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
  /** Whether there are shadows or headers. */
  readonly hasInternal: boolean;
  /** Whether decisions see an expired item as a shadow. */
  readonly leavesShadow: (item: Item) => boolean;
}

/** Undefined where all stored items are visible, so that most partitions pay one test. */
export function invisibleItems(options: InvisibleOptions): InvisibleItems | undefined {
  const { defaultTtlSec, rangeTombstones, hasInternal } = options;
  return defaultTtlSec === undefined && rangeTombstones.length === 0 && !hasInternal
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

  /** The item as readers see it: undefined where it is invisible. */
  visible(item: Item | undefined): Item | undefined {
    const isVisible = item?.isInternal === false && this.causeOf(item) === undefined;
    return isVisible ? item : undefined;
  }

  /** The item as decisions see it: shadows and headers too, and expired items as the shadows that they will become. */
  present(item: Item | undefined): Item | undefined {
    const cause = item && this.causeOf(item);
    if (item === undefined || cause === undefined) return item;
    const isShadow = cause === 'expired' && !item.isInternal && this.#options.leavesShadow(item);
    return isShadow ? shadowOf(item) : undefined;
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

/** The same version of the item, which only updaters see. */
function shadowOf(item: Item): Item {
  const { primary, rid, version, timestampSec, ttlSec, encoding, body } = item;
  const flags = ITEM_FLAGS.shadow;
  return newItem({ primary, rid, version, timestampSec, ttlSec, encoding, body, flags });
}
