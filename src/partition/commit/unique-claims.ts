/**
 * The owners of unique values at a decision: as stored, as decided and not durable yet, and as changed so far by the
 * decision itself.
 */
import {
  type Bytes,
  bytesToLatin1,
  DomainError,
  isPromise,
  type MaybePromise,
} from '../../base/index.ts';
import type { Item, ItemKey } from '../item/item.ts';
import { itemKeyOf } from '../item/keyspace.ts';
import type { InvisibleItems } from '../lifetime/invisible-items.ts';
import type { CommitGroup } from './commit-group.ts';
import { type UniqueKeys, uniqueChanges } from './unique-keys.ts';
import type { Put } from './write-command.ts';

/** Thrown where an asynchronous engine has to be asked: the decision is made again when `ready` has resolved. */
export class Unready {
  readonly ready: Promise<unknown>;

  constructor(ready: Promise<unknown>) {
    this.ready = ready;
  }
}

/** Stored values and items, by their keys as texts. */
export type LookedUp = Map<string, unknown>;

interface ClaimsOptions {
  readonly readEntry: (key: Bytes) => MaybePromise<Bytes | undefined>;
  /** Reads an item as stored or decided, invisible ones too. */
  readonly readItem: (key: ItemKey) => MaybePromise<Item | undefined>;
  readonly invisible: () => InvisibleItems | undefined;
}

interface Pending {
  /** Key of the item that has the value, as text; undefined: none. */
  readonly owner: string | undefined;
  readonly group: CommitGroup;
}

export class UniqueClaims {
  readonly #options: ClaimsOptions;
  readonly #pending = new Map<string, Pending>();
  /** New owners by the decision under way. */
  readonly #taken = new Map<string, string | undefined>();
  /** Invisible items that lose their values by it. */
  #displaced: Item[] = [];
  /** Results of lookups for the present command, which may be decided again. */
  #lookedUp: LookedUp = new Map();
  /** The group of the last claim that a refusal depends on. */
  dependsOn: CommitGroup | undefined;
  readonly #keys: UniqueKeys;

  constructor(keys: UniqueKeys, options: ClaimsOptions) {
    this.#keys = keys;
    this.#options = options;
  }

  /** @param lookedUp - the same map for every decision of one command. */
  begin(lookedUp: LookedUp): void {
    this.#lookedUp = lookedUp;
    this.#taken.clear();
    this.#displaced = [];
    this.dependsOn = undefined;
  }

  /** Claims the values of a new body; throws `uniqueKeyViolation` where another item has one. */
  put(put: Put, previous: Item | undefined): void {
    const before = previous === undefined ? [] : this.#keys.entriesOf(previous);
    const after = this.#keys.entriesOfBody(put.key.primary, put.body, put.value);
    const { removed, added } = uniqueChanges(before, after);
    for (const entry of added) this.#take(entry, put.key.text);
    for (const entry of removed) this.#taken.set(entry, undefined);
  }

  delete(previous: Item | undefined): void {
    if (previous === undefined) return;
    for (const entry of this.#keys.entriesOf(previous)) this.#taken.set(entry, undefined);
  }

  /** The decision is applied; returns the invisible items that the same group has to delete. */
  applied(group: CommitGroup): readonly Item[] {
    for (const [entry, owner] of this.#taken) this.#pending.set(entry, { owner, group });
    return this.#displaced;
  }

  forget(group: CommitGroup): void {
    for (const [entry, pending] of this.#pending)
      if (pending.group === group) this.#pending.delete(entry);
  }

  clear(): void {
    this.#pending.clear();
  }

  #take(entry: string, key: string): void {
    const owner = this.#ownerOf(entry);
    if (owner !== undefined && owner !== key && !this.#displaces(owner))
      throw new DomainError('uniqueKeyViolation', 'Unique index constraint violation.');
    this.#taken.set(entry, key);
  }

  #ownerOf(entry: string): string | undefined {
    if (this.#taken.has(entry)) return this.#taken.get(entry);
    const pending = this.#pending.get(entry);
    if (pending !== undefined) {
      this.dependsOn = pending.group;
      return pending.owner;
    }
    const stored = this.#lookUp(entry, () =>
      this.#options.readEntry(Buffer.from(entry, 'latin1')),
    ) as Bytes | undefined;
    return stored && bytesToLatin1(stored);
  }

  /** True where the owner is gone or invisible. */
  #displaces(owner: string): boolean {
    const invisible = this.#options.invisible();
    if (invisible === undefined) return false;
    const item = this.#lookUp(owner, () =>
      this.#options.readItem(itemKeyOf(Buffer.from(owner, 'latin1'))),
    ) as Item | undefined;
    if (item === undefined) return true;
    if (invisible.causeOf(item) === undefined) return false;
    if (!this.#displaced.includes(item)) this.#displaced.push(item);
    return true;
  }

  #lookUp(name: string, read: () => MaybePromise<unknown>): unknown {
    if (this.#lookedUp.has(name)) return this.#lookedUp.get(name);
    const found = read();
    if (!isPromise(found)) return found;
    const lookedUp = this.#lookedUp;
    throw new Unready(found.then((value) => lookedUp.set(name, value)));
  }
}
