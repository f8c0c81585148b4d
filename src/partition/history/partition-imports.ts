/** What a partition takes over from another one: items, history, range tombstones and notes, as they are there. */
import type { Entry } from '../../engine/index.ts';
import type { WriteCommand } from '../commit/command/write-command.ts';
import type { Lsn } from '../item/item.ts';
import type { RangeTombstone } from '../lifetime/invisible-items.ts';
import type { MovedEntry } from './moved-history.ts';
import { importCommand, type MovedState } from './moved-state.ts';

export class PartitionImports {
  readonly #commit: (command: WriteCommand) => Promise<unknown>;
  readonly #flushIndex: () => Promise<void>;

  constructor(
    commit: (command: WriteCommand) => Promise<unknown>,
    flushIndex: () => Promise<void>,
  ) {
    this.#commit = commit;
    this.#flushIndex = flushIndex;
  }

  /** The same as `items`, for a copy: after a crash their index entries may be lost until `endCopy` has resolved. */
  async copy(states: readonly MovedState[]): Promise<void> {
    await this.#commit({ ...importCommand(states, 0), isCopy: true });
  }

  /** Stores the index entries of all that was copied. Where that fails, the partition has failed. */
  endCopy(): Promise<void> {
    return this.#flushIndex();
  }

  /**
   * Items in their present state there, or that they are deleted. Importing the same state twice changes nothing. The
   * change log keeps the LSNs of the other partition.
   * @param timestampSec - the time of the last write there, where it is known.
   */
  async items(states: readonly MovedState[], upTo: Lsn, timestampSec = 0): Promise<void> {
    await this.#commit(importCommand(states, upTo, timestampSec));
  }

  /** Tombstones and versions. */
  async history(entries: readonly MovedEntry[], upTo: Lsn): Promise<void> {
    await this.#commit({ ...importCommand([], upTo), movedHistory: entries });
  }

  async notes(entries: readonly Entry[], upTo: Lsn): Promise<void> {
    const decide: WriteCommand['decide'] = (_current, { notes }) => {
      for (const { key, value } of entries) notes.put(key, value);
      return [];
    };
    await this.#commit({ keys: [], usesNotes: true, decide, movedLsn: upTo });
  }

  async rangeTombstones(tombstones: readonly RangeTombstone[], upTo: Lsn): Promise<void> {
    if (tombstones.length === 0) return;
    await this.#commit({
      keys: [],
      decide: () => [],
      movedLsn: upTo,
      rangeTombstones: () => tombstones,
    });
  }
}
