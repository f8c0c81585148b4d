/** Deletes invisible items whose key or unique value a write is about to take. */
import type { Item, ItemKey } from '../item/item.ts';
import { itemKeyOf } from '../item/keyspace.ts';
import { countChange } from '../state.ts';
import type { Decided } from './attempt.ts';
import type { Mutation } from './command/write-command.ts';
import type { CommitGroup, Stamped } from './commit-group.ts';
import type { CommitterOptions } from './committer-options.ts';
import type { KeyMap } from './key-map.ts';
import type { PendingChange } from './pending-change.ts';

export class InvisibleDeletions {
  readonly #options: Pick<CommitterOptions, 'state' | 'history' | 'visibility'>;
  readonly #overlay: KeyMap<PendingChange>;
  readonly #openGroup: () => CommitGroup;

  constructor(
    options: Pick<CommitterOptions, 'state' | 'history' | 'visibility'>,
    overlay: KeyMap<PendingChange>,
    openGroup: () => CommitGroup,
  ) {
    this.#options = options;
    this.#overlay = overlay;
    this.#openGroup = openGroup;
  }

  /** Deletes invisible items under the keys that are about to be written. */
  under(
    keys: readonly ItemKey[],
    { items, current }: Decided,
    mutations: readonly Mutation[],
    at: Stamped,
  ): void {
    for (const item of replaced({ items, current }, keys, mutations))
      this.#delete(itemKeyOf(item.primary), item, at);
  }

  /** Deletes the invisible owner of unique values that another item takes, unless `under` already has. */
  owner(item: Item, at: Stamped): void {
    const key = itemKeyOf(item.primary);
    const pending = this.#overlay.get(key);
    if (pending === undefined || pending.after === item) this.#delete(key, item, at);
  }

  #delete(key: ItemKey, item: Item, at: Stamped): void {
    const { state, history, visibility } = this.#options;
    const group = this.#openGroup();
    const isExpired = visibility.decided?.causeOf(item) === 'expired';
    group.change(key, { current: item, after: undefined, value: undefined }, at);
    if (history.isKept)
      history.note(group, { previous: item, item: undefined, operation: 0, isExpired }, at);
    countChange(state, item, undefined);
  }
}

/** The invisible items under the keys that a decision writes. */
export function replaced(
  { items, current }: Decided,
  keys: readonly ItemKey[],
  mutations: readonly Mutation[],
): readonly Item[] {
  const isGone = (item: Item | undefined, at: number): item is Item =>
    item !== undefined && current[at] === undefined;
  if (!items.some(isGone)) return [];
  const written = new Set(mutations.map(({ key }) => key.text));
  return items.filter((item, at): item is Item => {
    const key = keys[at];
    return isGone(item, at) && key !== undefined && written.has(key.text);
  });
}
