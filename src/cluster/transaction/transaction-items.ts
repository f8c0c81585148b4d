/** The items that a transaction has read or written, by container and key. */
import { DomainError, TRANSACTION_ITEMS_MAX } from '../../base/index.ts';
import { type Item, type ItemKey, readIsStale } from '../../partition/index.ts';
import type { ContainerName } from '../container/container-name.ts';
import type { OwnWrite, TransactionEntry } from './transaction-entry.ts';

export class TransactionItems {
  readonly #entries = new Map<string, TransactionEntry>();

  get size(): number {
    return this.#entries.size;
  }

  all(): Iterable<TransactionEntry> {
    return this.#entries.values();
  }

  *of({ databaseRid, rid }: ContainerName): Generator<TransactionEntry> {
    for (const entry of this.#entries.values())
      if (entry.container.databaseRid === databaseRid && entry.container.rid === rid) yield entry;
  }

  get(container: ContainerName, key: Pick<ItemKey, 'text'>): TransactionEntry | undefined {
    return this.#entries.get(nameOf(container, key));
  }

  /** The transaction's own write of an item; undefined where there is none. */
  own(container: ContainerName, key: Pick<ItemKey, 'text'>): OwnWrite | undefined {
    return this.get(container, key)?.write;
  }

  /** Notes what was read. Throws `retryWith` where it is not the same as before. */
  noteRead({ databaseRid, rid }: ContainerName, key: ItemKey, item: Item | undefined): void {
    const container = { databaseRid, rid };
    const known = this.get(container, key);
    if (known !== undefined) {
      if (known.etag !== item?.etag) throw readIsStale();
      return;
    }
    if (this.size >= TRANSACTION_ITEMS_MAX)
      throw new DomainError(
        'tooLarge',
        `A transaction reads and writes at most ${TRANSACTION_ITEMS_MAX} items.`,
      );
    this.#entries.set(nameOf(container, key), {
      container,
      key,
      etag: item?.etag,
      rid: item?.rid,
      write: undefined,
    });
  }
}

function nameOf({ databaseRid, rid }: ContainerName, { text }: Pick<ItemKey, 'text'>): string {
  return `${databaseRid}/${rid}/${text}`;
}
