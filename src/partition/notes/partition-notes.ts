/** The notes of an open partition, for readers, movers and the sweeper. */
import { andThen, append, type Bytes, type Clock, type MaybePromise } from '../../base/index.ts';
import type { Entry, Store } from '../../engine/index.ts';
import type { Epk } from '../../value/index.ts';
import type { WriteCommand } from '../commit/command/write-command.ts';
import type { EpkRange } from '../read/scan.ts';
import { decodeNote, expiryOfNote, noteKey, noteRange } from './note.ts';
import { firstExpiry } from './note-book.ts';

const PAGE_BYTES = 4 * 1024 * 1024;
/** Notes that one step of the sweeper looks at. */
const STEP_NOTES = 1000;

/** Any key of the notes, below and above all effective partition keys. */
const ALL = { min: new Uint8Array(0), max: Uint8Array.of(0xff) };

interface PartitionNotesOptions {
  readonly store: Store;
  readonly clock: Clock;
}

interface NotePage {
  readonly entries: readonly Entry[];
  /** Position of the next page; undefined at the end. */
  readonly next: Bytes | undefined;
}

/** The notes that became durable since it was opened. */
export interface NoteFollower {
  /** Removes and returns them. */
  take(): readonly Entry[];
  close(): void;
}

export class PartitionNotes {
  readonly #options: PartitionNotesOptions;
  readonly #followers = new Set<Entry[]>();
  /** No note expires before; 0 until the notes were looked at. */
  #dueSec = 0;
  /** Position of the sweeper's pass, and the first expiry that it has found. */
  #sweptTo: Bytes | undefined;
  #firstFound = Number.POSITIVE_INFINITY;

  constructor(options: PartitionNotesOptions) {
    this.#options = options;
  }

  /** The bytes of a durable note; undefined where there is none, or where it has expired. */
  read(epk: Epk, owner: Bytes): MaybePromise<Bytes | undefined> {
    const { store, clock } = this.#options;
    return andThen(
      store.get(noteKey(epk, owner)),
      (value) => value && decodeNote(value, clock.nowMs()),
    );
  }

  /** Called with the notes of a durable group. */
  published(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    const first = firstExpiry(entries);
    this.#dueSec = Math.min(this.#dueSec, first);
    this.#firstFound = Math.min(this.#firstFound, first);
    for (const list of this.#followers) append(list, entries);
  }

  follow(): NoteFollower {
    const list: Entry[] = [];
    this.#followers.add(list);
    return { take: () => list.splice(0), close: () => this.#followers.delete(list) };
  }

  /** Notes of a part of the hash space, in the order of their keys. */
  page({ min, max }: EpkRange, from: Bytes | undefined): MaybePromise<NotePage> {
    const { start, end } = noteRange(min, max);
    const scan = { limit: STEP_NOTES, bytesMax: PAGE_BYTES };
    return andThen(
      this.#options.store.scan({ start: from ?? start, end }, scan),
      ({ entries, more }) => {
        const last = entries.at(-1);
        const next = more && last !== undefined ? Buffer.concat([last.key, ZERO]) : undefined;
        return { entries, next };
      },
    );
  }

  get isSweepDue(): boolean {
    return this.#dueSec * 1000 <= this.#options.clock.nowMs();
  }

  /** Removes expired notes of one page. True where more may have expired. */
  async sweep(write: (command: WriteCommand) => Promise<unknown>): Promise<boolean> {
    if (!this.isSweepDue) return false;
    if (this.#sweptTo === undefined) this.#firstFound = Number.POSITIVE_INFINITY;
    const { entries, next } = await this.page(ALL, this.#sweptTo);
    const nowMs = this.#options.clock.nowMs();
    const expired = entries.filter(({ value }) => decodeNote(value, nowMs) === undefined);
    const kept = entries.filter(({ value }) => expiryOfNote(value) * 1000 > nowMs);
    if (expired.length > 0)
      await write({
        keys: [],
        usesNotes: true,
        decide: (_current, { notes }) => {
          for (const { key } of expired) notes.removeExpired(key);
          return [];
        },
      });
    this.#firstFound = Math.min(this.#firstFound, firstExpiry(kept));
    this.#sweptTo = next;
    if (next === undefined) this.#dueSec = this.#firstFound;
    return next !== undefined;
  }
}

const ZERO = Uint8Array.of(0);
