/** Moves notes beside the items: first all that are stored, then those written meanwhile. */
import { type Bytes, compareBytes } from '../../base/index.ts';
import {
  type EpkRange,
  epkOfNote,
  type Lsn,
  type NoteFollower,
  type Partition,
} from '../../partition/index.ts';

interface NoteTarget extends EpkRange {
  readonly partition: Partition;
}

type NoteEntry = ReturnType<NoteFollower['take']>[number];

export class MovedNotes {
  readonly #followers: ReadonlyMap<Partition, NoteFollower>;
  readonly #targets: readonly NoteTarget[];

  /** Follows the sources from now on; the caller closes it. */
  constructor(sources: readonly Partition[], targets: readonly NoteTarget[]) {
    this.#followers = new Map(sources.map((source) => [source, source.notes.follow()]));
    this.#targets = targets;
  }

  /** Copies what is stored. Notes that are written again meanwhile are caught up later. */
  async copy(source: Partition, signal: AbortSignal): Promise<void> {
    for (const target of this.#targets) {
      let from: Bytes | undefined;
      do {
        signal.throwIfAborted();
        const page = await source.notes.page(target, from);
        if (page.entries.length > 0) await target.partition.imports.notes(page.entries, 0);
        from = page.next;
      } while (from !== undefined);
    }
  }

  /** Imports that are not durable yet are added to `pending`, or awaited where it is not given. */
  async catchUp(source: Partition, upTo: Lsn, pending?: Promise<unknown>[]): Promise<void> {
    const entries = this.#followers.get(source)?.take() ?? [];
    if (entries.length === 0) return;
    for (const target of this.#targets) {
      const own = entries.filter((entry) => isIn(target, entry));
      if (own.length === 0) continue;
      const imported = target.partition.imports.notes(own, upTo);
      if (pending === undefined) await imported;
      else pending.push(imported);
    }
  }

  close(): void {
    for (const follower of this.#followers.values()) follower.close();
  }
}

function isIn({ min, max }: EpkRange, { key }: NoteEntry): boolean {
  const epk = epkOfNote(key);
  return compareBytes(min, epk) <= 0 && compareBytes(epk, max) < 0;
}
