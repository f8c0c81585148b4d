/**
 * The owners of unique values at a decision: as stored, as decided and not durable yet, and as changed so far by the
 * decision itself.
 */
import { type Bytes, bytesToLatin1, DomainError, type MaybePromise } from '../../../base/index.ts';
import type { Value } from '../../../value/index.ts';
import type { Item, ItemKey } from '../../item/item.ts';
import { itemKeyOf } from '../../item/keyspace.ts';
import type { InvisibleItems } from '../../lifetime/invisible-items.ts';
import type { Put } from '../command/write-command.ts';
import type { CommitGroup } from '../commit-group.ts';
import { type LookedUp, lookUp, lookUpAll } from '../looked-up.ts';
import { type UniqueKeys, uniqueChanges } from './unique-keys.ts';

interface ClaimsOptions {
  readonly readEntry: (key: Bytes) => MaybePromise<Bytes | undefined>;
  /** Reads an item as stored or decided, invisible ones too. */
  readonly readItem: (key: ItemKey) => MaybePromise<Item | undefined>;
  readonly invisible: () => InvisibleItems | undefined;
  /**
   * Whether a unique index lacks entries of items. Two items may then have a value of which one has the entry, so that
   * the other must not take it along.
   */
  readonly isIncomplete: () => boolean;
}

/** A body that is not stored yet; `value` is the decoded one, where the caller has it. */
type NextBody = Pick<Put, 'body' | 'value'>;

interface Pending {
  /** Key of the item that has the value, as text; undefined: none. */
  readonly owner: string | undefined;
  readonly group: CommitGroup;
}

/** The refusal of a body that has the value of an entry of another item. */
export function uniqueViolation(
  keys: UniqueKeys,
  entry: string,
  { body, value }: NextBody,
): DomainError {
  const refusal = new DomainError('uniqueKeyViolation', 'Unique index constraint violation.');
  refusal.details = keys.violated(entry, body, value);
  return refusal;
}

export class UniqueClaims {
  readonly #options: ClaimsOptions;
  readonly #pending = new Map<string, Pending>();
  /** New owners by the decision under way. */
  readonly #taken = new Map<string, string | undefined>();
  /** Whether it takes items over from another partition. */
  #isMoving = false;
  /** Invisible items that lose their values by it. */
  #displaced: Item[] = [];
  /** Results of lookups for the present command, which may be decided again. */
  #lookedUp: LookedUp = new Map();
  /** The group of the last claim that a refusal depends on. */
  dependsOn: CommitGroup | undefined;
  #keys: UniqueKeys;

  constructor(keys: UniqueKeys, options: ClaimsOptions) {
    this.#keys = keys;
    this.#options = options;
  }

  /** The constraints from now on. Claims of the writes under way stay. */
  change(keys: UniqueKeys): void {
    this.#keys = keys;
  }

  /** @param lookedUp - the same map for every decision of one command. */
  begin(lookedUp: LookedUp): void {
    this.#lookedUp = lookedUp;
    this.#taken.clear();
    this.#isMoving = false;
    this.#displaced = [];
    this.dependsOn = undefined;
  }

  /** Claims the values of a new body; throws `uniqueKeyViolation` where another item has one. */
  put(put: Put, previous: Item | undefined): void {
    const before = previous === undefined ? [] : this.#keys.entriesOf(previous);
    const after = this.#keys.entriesOfBody(put.key.primary, put.body, put.value);
    const { removed, added } = uniqueChanges(before, after);
    this.#askForOwners(added);
    // All are checked before one is taken: other operations of the command may go on after a refusal.
    for (const entry of added) this.#check(entry, put.key.text, put.body, put.value);
    for (const entry of added) this.#taken.set(entry, put.key.text);
    for (const entry of removed) this.#release(entry, put.key.primary);
  }

  /** Claims the values of a stored item for an index that is being built. */
  existing(item: Item, index: number): void {
    const key = bytesToLatin1(item.primary);
    const entries = this.#keys.entriesOfIndex(item, index);
    this.#askForOwners(entries);
    for (const entry of entries) {
      this.#check(entry, key, item.body, undefined);
      this.#taken.set(entry, key);
    }
  }

  /**
   * Gives an item the values that it has in the partition it is moved from. There nobody else has them; here an item may
   * have one that it gave up there meanwhile, and must not take it along when it follows.
   */
  move(key: ItemKey, previous: Item | undefined, next: Item | undefined): void {
    this.#isMoving = true;
    const before = previous === undefined ? [] : this.#keys.entriesOf(previous);
    const after = next === undefined ? [] : this.#keys.entriesOf(next);
    const { removed } = uniqueChanges(before, after);
    this.#askForOwners(removed);
    for (const entry of removed) this.#release(entry, key.primary);
    for (const entry of after) this.#taken.set(entry, key.text);
  }

