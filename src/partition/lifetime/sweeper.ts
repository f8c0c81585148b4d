/**
 * Removes hidden items in small steps: first what was erased, then what has expired. A step is one decision of the
 * committer, so it never removes what was written again meanwhile. Nothing of where it is is stored: after a restart it
 * looks again, and what is gone is gone.
 */
import type { Clock } from '../../base/index.ts';
import type { Mutation, WriteCommand } from '../commit/write-command.ts';
import type { Item } from '../item/item.ts';
import { itemKeyOf } from '../item/keyspace.ts';
import type { StoredItems } from '../read/stored-items.ts';
import { ExpiryCalendar } from './expiry-calendar.ts';
import type { InvisibleItems, RangeTombstone } from './invisible-items.ts';

const STEP_BYTES = 4 * 1024 * 1024;

export interface SweepStep {
  readonly removed: readonly Item[];
  /** False where there is nothing more to do for now. */
  readonly hasMore: boolean;
}

export interface SweptPartition {
  readonly stored: StoredItems;
  readonly hidden: InvisibleItems | undefined;
  write(intent: WriteCommand): Promise<unknown>;
}

const NOTHING_TO_DO: SweepStep = { removed: [], hasMore: false };

export class Sweeper {
  readonly #partition: SweptPartition;
  readonly #clock: Clock;
  readonly #calendar: ExpiryCalendar;
  /** Of the walk over all items; undefined at its beginning. */
  #walkedTo: string | undefined;
  #isWalking = false;
  /** Of the walk over the items of the first erasure. */
  #erasedTo: string | undefined;

  constructor(partition: SweptPartition, clock: Clock, calendar = new ExpiryCalendar()) {
    this.#partition = partition;
    this.#clock = clock;
    this.#calendar = calendar;
  }

  /** Told of every item that is written. */
  noteWritten(item: Item, hidden: InvisibleItems): void {
    this.#calendar.note(item.rid, hidden.expiresAtSec(item));
  }

  /** One step at a time. */
  async step(itemsMax: number): Promise<SweepStep> {
    const { hidden, stored } = this.#partition;
    if (hidden === undefined) return NOTHING_TO_DO;
    const [erasure] = hidden.rangeTombstones;
    if (erasure !== undefined) return this.#erase(erasure, itemsMax);
    const nowSec = Math.floor(this.#clock.nowMs() / 1000);
    const rids = this.#calendar.takeDue(nowSec, itemsMax);
    if (rids.length > 0) {
      try {
        const items = await Promise.all(rids.map((rid) => stored.readByRid(rid)));
        return { removed: await this.#remove(items), hasMore: true };
      } catch (error) {
        // As when the partition is about to be replaced: it may stay after all, and nobody else knows of these.
        for (const rid of rids) this.#calendar.note(rid, nowSec);
        throw error;
      }
    }
    if (this.#isWalking || this.#calendar.needsWalk(nowSec)) return this.#walk(hidden, itemsMax);
    return NOTHING_TO_DO;
  }

  async #walk(hidden: InvisibleItems, itemsMax: number): Promise<SweepStep> {
    if (!this.#isWalking) {
      this.#isWalking = true;
      this.#walkedTo = undefined;
      this.#calendar.beginWalk();
    }
    const scan = { after: this.#walkedTo, limit: itemsMax, bytesMax: STEP_BYTES };
    const { items, next } = await this.#partition.stored.scanByRid(scan, undefined);
    const dead: Item[] = [];
    for (const item of items) {
      if (hidden.causeOf(item) === undefined) this.noteWritten(item, hidden);
      else dead.push(item);
    }
    const removed = await this.#remove(dead);
    this.#walkedTo = next;
    this.#isWalking = next !== undefined;
    return { removed, hasMore: next !== undefined };
  }

  async #erase(erasure: RangeTombstone, itemsMax: number): Promise<SweepStep> {
    const scan = { after: this.#erasedTo, limit: itemsMax, bytesMax: STEP_BYTES };
    const { items, next } = await this.#partition.stored.scanByKey(scan, erasure);
    const removed = await this.#remove(items);
    this.#erasedTo = next;
    if (next === undefined)
      await this.#partition.write({
        keys: [],
        decide: () => [],
        rangeTombstones: (list) => list.filter(({ lsn }) => lsn !== erasure.lsn),
      });
    return { removed, hasMore: true };
  }

  /** Those that are still hidden when it is decided. */
  async #remove(found: readonly (Item | undefined)[]): Promise<readonly Item[]> {
    const items = found.filter((item) => item !== undefined);
    const removed: Item[] = [];
    if (items.length === 0) return removed;
    const keys = items.map(({ primary }) => itemKeyOf(primary));
    await this.#partition.write({
      keys,
      includesHidden: true,
      decide: (current) => {
        removed.length = 0;
        return keys.flatMap((key, at): readonly Mutation[] => {
          const item = current[at];
          const cause = item && this.#partition.hidden?.causeOf(item);
          if (item === undefined || cause === undefined) return [];
          removed.push(item);
          return [{ kind: 'delete', key, cause }];
        });
      },
    });
    return removed;
  }
}
