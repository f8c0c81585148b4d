/**
 * Notes at a decision: as stored, as decided and not durable yet, and as written so far by the decision itself. Commands
 * without notes do not touch it.
 */
import { type Bytes, bytesToLatin1, type Clock, type MaybePromise } from '../../base/index.ts';
import type { CommitGroup } from '../commit/commit-group.ts';
import { type LookedUp, lookUp } from '../commit/looked-up.ts';
import { decodeNote, expiryOfNote } from './note.ts';

interface NoteBookOptions {
  readonly clock: Clock;
  readonly readEntry: (key: Bytes) => MaybePromise<Bytes | undefined>;
}

interface PendingNote {
  /** Undefined: removed. */
  readonly value: Bytes | undefined;
  readonly group: CommitGroup;
}

export class NoteBook {
  readonly #options: NoteBookOptions;
  readonly #pending = new Map<string, PendingNote>();
  /** Changes by the decision under way. */
  readonly #changed = new Map<string, { readonly key: Bytes; readonly value: Bytes | undefined }>();
  #lookedUp: LookedUp = new Map();
  /** The group of the latest note that was found and is not durable. */
  dependsOn: CommitGroup | undefined;

  constructor(options: NoteBookOptions) {
    this.#options = options;
  }

  /** @param lookedUp - the same map for every decision of one command. */
  begin(lookedUp: LookedUp): void {
    this.#lookedUp = lookedUp;
    this.#changed.clear();
    this.dependsOn = undefined;
  }

  /** The bytes of a note; undefined where there is none, or where it has expired. */
  find(key: Bytes): Bytes | undefined {
    const value = this.#valueOf(key);
    return value && decodeNote(value, this.#options.clock.nowMs());
  }

  put(key: Bytes, value: Bytes): void {
    this.#changed.set(bytesToLatin1(key), { key, value });
  }

  /** Removes the note where it has expired. */
  removeExpired(key: Bytes): void {
    const value = this.#valueOf(key);
    if (value !== undefined && decodeNote(value, this.#options.clock.nowMs()) === undefined)
      this.#changed.set(bytesToLatin1(key), { key, value: undefined });
  }

  /** Forgets what a refused decision has written. */
  drop(): void {
    this.#changed.clear();
  }

  get isChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** The decision is applied: its notes become part of the group. */
  applied(group: CommitGroup): void {
    for (const [name, { key, value }] of this.#changed) {
      this.#pending.set(name, { value, group });
      if (value === undefined) group.remove(key);
      else group.addNote(name, { key, value });
    }
    this.#changed.clear();
  }

  forget(group: CommitGroup): void {
    if (this.#pending.size === 0) return;
    for (const [name, pending] of this.#pending)
      if (pending.group === group) this.#pending.delete(name);
  }

  clear(): void {
    this.#pending.clear();
  }

  #valueOf(key: Bytes): Bytes | undefined {
    const name = bytesToLatin1(key);
    const changed = this.#changed.get(name);
    if (changed !== undefined) return changed.value;
    const pending = this.#pending.get(name);
    if (pending === undefined)
      return lookUp(this.#lookedUp, name, () => this.#options.readEntry(key));
    this.dependsOn = pending.group;
    return pending.value;
  }
}

/** When the first of some notes expires; Infinity for none. */
export function firstExpiry(values: Iterable<{ readonly value: Bytes }>): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { value } of values) first = Math.min(first, expiryOfNote(value));
  return first;
}
