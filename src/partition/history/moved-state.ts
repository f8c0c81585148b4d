/** Items that are moved from one partition to another, by what they are, not by what happened to them. */
import type { Mutation, WriteCommand } from '../commit/write-command.ts';
import type { Item, ItemKey, Lsn } from '../item/item.ts';

/** What an item is in the partition it is moved from; undefined: gone. */
export interface MovedState {
  readonly key: ItemKey;
  readonly item: Item | undefined;
}

/** Makes items what they are elsewhere at this LSN. Changes nothing where they are that already. */
export function importCommand(states: readonly MovedState[], upTo: Lsn): WriteCommand {
  return {
    keys: states.map(({ key }) => key),
    movedLsn: upTo,
    includesHidden: true,
    decide: (current) =>
      states.flatMap(({ key, item }, at): readonly Mutation[] => {
        const here = current[at];
        if (item === undefined) return here === undefined ? [] : [{ kind: 'delete', key }];
        if (here?.rid === item.rid && here.lsn === item.lsn) return [];
        // Another item under the same key: what was here is gone there.
        const gone: readonly Mutation[] =
          here === undefined || here.rid === item.rid ? [] : [{ kind: 'delete', key }];
        return [...gone, { kind: 'adopt', key, item }];
      }),
  };
}
