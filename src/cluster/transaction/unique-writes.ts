/**
 * The unique values that items have by the writes of a transaction. A statement is refused where its commit would be:
 * where an item has the value that the transaction has written itself, or a stored one that it has not.
 */
import { DomainError } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import {
  freeValues,
  type Item,
  type ItemKey,
  type Put,
  type UniqueKeys,
  uniqueChanges,
  uniqueViolation,
} from '../../partition/index.ts';
import type { ClusterContext } from '../cluster-context.ts';
import type { ContainerName } from '../container/container-name.ts';
import type { Router } from '../routing/router.ts';
import type { Route } from '../routing/routing-map.ts';

interface UniqueWrite {
  readonly key: ItemKey;
  /** Undefined: the item is deleted. */
  readonly put: Put | undefined;
  /** As the transaction sees it before the write. */
  readonly previous: Item | undefined;
  /** Whether the transaction has written the item with this key. */
  readonly isOwn: (key: string) => boolean;
}

interface UniqueWritesOptions {
  readonly context: ClusterContext;
  readonly router: Router;
}

export class UniqueWrites {
  readonly #options: UniqueWritesOptions;
  /** Keys of items by container and entry. */
  readonly #owners = new Map<string, string>();

  constructor(options: UniqueWritesOptions) {
    this.#options = options;
  }

  /** Throws `uniqueKeyViolation` where another item has a unique value of the new body. */
  async take(container: ContainerRecord, write: UniqueWrite): Promise<void> {
    const { context, router } = this.#options;
    const { key, put, isOwn } = write;
    const route = router.routing(container).forKey(key.epk);
    const { unique: keys } = route.handle.options.indexing;
    if (keys === undefined) return;
    const added = put === undefined ? [] : this.#added(container, keys, { ...write, put });
    if (put !== undefined && added.length > 0) {
      const attempt = async ({ handle }: Route): Promise<void> => {
        await (await context.registry.partition(handle)).write(freeValues(put, added, isOwn));
      };
      await attempt(route).catch((error) => router.retryForKey(error, container, key.epk, attempt));
    }
    this.#note(container, keys, write);
  }

  /** The entries that the item gets; refused where another one has them by the transaction. */
  #added(
    container: ContainerName,
    keys: UniqueKeys,
    { key, put, previous }: UniqueWrite & { readonly put: Put },
  ): readonly string[] {
    const before = previous === undefined ? [] : keys.entriesOf(previous);
    const { added } = uniqueChanges(before, keys.entriesOfBody(key.primary, put.body, put.value));
    for (const entry of added) {
      const owner = this.#owners.get(nameOf(container, entry));
      if (owner !== undefined && owner !== key.text) throw uniqueViolation(keys, entry, put);
    }
    return added;
  }

  #note(container: ContainerName, keys: UniqueKeys, { key, put, previous }: UniqueWrite): void {
    for (const entry of previous === undefined ? [] : keys.entriesOf(previous)) {
      const name = nameOf(container, entry);
      if (this.#owners.get(name) === key.text) this.#owners.delete(name);
    }
    if (put === undefined) return;
    for (const entry of keys.entriesOfBody(key.primary, put.body, put.value))
      this.#owners.set(nameOf(container, entry), key.text);
  }
}

function nameOf({ databaseRid, rid }: ContainerName, entry: string): string {
  return `${databaseRid}/${rid}/${entry}`;
}

/** A violation of a unique index says in which container it is. */
export function located(error: unknown, { databaseRid, rid }: ContainerName): unknown {
  if (error instanceof DomainError && error.code === 'uniqueKeyViolation')
    error.details = { ...error.details, container: { databaseRid, rid } };
  return error;
}
