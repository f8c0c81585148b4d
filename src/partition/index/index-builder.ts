/**
 * Builds the index of a partition under a new policy while reads and writes go on. It walks the records in rid order
 * and indexes each as the committer then knows it; where it is, is stored with the entries, so that it goes on after a
 * crash. Until it is done queries do not use the index.
 */
import { DomainError } from '../../base/index.ts';
import type { WriteCommand } from '../commit/write-command.ts';
import type { ItemKey } from '../item/item.ts';
import { itemKeyOf } from '../item/keyspace.ts';
import type { Partition } from '../partition.ts';
import type { IndexState } from './index-state.ts';

/** Items of one step; small, so that writers hardly wait. */
const STEP_ITEMS = 100;
const STEP_BYTES = 1024 * 1024;

/** `isCurrent` is false once another policy came, or the partition takes no more writes. */
export async function buildIndex(
  partition: Partition,
  start: IndexState,
  isCurrent: () => boolean,
): Promise<void> {
  let state = start;
  while (state.builtTo !== 'all' && isCurrent()) {
    const page = await partition.stored.scanByRid(
      {
        after: state.builtTo === 0 ? undefined : state.builtTo.toString(36),
        limit: STEP_ITEMS,
        bytesMax: STEP_BYTES,
      },
      undefined,
    );
    const last = page.items.at(-1);
    const builtTo = page.next === undefined || last === undefined ? 'all' : last.rid;
    state = { fingerprint: state.fingerprint, builtTo };
    await partition.indexItems(
      page.items.map(({ primary }) => itemKeyOf(primary)),
      state,
      isCurrent,
    );
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Indexes items as they are when it is decided, and notes how far the building got. */
export function reindexing(
  keys: readonly ItemKey[],
  indexState: IndexState,
  isCurrent: () => boolean,
): WriteCommand {
  return {
    keys,
    decide: () => {
      if (!isCurrent()) throw new DomainError('unavailable', 'Another indexing policy came.');
      return keys.map((key) => ({ kind: 'reindex', key }));
    },
    indexState,
    includesHidden: true,
  };
}
