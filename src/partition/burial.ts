/** What is hidden goes for good before something else takes its place. */
import type { Decided } from './attempt.ts';
import type { CommitGroup, Stamped, Touched } from './commit-group.ts';
import type { CommitterOptions } from './committer-options.ts';
import type { Mutation } from './intent.ts';
import type { Item, ItemKey } from './item.ts';
import type { KeyMap } from './key-map.ts';
import { itemKeyOf } from './keyspace.ts';
import { countChange } from './state.ts';

export class Burial {
  readonly #options: Pick<CommitterOptions, 'state' | 'history' | 'lifetimes'>;
  readonly #overlay: KeyMap<Touched>;
  readonly #gathering: () => CommitGroup;

  constructor(
    options: Pick<CommitterOptions, 'state' | 'history' | 'lifetimes'>,
    overlay: KeyMap<Touched>,
    gathering: () => CommitGroup,
  ) {
    this.#options = options;
    this.#overlay = overlay;
    this.#gathering = gathering;
  }

  /** Hidden items under the keys that are about to be written. */
  under(
    keys: readonly ItemKey[],
    { items, current }: Decided,
    mutations: readonly Mutation[],
    at: Stamped,
  ): void {
    const touched = new Set(mutations.map(({ key }) => key.text));
    keys.forEach((key, index) => {
      const item = items[index];
      if (item !== undefined && current[index] === undefined && touched.has(key.text))
        this.#bury(key, item, at);
    });
  }

  /** The hidden owner of values that another item takes. It may lie under one of the writes and be buried already. */
  owner(item: Item, at: Stamped): void {
    const key = itemKeyOf(item.primary);
    const pending = this.#overlay.get(key);
    if (pending === undefined || pending.after === item) this.#bury(key, item, at);
  }

  #bury(key: ItemKey, item: Item, at: Stamped): void {
    const { state, history, lifetimes } = this.#options;
    const group = this.#gathering();
    const isExpired = lifetimes.decided?.causeOf(item) === 'expired';
    group.change(key, { current: item, after: undefined, value: undefined }, at);
    if (history.isKept)
      history.note(group, { previous: item, item: undefined, operation: 0, isExpired }, at);
    countChange(state, item, undefined);
  }
}
