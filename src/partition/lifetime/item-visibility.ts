/**
 * Which of the stored items are there: for readers by what is durable, for decisions by what is decided. Both change
 * with the container's time to live and with every erasure.
 */
import type { Clock } from '../../base/index.ts';
import type { CommitGroup } from '../commit/commit-group.ts';
import type { Item, Lsn } from '../item/item.ts';
import type { ItemPage } from '../read/scan.ts';
import { type InvisibleItems, invisibleItems, type RangeTombstone } from './invisible-items.ts';
import { Sweeper, type SweepStep, type SweptPartition } from './sweeper.ts';

interface ItemVisibilityOptions {
  readonly clock: Clock;
  /** Seconds items live that do not say themselves; -1 for ever; undefined: nothing expires. */
  readonly defaultTtlSec: number | undefined;
  /** As stored. */
  readonly rangeTombstones: readonly RangeTombstone[];
}

export class ItemVisibility {
  readonly #clock: Clock;
  #defaultTtlSec: number | undefined;
  /** What readers pass over. */
  hidden: InvisibleItems | undefined;
  /** What decisions pass over: ahead of readers by the writes under way. */
  decided: InvisibleItems | undefined;
  /** Made when first asked for. */
  #sweeper: Sweeper | undefined;

  constructor({ clock, defaultTtlSec, rangeTombstones }: ItemVisibilityOptions) {
    this.#clock = clock;
    this.#defaultTtlSec = defaultTtlSec;
    this.hidden = this.#hide(rangeTombstones);
    this.decided = this.hidden;
  }

  readonly visible = (item: Item | undefined): Item | undefined =>
    this.hidden === undefined ? item : this.hidden.visible(item);

  readonly visiblePage = (page: ItemPage): ItemPage =>
    this.hidden === undefined
      ? page
      : { ...page, items: page.items.filter((item) => this.visible(item) !== undefined) };

  /** Holds from now on for all items, older ones too. */
  change(defaultTtlSec: number | undefined): void {
    if (defaultTtlSec === this.#defaultTtlSec) return;
    this.#defaultTtlSec = defaultTtlSec;
    this.decided = this.#hide(this.decided?.rangeTombstones ?? []);
    this.hidden = this.#hide(this.hidden?.rangeTombstones ?? []);
    this.#sweeper = undefined;
  }

  /** Decides what is erased from this LSN on; readers learn of it with the group. */
  deleteRange(
    change: (current: readonly RangeTombstone[]) => readonly RangeTombstone[],
    group: CommitGroup,
    lsn: Lsn,
  ): void {
    group.rangeTombstones = change(this.decided?.rangeTombstones ?? []).map((erasure) =>
      erasure.lsn === 0 ? { ...erasure, lsn } : erasure,
    );
    this.decided = this.#hide(group.rangeTombstones);
  }

  /** A group is durable. */
  publish({ rangeTombstones, pending }: CommitGroup): void {
    if (rangeTombstones !== undefined) this.hidden = this.#hide(rangeTombstones);
    if (this.#sweeper === undefined || this.hidden === undefined) return;
    for (const { after } of pending)
      if (after !== undefined) this.#sweeper.noteWritten(after, this.hidden);
  }

  /** Removes some of the items that are no longer there. One step at a time. */
  sweep(partition: SweptPartition, itemsMax: number): Promise<SweepStep> {
    this.#sweeper ??= new Sweeper(partition, this.#clock);
    return this.#sweeper.step(itemsMax);
  }

  #hide(rangeTombstones: readonly RangeTombstone[]): InvisibleItems | undefined {
    return invisibleItems({
      clock: this.#clock,
      defaultTtlSec: this.#defaultTtlSec,
      rangeTombstones,
    });
  }
}