  delete(previous: Item | undefined): void {
    this.release(previous);
  }

  /**
   * Gives up the values that an item loses. Where this is done for all operations of a decision before any of them is
   * run, they may exchange values in any order.
   * @param next - what the item becomes.
   */
  release(previous: Item | undefined, next?: NextBody): void {
    if (previous === undefined) return;
    const { primary } = previous;
    const after =
      next === undefined ? [] : this.#keys.entriesOfBody(primary, next.body, next.value);
    const { removed } = uniqueChanges(this.#keys.entriesOf(previous), after);
    for (const entry of removed) this.#release(entry, primary);
  }

  /**
   * Throws `uniqueKeyViolation` where an item could not take these values.
   * @param mayTake - whether the item with this key gives up its values.
   */
  checkFree(put: Put, entries: readonly string[], mayTake: (owner: string) => boolean): void {
    this.#askForOwners(entries);
    for (const entry of entries) {
      const owner = this.#ownerOf(entry);
      if (owner === undefined || !mayTake(owner))
        this.#check(entry, put.key.text, put.body, put.value);
    }
  }

  /** Items that nobody sees are deleted, since others are written under their keys. */
  replace(items: readonly Item[]): void {
    if (!this.#options.isIncomplete()) return;
    for (const item of items)
      if (!item.isInternal)
        for (const entry of this.#keys.entriesOf(item))
          if (!this.#taken.has(entry)) this.#release(entry, item.primary);
  }

  /**
   * The decision is applied; returns the invisible items that the same group has to delete.
   * @param isWritten - false where it only asks whether values could be taken.
   */
  applied(group: CommitGroup, isWritten: boolean): readonly Item[] {
    const isUnsure = this.#isMoving || this.#options.isIncomplete();
    const areOwnersNoted = isWritten && (group.owners.size > 0 || isUnsure);
    for (const [entry, owner] of this.#taken) {
      this.#pending.set(entry, { owner, group });
      if (areOwnersNoted) group.owners.set(entry, owner);
    }
    return this.#displaced;
  }

  forget(group: CommitGroup): void {
    for (const [entry, pending] of this.#pending)
      if (pending.group === group) this.#pending.delete(entry);
  }

  clear(): void {
    this.#pending.clear();
  }

  /** An item no longer has a value. */
  #release(entry: string, primary: Bytes): void {
    // Another item may have taken the value in this decision already.
    const isUnsure = this.#taken.has(entry) || this.#isMoving || this.#options.isIncomplete();
    const owner = isUnsure ? this.#ownerOf(entry) : undefined;
    const isOther = owner !== undefined && owner !== bytesToLatin1(primary);
    this.#taken.set(entry, isOther ? owner : undefined);
  }

  #check(entry: string, key: string, body: Bytes, value: Value): void {
    const owner = this.#ownerOf(entry);
    if (owner === undefined || owner === key || this.#displaces(owner)) return;
    throw uniqueViolation(this.#keys, entry, { body, value });
  }

  #read(entry: string): MaybePromise<Bytes | undefined> {
    return this.#options.readEntry(Buffer.from(entry, 'latin1'));
  }

  /** An array has many values, whose owners are looked up together. */
  #askForOwners(entries: readonly string[]): void {
    if (entries.length < 2) return;
    const unknown = entries.filter((entry) => !this.#taken.has(entry) && !this.#pending.has(entry));
    lookUpAll(this.#lookedUp, unknown, (entry) => this.#read(entry));
  }

  #ownerOf(entry: string): string | undefined {
    if (this.#taken.has(entry)) return this.#taken.get(entry);
    const pending = this.#pending.get(entry);
    if (pending !== undefined) {
      this.dependsOn = pending.group;
      return pending.owner;
    }
    const stored = lookUp(this.#lookedUp, entry, () => this.#read(entry));
    return stored && bytesToLatin1(stored);
  }

  /** True where the owner is gone or invisible. */
  #displaces(owner: string): boolean {
    const invisible = this.#options.invisible();
    if (invisible === undefined) return false;
    const item = lookUp(this.#lookedUp, owner, () =>
      this.#options.readItem(itemKeyOf(Buffer.from(owner, 'latin1'))),
    );
    if (item === undefined) return true;
    if (invisible.causeOf(item) === undefined) return false;
    if (this.#displaced.includes(item)) return true;
    this.#displaced.push(item);
    this.delete(item);
    return true;
  }
}
