/** The writes of one traversal until they are committed together. Look-ups of the traversal see them. */
import type { ItemWrite } from '../../../service/index.ts';
import type { ValueMap } from '../../../value/index.ts';
import { runtimeError, tooMuchMemory } from '../errors.ts';
import { keyText } from '../io/key-text.ts';
import { WRITES_MAX } from '../limits.ts';
import { addressKey, type Edge, type ElementAddress, Vertex } from '../model/elements.ts';
import type { Flavour } from './flavour.ts';

type Pending<T> =
  | { readonly kind: 'put'; readonly element: T; readonly isNew: boolean }
  | { readonly kind: 'delete'; readonly element: T };

export class UnitOfWork {
  readonly #flavour: Flavour;
  readonly #pending = new Map<string, Pending<Vertex | Edge>>();

  constructor(flavour: Flavour) {
    this.#flavour = flavour;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Forgets all writes. */
  clear(): void {
    this.#pending.clear();
  }

  /** The element with the writes so far; undefined where it is dropped. */
  current<T extends Vertex | Edge>(element: T): T | undefined {
    const pending = this.#pending.get(addressKey(element));
    if (pending === undefined) return element;
    return pending.kind === 'delete' ? undefined : (pending.element as T);
  }

  /** Whether a write of the element at the address is pending, and which. */
  at(address: ElementAddress): Pending<Vertex | Edge> | undefined {
    return this.#pending.get(addressKey(address));
  }

  /** The elements that are written; where asked for, only those that are not stored yet. */
  written<T extends Vertex | Edge>(type: new (...args: never[]) => T, onlyNew: boolean): T[] {
    const written: T[] = [];
    for (const pending of this.#pending.values())
      if (pending.kind === 'put' && pending.element instanceof type && (pending.isNew || !onlyNew))
        written.push(pending.element);
    return written;
  }

  add(element: Vertex | Edge): void {
    const key = addressKey(element);
    const pending = this.#pending.get(key);
    if (pending?.kind === 'put')
      throw runtimeError(
        `The traversal adds two elements with the id '${keyText(element.id)}' to one partition.`,
      );
    // An element that was dropped before is replaced.
    if (pending !== undefined) {
      element.stored = { ...pending.element.stored, others: undefined };
      this.#set(key, { kind: 'put', element, isNew: false });
    } else this.#set(key, { kind: 'put', element, isNew: true });
  }

  change(element: Vertex | Edge): void {
    const key = addressKey(element);
    if (this.#pending.get(key)?.kind !== 'put')
      this.#set(key, { kind: 'put', element, isNew: false });
  }

  drop(element: Vertex | Edge): void {
    const key = addressKey(element);
    const pending = this.#pending.get(key);
    if (pending?.kind === 'put' && pending.isNew) this.#pending.delete(key);
    else this.#set(key, { kind: 'delete', element: pending?.element ?? element });
  }

  #set(key: string, pending: Pending<Vertex | Edge>): void {
    this.#pending.set(key, pending);
    if (this.#pending.size > WRITES_MAX)
      throw tooMuchMemory(
        `The traversal writes more than ${WRITES_MAX} elements, and nothing was applied. Write in parts, as with limit().`,
      );
  }

  /** The writes as operations on documents. Changed elements must be as the traversal has read them. */
  *writes(): Generator<ItemWrite> {
    for (const pending of this.#pending.values()) yield this.#writeOf(pending);
  }

  #writeOf(pending: Pending<Vertex | Edge>): ItemWrite {
    const { element } = pending;
    const address = { partitionKey: [element.partition], rowKey: [element.key] };
    const ifMatch = element.stored.etag;
    if (pending.kind === 'delete') return { ...address, kind: 'delete', ifMatch };
    const value =
      element instanceof Vertex
        ? this.#flavour.vertexDocument(element)
        : this.#flavour.edgeDocument(element);
    const body = Buffer.from(JSON.stringify(value));
    const put = { ...address, body, value, ttlSec: ttlOf(value) };
    return pending.isNew ? { ...put, kind: 'create' } : { ...put, kind: 'replace', ifMatch };
  }
}

const TTL_SEC_MAX = 2_147_483_647;

/** The property `ttl`: seconds, -1 for no expiry; 0 means the default of the container. */
function ttlOf({ ttl }: ValueMap): number {
  if (ttl === undefined) return 0;
  if (
    typeof ttl === 'number' &&
    (ttl === -1 || (Number.isInteger(ttl) && ttl > 0 && ttl <= TTL_SEC_MAX))
  )
    return ttl;
  throw runtimeError('ttl is -1 or a whole number of seconds.');
}
