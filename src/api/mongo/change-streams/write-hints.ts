/**
 * What the feed does not tell about the last writes of this process: their logical time, and how an update said what
 * it changes. Change streams show it where it is still known.
 */
import { LRUCache } from 'lru-cache';
import type { Bytes } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { LogicalTime } from '../cluster-clock.ts';

/** How an update said what it changes. */
export type UpdateStyle = 'replacement' | 'operators' | 'pipeline';

interface Hint {
  readonly time: LogicalTime;
  /** Undefined where it is no update, or nobody watches. */
  readonly style: UpdateStyle | undefined;
}

/** Writes that are remembered: some minutes of a busy server. */
const HINTS_MAX = 20_000;
/** Bytes of documents as they were before, of collections that somebody watches. */
const BEFORE_BYTES_MAX = 64 * 1024 * 1024;

export class WriteHints {
  readonly #hints = new LRUCache<string, Hint>({ max: HINTS_MAX });
  readonly #before = new LRUCache<string, Bytes>({
    maxSize: BEFORE_BYTES_MAX,
    sizeCalculation: (body) => body.length + 1,
  });

  add(container: ContainerRecord, lsn: number, hint: Hint): void {
    this.#hints.set(keyOf(container, lsn), hint);
  }

  /** Keeps a document as it was before a write: versions may be kept since then only. */
  keepBefore(container: ContainerRecord, lsn: number, rid: number, body: Bytes): void {
    this.#before.set(`${keyOf(container, lsn)} ${rid}`, body);
  }

  before(container: ContainerRecord, lsn: number, rid: number): Bytes | undefined {
    return this.#before.get(`${keyOf(container, lsn)} ${rid}`);
  }

  find(container: ContainerRecord, lsn: number): Hint | undefined {
    return this.#hints.get(keyOf(container, lsn));
  }
}

function keyOf({ databaseRid, rid }: ContainerRecord, lsn: number): string {
  return `${databaseRid} ${rid} ${lsn}`;
}
