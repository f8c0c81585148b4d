/** Lists, sets and least values of frames that move. What was added first is removed first. */
import { type Bson, isArray } from '../../../../value/index.ts';
import { keyTexts } from '../bson-set.ts';
import type { CompareValues } from '../collated-keys.ts';
import { isNullish } from '../expressions/define.ts';
import { arrayFrom } from './lists.ts';
import type { Sliding } from './sliding-numbers.ts';

type Order = (a: Bson, b: Bson) => number;

/** What has left the queue is cut off when it is this much, and more than half. */
const SPARE_MIN = 1024;

/** A list that is added to behind and removed from in front. */
class Queue<T> {
  #list: T[] = [];
  #start = 0;

  get length(): number {
    return this.#list.length - this.#start;
  }

  push(value: T): void {
    this.#list.push(value);
  }

  shift(): void {
    this.#start += 1;
    if (this.#start < SPARE_MIN || 2 * this.#start < this.#list.length) return;
    this.#list = this.#list.slice(this.#start);
    this.#start = 0;
  }

  pop(): void {
    this.#list.pop();
  }

  first(): T | undefined {
    return this.#list[this.#start];
  }

  last(): T | undefined {
    return this.length === 0 ? undefined : this.#list.at(-1);
  }

  head(n: number): T[] {
    return this.#list.slice(this.#start, this.#start + n);
  }

  tail(n: number): T[] {
    return this.#list.slice(Math.max(this.#start, this.#list.length - n));
  }
}

/** A list that `result` reads; only values that `counts` are in it. */
function slidingQueue(
  result: (queue: Queue<Bson | undefined>) => Bson | undefined,
  counts: (value: Bson | undefined) => boolean = () => true,
): Sliding {
  const queue = new Queue<Bson | undefined>();
  return {
    add(value) {
      if (counts(value)) queue.push(value);
    },
    remove(value) {
      if (counts(value)) queue.shift();
    },
    result: () => result(queue),
  };
}

export function slidingPush(): Sliding {
  return slidingQueue(
    (queue) => queue.head(queue.length) as Bson[],
    (value) => value !== undefined,
  );
}

export function slidingFirst(): Sliding {
  return slidingQueue((queue) => queue.first() ?? null);
}

export function slidingLast(): Sliding {
  return slidingQueue((queue) => queue.last() ?? null);
}

export function slidingEnds(n: number, isLast: boolean): Sliding {
  return slidingQueue((queue) =>
    (isLast ? queue.tail(n) : queue.head(n)).map((value) => value ?? null),
  );
}

export function slidingConcatArrays(): Sliding {
  return slidingQueue(
    (queue) => queue.head(queue.length).flatMap((value) => arrayFrom(value as Bson, NAME_CONCAT)),
    (value) => value !== undefined && arrayFrom(value, NAME_CONCAT) !== undefined,
  );
}

const NAME_CONCAT = '$concatArrays';

/** Distinct values with how often they are in the frame. */
class CountedSet {
  readonly #entries = new Map<string, { readonly value: Bson; count: number }>();
  readonly #textOf: (value: Bson) => string;

  /** @param compare - the order of a collation whose equal texts are one value. */
  constructor(compare: CompareValues) {
    this.#textOf = keyTexts(compare);
  }

  add(value: Bson): void {
    const key = this.#textOf(value);
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#entries.set(key, { value, count: 1 });
    else entry.count += 1;
  }

  remove(value: Bson): void {
    const key = this.#textOf(value);
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.count -= 1;
    if (entry.count === 0) this.#entries.delete(key);
  }

  values(): Bson[] {
    return Array.from(this.#entries.values(), ({ value }) => value);
  }
}

export function slidingAddToSet(compare: CompareValues): Sliding {
  const set = new CountedSet(compare);
  return {
    add(value) {
      if (value !== undefined) set.add(value);
    },
    remove(value) {
      if (value !== undefined) set.remove(value);
    },
    result: () => set.values(),
  };
}

export function slidingSetUnion(compare: CompareValues): Sliding {
  const set = new CountedSet(compare);
  return {
    add(value) {
      if (value !== undefined)
        for (const element of arrayFrom(value, '$setUnion')) set.add(element);
    },
    remove(value) {
      if (isArray(value)) for (const element of value) set.remove(element);
    },
    result: () => set.values(),
  };
}

/**
 * The least or greatest value. Only values that can still become the best are kept: one that a later, better one
 * outlives is dropped at once, so that the best is always in front.
 */
export function slidingBest(
  direction: 1 | -1,
  compare: (a: Bson | undefined, b: Bson | undefined) => number,
): Sliding {
  const candidates = new Queue<{ readonly value: Bson; readonly at: number }>();
  let added = 0;
  let removed = 0;
  const isOutlived = (old: Bson, value: Bson): boolean => {
    const order = compare(value, old) * direction;
    return order > 0 || (order === 0 && direction > 0);
  };
  return {
    add(value) {
      if (isNullish(value)) return;
      for (
        let last = candidates.last();
        last !== undefined && isOutlived(last.value, value as Bson);
        last = candidates.last()
      )
        candidates.pop();
      candidates.push({ value: value as Bson, at: added });
      added += 1;
    },
    remove(value) {
      if (isNullish(value)) return;
      if (candidates.first()?.at === removed) candidates.shift();
      removed += 1;
    },
    result: () => candidates.first()?.value ?? null,
  };
}

interface Entry {
  readonly value: Bson;
  /** Equal values keep the order in which they came. */
  readonly at: number;
}

/** Entries of a bucket before it is cut in two: what one insertion moves. */
const BUCKET_MAX = 512;

/** Values in order, in buckets, so that a value that comes or goes moves few others. */
export class SortedFrame {
  readonly #order: Order;
  readonly #buckets: Entry[][] = [];
  #length = 0;
  #added = 0;
  #removed = 0;

