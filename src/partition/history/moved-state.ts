/** Items that are moved from one partition to another by their state, not by their writes. */
import { type Mutation, visible, type WriteCommand } from '../commit/command/write-command.ts';
import type { Item, ItemKey, Lsn } from '../item/item.ts';

/** The state of an item in the partition it is moved from; undefined: deleted. */
export interface MovedState {
  readonly key: ItemKey;
  readonly item: Item | undefined;
}

/**
 * Gives items the state that they have in another partition at this LSN. Changes nothing where they have it.
 * @param timestampSec - the time of the last write there, where it is known.
 */
export function importCommand(
  states: readonly MovedState[],
  upTo: Lsn,
  timestampSec = 0,
): WriteCommand {
  return {
    keys: states.map(({ key }) => key),
    movedLsn: upTo,
    movedTimestampSec: Math.max(timestampSec, ...states.map(({ item }) => item?.timestampSec ?? 0)),
    includesInvisible: true,
    decide: (current, { claims }) =>
      states.flatMap(({ key, item }, at): readonly Mutation[] => {
        const here = current[at];
        if (here?.rid === item?.rid && here?.lsn === item?.lsn) return [];
        claims?.move(key, visible(here), visible(item));
        if (item === undefined) return [{ kind: 'delete', key }];
        // Another item has the key now: the one here was deleted there.
        const deleted: readonly Mutation[] =
          here === undefined || here.rid === item.rid ? [] : [{ kind: 'delete', key }];
        return [...deleted, { kind: 'import', key, item }];
      }),
  };
}
