/**
 * Which of the stored items are visible: for readers by what is durable, for decisions by what is decided. Both change
 * with the container's time to live and with every range tombstone.
 */
import type { Clock } from '../../base/index.ts';
import type { CommitGroup } from '../commit/commit-group.ts';
import type { Item, Lsn } from '../item/item.ts';
import type { ItemPage } from '../read/scan.ts';
import { type InvisibleItems, invisibleItems, type RangeTombstone } from './invisible-items.ts';
import { Sweeper, type SweepStep, type SweptPartition } from './sweeper.ts';

interface ItemVisibilityOptions {
  readonly clock: Clock;
  /** Time to live of items without their own; -1: for ever; undefined: nothing expires. */
  readonly defaultTtlSec: number | undefined;
  /** As stored. */
  readonly rangeTombstones: readonly RangeTombstone[];
  /** Whether shadows or headers are stored. */
  readonly hasInternal: boolean;
  /** Whether something of an expired item stays for later decisions. */
  readonly leavesShadow?: ((item: Item) => boolean) | undefined;
}

export class ItemVisibility {
  readonly #clock: Clock;
  #defaultTtlSec: number | undefined;
  #hasInternal: boolean;
  readonly #leavesShadow: (item: Item) => boolean;
  /** The items that readers skip. */
  invisible: InvisibleItems | undefined;
  /** The items that decisions skip: ahead of readers by the writes that are not durable yet. */
  decided: InvisibleItems | undefined;
  /** Made at the first sweep. */
  #sweeper: Sweeper | undefined;

  constructor(options: ItemVisibilityOptions) {
    const { clock, defaultTtlSec, rangeTombstones, hasInternal } = options;
    this.#leavesShadow = options.leavesShadow ?? (() => false);
    this.#clock = clock;
    this.#defaultTtlSec = defaultTtlSec;
    this.#hasInternal = hasInternal;
    this.invisible = this.#forReaders(rangeTombstones);
    this.decided = this.#forDecisions(rangeTombstones);
  }

  readonly visible = (item: Item | undefined): Item | undefined =>
    this.invisible === undefined ? item : this.invisible.visible(item);

  readonly visiblePage = (page: ItemPage): ItemPage =>
    this.invisible === undefined
      ? page
      : { ...page, items: page.items.filter((item) => this.visible(item) !== undefined) };

  /** The same with shadows and headers. */
  readonly present = (item: Item | undefined): Item | undefined =>
    this.invisible === undefined ? item : this.invisible.present(item);

  /** Takes effect at once, for older items too. */
  change(defaultTtlSec: number | undefined): void {
    if (defaultTtlSec === this.#defaultTtlSec) return;
    this.#defaultTtlSec = defaultTtlSec;
    this.decided = this.#forDecisions(this.decided?.rangeTombstones ?? []);
    this.invisible = this.#forReaders(this.invisible?.rangeTombstones ?? []);
    this.#sweeper = undefined;
  }

  /** Changes the range tombstones for decisions at once, for readers when the group is published. */
  deleteRange(
    change: (current: readonly RangeTombstone[]) => readonly RangeTombstone[],
    group: CommitGroup,
    lsn: Lsn,
  ): void {
    group.rangeTombstones = change(this.decided?.rangeTombstones ?? []).map((tombstone) =>
      tombstone.lsn === 0 ? { ...tombstone, lsn } : tombstone,
    );
    this.decided = this.#forDecisions(group.rangeTombstones);
  }

  /** Makes the range tombstones of a durable group visible to readers. */
  publish({ rangeTombstones, pending, hasInternal }: CommitGroup): void {
    const isFirst = hasInternal && !this.#hasInternal;
    this.#hasInternal ||= hasInternal;
    if (rangeTombstones !== undefined || isFirst)
      this.invisible = this.#forReaders(rangeTombstones ?? this.invisible?.rangeTombstones ?? []);
    if (this.#sweeper === undefined || this.invisible === undefined) return;
    for (const { after } of pending)
      if (after !== undefined) this.#sweeper.noteWritten(after, this.invisible);
  }

  /** Removes some of the invisible items. One step at a time. */
  sweep(partition: SweptPartition, itemsMax: number): Promise<SweepStep> {
    this.#sweeper ??= new Sweeper(partition, this.#clock);
    return this.#sweeper.step(itemsMax);
  }

  #forReaders(rangeTombstones: readonly RangeTombstone[]): InvisibleItems | undefined {
    return this.#items(rangeTombstones, this.#hasInternal);
  }

  /** Decisions see shadows and headers. */
  #forDecisions(rangeTombstones: readonly RangeTombstone[]): InvisibleItems | undefined {
    return this.#items(rangeTombstones, false);
  }

  #items(
    rangeTombstones: readonly RangeTombstone[],
    hasInternal: boolean,
  ): InvisibleItems | undefined {
    const [clock, defaultTtlSec] = [this.#clock, this.#defaultTtlSec];
    const leavesShadow = this.#leavesShadow;
    return invisibleItems({ clock, defaultTtlSec, rangeTombstones, hasInternal, leavesShadow });
  }
}
