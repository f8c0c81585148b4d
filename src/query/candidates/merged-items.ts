/**
 * Merges the candidates of several partitions into one stream in rid order. The next page of a blocking query skips the
 * rows given before by their number, so the order of its items must not depend on how many partitions hold them, which
 * may change between two pages. A split or merge does not change rids.
 */
import { isPromise, type MaybePromise } from '../../base/index.ts';
import { type PendingItem, ReadItem } from '../found-item.ts';
import type { Candidate, ItemReader } from '../reader.ts';
import type { Batches } from './candidates.ts';

/** Items of one batch, as many as in a batch of candidates. */
const BATCH_ITEMS = 100;

export interface ItemSource {
  readonly reader: ItemReader;
  readonly batches: Batches<Candidate>;
}

export class MergedItems implements Batches<PendingItem> {
  readonly #heads: readonly Head[];

  constructor(sources: readonly ItemSource[]) {
    this.#heads = sources.map(({ reader, batches }) => ({ reader, batches, batch: [], at: 0 }));
  }

  async next(): Promise<readonly PendingItem[] | undefined> {
    const items: PendingItem[] = [];
    while (items.length < BATCH_ITEMS) {
      for (const head of this.#heads) {
        const filled = fill(head);
        if (isPromise(filled)) await filled;
      }
      const first = firstOf(this.#heads);
      const item = first?.batch?.[first.at];
      if (first === undefined || item === undefined) break;
      items.push(new ReadItem(first.reader, item));
      first.at++;
    }
    return items.length === 0 ? undefined : items;
  }
}

/** One source with its next item. */
interface Head extends ItemSource {
  /** Undefined at the end. */
  batch: readonly Candidate[] | undefined;
  at: number;
}

/** Reads until the head has an item or is at its end. */
function fill(head: Head): MaybePromise<void> {
  while (head.batch !== undefined && head.at >= head.batch.length) {
    const found = head.batches.next();
    if (isPromise(found))
      return found.then((batch) => {
        take(head, batch);
        return fill(head);
      });
    take(head, found);
  }
}

function take(head: Head, batch: readonly Candidate[] | undefined): void {
  head.batch = batch;
  head.at = 0;
}

function firstOf(heads: readonly Head[]): Head | undefined {
  let first: Head | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const head of heads) {
    const rid = head.batch?.[head.at]?.rid;
    if (rid === undefined || rid >= least) continue;
    first = head;
    least = rid;
  }
  return first;
}
