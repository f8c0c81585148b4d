/**
 * Removes invisible items in small steps: first those of range tombstones, then expired ones. A step is one decision of
 * the committer, so it never removes an item that was written again meanwhile. Its position is not stored: after a
 * restart it begins again and finds what is left.
 */
import type { Clock } from '../../base/index.ts';
import { expiryUpdater, runUpdater, type UpdateScope } from '../commit/command/updater.ts';
import type { Mutation, WriteCommand } from '../commit/command/write-command.ts';
import type { Item, ItemKey } from '../item/item.ts';
import { itemKeyOf } from '../item/keyspace.ts';
import type { StoredItems } from '../read/stored-items.ts';
import { ExpiryCalendar } from './expiry-calendar.ts';
import type { Cause, InvisibleItems, RangeTombstone } from './invisible-items.ts';

const STEP_BYTES = 4 * 1024 * 1024;

export interface SweepStep {
  readonly removed: readonly Item[];
  /** False where there is nothing more to remove for now. */
  readonly hasMore: boolean;
}

export interface SweptPartition {
  readonly stored: StoredItems;
  readonly invisible: InvisibleItems | undefined;
  write(command: WriteCommand): Promise<unknown>;
}

const NOTHING_TO_DO: SweepStep = { removed: [], hasMore: false };

export class Sweeper {
  readonly #partition: SweptPartition;
  readonly #clock: Clock;
  readonly #calendar: ExpiryCalendar;
  /** Position of the scan of all items; undefined at its beginning. */
  #scannedTo: string | undefined;
  #isScanning = false;
  /** Position in the items of the first range tombstone. */
  #deletedTo: string | undefined;

  constructor(partition: SweptPartition, clock: Clock, calendar = new ExpiryCalendar()) {
    this.#partition = partition;
    this.#clock = clock;
    this.#calendar = calendar;
  }

  /** Called for every item that is written. */
  noteWritten(item: Item, invisible: InvisibleItems): void {
    this.#calendar.note(item.rid, invisible.expiresAtSec(item));
  }

  /** One step at a time. */
  async step(itemsMax: number): Promise<SweepStep> {
    const { invisible, stored } = this.#partition;
    if (invisible === undefined) return NOTHING_TO_DO;
    const [tombstone] = invisible.rangeTombstones;
    if (tombstone !== undefined) return this.#sweepRange(tombstone, itemsMax);
    const nowSec = Math.floor(this.#clock.nowMs() / 1000);
    const rids = this.#calendar.takeDue(nowSec, itemsMax);
    if (rids.length > 0) {
      try {
        const items = await Promise.all(rids.map((rid) => stored.readByRid(rid)));
        return { removed: await this.#remove(items), hasMore: true };
      } catch (error) {
        // The items go back into the calendar: a fenced partition may be unfenced, and no scan is due.
        for (const rid of rids) this.#calendar.note(rid, nowSec);
        throw error;
      }
    }
    if (this.#isScanning || this.#calendar.needsScan(nowSec))
      return this.#scan(invisible, itemsMax);
    return NOTHING_TO_DO;
  }

  async #scan(invisible: InvisibleItems, itemsMax: number): Promise<SweepStep> {
    if (!this.#isScanning) {
      this.#isScanning = true;
      this.#scannedTo = undefined;
      this.#calendar.beginScan();
    }
    const scan = { after: this.#scannedTo, limit: itemsMax, bytesMax: STEP_BYTES };
    const { items, next } = await this.#partition.stored.scanByRid(scan, undefined);
    const found: Item[] = [];
    for (const item of items) {
      if (invisible.causeOf(item) === undefined) this.noteWritten(item, invisible);
      else found.push(item);
    }
    const removed = await this.#remove(found);
    this.#scannedTo = next;
    this.#isScanning = next !== undefined;
    return { removed, hasMore: next !== undefined };
  }

  async #sweepRange(tombstone: RangeTombstone, itemsMax: number): Promise<SweepStep> {
    const scan = { after: this.#deletedTo, limit: itemsMax, bytesMax: STEP_BYTES };
    const { items, next } = await this.#partition.stored.scanByKey(scan, tombstone);
    const removed = await this.#remove(items);
    this.#deletedTo = next;
    if (next === undefined)
      await this.#partition.write({
        keys: [],
        decide: () => [],
        rangeTombstones: (list) => list.filter(({ lsn }) => lsn !== tombstone.lsn),
      });
    return { removed, hasMore: true };
  }

  /** Removes the items that are still invisible at the decision. */
  async #remove(found: readonly (Item | undefined)[]): Promise<readonly Item[]> {
    const items = found.filter((item) => item !== undefined);
    const removed: Item[] = [];
    if (items.length === 0) return removed;
    const keys = items.map(({ primary }) => itemKeyOf(primary));
    await this.#partition.write({
      keys,
      includesInvisible: true,
      decide: (current, context) => {
        removed.length = 0;
        return keys.flatMap((key, at): readonly Mutation[] => {
          const item = current[at];
          const cause = item && this.#partition.invisible?.causeOf(item);
          if (item === undefined || cause === undefined) return [];
          removed.push(item);
          const mutation = removal(key, item, cause, context);
          if (mutation.kind === 'delete' && !item.isInternal) context.claims?.delete(item);
          return [mutation];
        });
      },
    });
    return removed;
  }
}

/** Deletes an item, or puts what stays of it for later decisions. */
function removal(key: ItemKey, item: Item, cause: Cause, scope: UpdateScope): Mutation {
  const { encoding } = item;
  const updater =
    cause === 'expired' && !item.isInternal ? expiryUpdater(encoding, scope.updaters) : undefined;
  if (updater === undefined) return { kind: 'delete', key, cause };
  const left = runUpdater({ updater, args: new Uint8Array(0) }, [item], scope);
  if (left.kind !== 'put') return { kind: 'delete', key, cause };
  const { body, ttlSec, flags } = left;
  return { kind: 'put', key, encoding, body, ttlSec, flags };
}
