/**
 * Items that prepared transactions hold until they are resolved: written ones against every other writer and
 * transaction, read ones against writers. Writes of others wait for them, with a bound; reads see the items as they
 * were before.
 */
import { assert, bytesToLatin1, DomainError, HELD_ITEM_WAIT_MS } from '../../base/index.ts';
import { KeyMap } from '../commit/key-map.ts';
import type { ItemKey } from '../item/item.ts';

/** Names a transaction: 16 bytes as `toHex` prints them. */
export type TransactionId = string;

interface Hold {
  readonly key: ItemKey;
  writer: TransactionId | undefined;
  readonly readers: Set<TransactionId>;
}

interface Waiter {
  readonly keys: readonly ItemKey[];
  readonly timer: NodeJS.Timeout;
  done(): void;
}

export class HeldItems {
  readonly #holds = new KeyMap<Hold>();
  #count = 0;
  /** Logical partitions whose unique values a transaction may change, by their hashes. */
  readonly #scopes = new Map<string, { readonly id: TransactionId; count: number }>();
  readonly #waiting = new Set<Waiter>();
  #isEnded = false;

  /** Mostly true; one test for every write. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Throws where another transaction holds the item in a way that excludes this use. */
  check(key: ItemKey, isWrite: boolean, id: TransactionId): void {
    if (this.isEmpty) return;
    const hold = this.#holds.get(key);
    const isWritten = hold?.writer !== undefined && hold.writer !== id;
    const isRead = isWrite && hold !== undefined && (hold.readers.size > 1 || isOther(hold, id));
    const scope = isWrite ? this.#scopeOf(key) : undefined;
    if (isWritten || isRead || (scope !== undefined && scope.id !== id)) throw heldByOther();
  }

  /** @param isUnique - whether writes of the logical partition depend on each other by unique keys. */
  add(id: TransactionId, key: ItemKey, isWrite: boolean, isUnique: boolean): void {
    let hold = this.#holds.get(key);
    if (hold === undefined) {
      hold = { key, writer: undefined, readers: new Set() };
      this.#holds.set(hold);
      this.#count++;
    }
    if (!isWrite) {
      hold.readers.add(id);
      return;
    }
    assert(hold.writer === undefined || hold.writer === id, 'an item is held by one writer');
    hold.writer = id;
    if (!isUnique) return;
    const name = bytesToLatin1(key.epk);
    const scope = this.#scopes.get(name);
    if (scope === undefined) this.#scopes.set(name, { id, count: 1 });
    else scope.count++;
  }

  remove(id: TransactionId, key: ItemKey): void {
    const hold = this.#holds.get(key);
    if (hold === undefined) return;
    hold.readers.delete(id);
    if (hold.writer === id) {
      hold.writer = undefined;
      const scope = this.#scopeOf(key);
      if (scope?.id === id && --scope.count === 0) this.#scopes.delete(bytesToLatin1(key.epk));
    }
    if (hold.writer !== undefined || hold.readers.size > 0) return;
    this.#holds.delete(key);
    this.#count--;
  }

  /** Lets those go on whose items are free. */
  wake(): void {
    for (const waiter of this.#waiting) if (!this.#blocks(waiter.keys)) waiter.done();
  }

  /** Nobody waits any more: the partition is being closed. */
  end(): void {
    this.#isEnded = true;
    for (const waiter of this.#waiting) waiter.done();
  }

  /** Undefined where nothing is held, mostly; otherwise resolves when it is free, or rejects after a bound. */
  whenFree(keys: readonly ItemKey[]): Promise<void> | undefined {
    if (this.isEmpty || !this.#blocks(keys)) return undefined;
    if (this.#isEnded) return Promise.reject(heldByOther());
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        keys,
        timer: setTimeout(() => {
          this.#waiting.delete(waiter);
          reject(heldByOther());
        }, HELD_ITEM_WAIT_MS),
        done: () => {
          clearTimeout(waiter.timer);
          this.#waiting.delete(waiter);
          resolve();
        },
      };
      this.#waiting.add(waiter);
    });
  }

  /** Whether a transaction will write the item. */
  isWritten(key: ItemKey): boolean {
    return !this.isEmpty && this.#holds.get(key)?.writer !== undefined;
  }

  #blocks(keys: readonly ItemKey[]): boolean {
    return keys.some(
      (key) => this.#holds.get(key) !== undefined || this.#scopeOf(key) !== undefined,
    );
  }

  #scopeOf({ epk }: ItemKey) {
    return this.#scopes.size === 0 ? undefined : this.#scopes.get(bytesToLatin1(epk));
  }
}

function isOther({ readers }: Hold, id: TransactionId): boolean {
  return readers.size === 1 && !readers.has(id);
}

export function heldByOther(): DomainError {
  return new DomainError(
    'retryWith',
    'Another transaction that writes the same items is being committed; nothing was applied. Retry the request.',
  );
}

/** Others have written what a transaction has read. */
export function readIsStale(): DomainError {
  return new DomainError(
    'retryWith',
    'Others have written the same items meanwhile; nothing was applied. Retry the request.',
  );
}