  constructor(order: Order) {
    this.#order = order;
  }

  get length(): number {
    return this.#length;
  }

  /** How many of the list are before this one. */
  #before(list: readonly Entry[], { value, at }: Entry): number {
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = list[middle] as Entry;
      if ((this.#order(other.value, value) || other.at - at) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The bucket whose range has the entry. */
  #bucketFor(entry: Entry): number {
    let low = 0;
    let high = this.#buckets.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      const last = (this.#buckets[middle] as Entry[]).at(-1) as Entry;
      if ((this.#order(last.value, entry.value) || last.at - entry.at) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  add(value: Bson): void {
    const entry = { value, at: this.#added++ };
    this.#length += 1;
    const at = this.#bucketFor(entry);
    const bucket = this.#buckets[at];
    if (bucket === undefined) {
      this.#buckets.push([entry]);
      return;
    }
    bucket.splice(this.#before(bucket, entry), 0, entry);
    if (bucket.length > BUCKET_MAX) this.#buckets.splice(at + 1, 0, bucket.splice(BUCKET_MAX / 2));
  }

  remove(value: Bson): void {
    const entry = { value, at: this.#removed++ };
    const at = this.#bucketFor(entry);
    const bucket = this.#buckets[at] as Entry[];
    bucket.splice(this.#before(bucket, entry), 1);
    this.#length -= 1;
    if (bucket.length === 0) this.#buckets.splice(at, 1);
  }

  at(index: number): Bson {
    let left = index;
    for (const bucket of this.#buckets) {
      if (left < bucket.length) return (bucket[left] as Entry).value;
      left -= bucket.length;
    }
    return null;
  }

  head(n: number): Bson[] {
    const found: Entry[] = [];
    for (let at = 0; at < this.#buckets.length && found.length < n; at++)
      found.push(...(this.#buckets[at] as Entry[]).slice(0, n - found.length));
    return found.map(({ value }) => value);
  }

  tail(n: number): Bson[] {
    const found: Entry[][] = [];
    let count = 0;
    for (let at = this.#buckets.length - 1; at >= 0 && count < n; at--) {
      const bucket = this.#buckets[at] as Entry[];
      const part = bucket.slice(Math.max(0, bucket.length - (n - count)));
      found.unshift(part);
      count += part.length;
    }
    return found.flat().map(({ value }) => value);
  }
}

/** The least or greatest values, the best first. */
export function slidingBestN(
  n: number,
  direction: 1 | -1,
  compare: (a: Bson | undefined, b: Bson | undefined) => number,
): Sliding {
  const sorted = new SortedFrame((a, b) => -compare(a, b) * direction);
  return {
    add(value) {
      if (!isNullish(value)) sorted.add(value as Bson);
    },
    remove(value) {
      if (!isNullish(value)) sorted.remove(value as Bson);
    },
    result: () => sorted.head(n),
  };
}

/** Values are pairs: the sort key and the output. */
export function slidingTop(n: number | undefined, isBottom: boolean, order: Order): Sliding {
  const sorted = new SortedFrame((a, b) =>
    order((a as readonly Bson[])[0] as Bson, (b as readonly Bson[])[0] as Bson),
  );
  const count = n ?? 1;
  return {
    add: (value) => sorted.add(value as Bson),
    remove: (value) => sorted.remove(value as Bson),
    result() {
      const kept = isBottom ? sorted.tail(count) : sorted.head(count);
      const outputs = kept.map((pair) => (pair as readonly Bson[])[1] as Bson);
      return n === undefined ? (outputs[0] ?? null) : outputs;
    },
  };
}
