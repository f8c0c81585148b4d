/**
 * Which of the stored items are there: for readers by what is durable, for decisions by what is decided. Both change
 * with the container's time to live and with every erasure.
 */
import type { Clock } from '../base/index.ts';
import type { CommitGroup } from './commit-group.ts';
import { type Erasure, type HiddenItems, hiddenItems } from './hidden.ts';
import type { Item, Lsn } from './item.ts';
import type { ItemPage } from './scan.ts';
import { Sweeper, type SweepStep, type SweptPartition } from './sweeper.ts';

export interface LifetimesOptions {
  readonly clock: Clock;
  /** Seconds items live that do not say themselves; -1 for ever; undefined: nothing expires. */
  readonly defaultTtlSec: number | undefined;
  /** As stored. */
  readonly erasures: readonly Erasure[];
}

export class Lifetimes {
  readonly #clock: Clock;
  #defaultTtlSec: number | undefined;
  /** What readers pass over. */
  hidden: HiddenItems | undefined;
  /** What decisions pass over: ahead of readers by the writes under way. */
  decided: HiddenItems | undefined;
  /** Made when first asked for. */
  #sweeper: Sweeper | undefined;

  constructor({ clock, defaultTtlSec, erasures }: LifetimesOptions) {
    this.#clock = clock;
    this.#defaultTtlSec = defaultTtlSec;
    this.hidden = this.#hide(erasures);
    this.decided = this.hidden;
  }

  readonly shown = (item: Item | undefined): Item | undefined =>
    this.hidden === undefined ? item : this.hidden.shown(item);

  readonly shownPage = (page: ItemPage): ItemPage =>
    this.hidden === undefined
      ? page
      : { ...page, items: page.items.filter((item) => this.shown(item) !== undefined) };

  /** Holds from now on for all items, older ones too. */
  change(defaultTtlSec: number | undefined): void {
    if (defaultTtlSec === this.#defaultTtlSec) return;
    this.#defaultTtlSec = defaultTtlSec;
    this.decided = this.#hide(this.decided?.erasures ?? []);
    this.hidden = this.#hide(this.hidden?.erasures ?? []);
    this.#sweeper = undefined;
  }

  /** Decides what is erased from this LSN on; readers learn of it with the group. */
  erase(
    change: (current: readonly Erasure[]) => readonly Erasure[],
    group: CommitGroup,
    lsn: Lsn,
  ): void {
    group.erasures = change(this.decided?.erasures ?? []).map((erasure) =>
      erasure.lsn === 0 ? { ...erasure, lsn } : erasure,
    );
    this.decided = this.#hide(group.erasures);
  }

  /** A group is durable. */
  publish({ erasures, touched }: CommitGroup): void {
    if (erasures !== undefined) this.hidden = this.#hide(erasures);
    if (this.#sweeper === undefined || this.hidden === undefined) return;
    for (const { after } of touched)
      if (after !== undefined) this.#sweeper.noteWritten(after, this.hidden);
  }

  /** Removes some of the items that are no longer there. One step at a time. */
  sweep(partition: SweptPartition, itemsMax: number): Promise<SweepStep> {
    this.#sweeper ??= new Sweeper(partition, this.#clock);
    return this.#sweeper.step(itemsMax);
  }

  #hide(erasures: readonly Erasure[]): HiddenItems | undefined {
    return hiddenItems({ clock: this.#clock, defaultTtlSec: this.#defaultTtlSec, erasures });
  }
}
