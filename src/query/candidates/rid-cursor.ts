/** Ascending lists of rids of any length, and their intersections and unions: only a page of each list is in memory. */
import { type Bytes, isPromise } from '../../base/index.ts';
import type { ExecutionStats } from '../execution-stats.ts';
import type { ItemReader } from '../reader.ts';
import { yieldToEventLoop } from '../yield.ts';

/** A place in a list. It is nowhere before the first `seek`. */
export interface RidCursor {
  /** Undefined at the end of the list. */
  readonly head: number | undefined;
  /** Moves on to the first rid that is not below this one; undefined where nothing has to be waited for. */
  seek(rid: number): Promise<void> | undefined;
}

/** The rids of one value. Pages that a seek jumps over are not read. */
export class ListCursor implements RidCursor {
  readonly #reader: ItemReader;
  readonly #prefix: Bytes;
  readonly #stats: ExecutionStats;
  #rids: ArrayLike<number> = [];
  #at = 0;
  #next: number | undefined = 0;

  constructor(reader: ItemReader, prefix: Bytes, stats: ExecutionStats) {
    this.#reader = reader;
    this.#prefix = prefix;
    this.#stats = stats;
  }

  get head(): number | undefined {
    return this.#rids[this.#at];
  }

  seek(rid: number): Promise<void> | undefined {
    while (!this.#isFoundInPage(rid) && this.#next !== undefined) {
      const found = this.#reader.ridsFrom(this.#prefix, Math.max(rid, this.#next));
      if (isPromise(found))
        return found.then((page) => {
          this.#take(page);
          return this.seek(rid);
        });
      this.#take(found);
      const rest = yieldToEventLoop();
      if (rest !== undefined) return rest.then(() => this.seek(rid));
    }
    return undefined;
  }

  #isFoundInPage(rid: number): boolean {
    while (this.#at < this.#rids.length && (this.#rids[this.#at] as number) < rid) this.#at++;
    return this.#at < this.#rids.length;
  }

  #take({ rids, next }: Awaited<ReturnType<ItemReader['ridsFrom']>>): void {
    this.#stats.indexEntries += rids.length;
    this.#rids = rids;
    this.#at = 0;
    this.#next = next;
  }
}

/** Rids in memory. */
export class CollectedCursor implements RidCursor {
  /** Ascending. */
  readonly #rids: Float64Array;
  #at = 0;

  constructor(rids: ReadonlySet<number>) {
    this.#rids = Float64Array.from(rids).sort();
  }

  get head(): number | undefined {
    return this.#rids[this.#at];
  }

  seek(rid: number): undefined {
    while (this.#at < this.#rids.length && (this.#rids[this.#at] as number) < rid) this.#at++;
  }
}

/** The rids that all lists have. */
export class CommonCursor implements RidCursor {
  readonly #lists: readonly RidCursor[];
  head: number | undefined;

  constructor(lists: readonly RidCursor[]) {
    this.#lists = lists;
  }

  seek(rid: number): Promise<void> | undefined {
    let wanted = rid;
    for (let agreed = 0, at = 0; agreed < this.#lists.length; at++) {
      const list = this.#lists[at % this.#lists.length] as RidCursor;
      const moving = list.seek(wanted);
      if (moving !== undefined) return moving.then(() => this.seek(wanted));
      const { head } = list;
      this.head = head;
      if (head === undefined) return undefined;
      agreed = head === wanted ? agreed + 1 : 1;
      wanted = head;
    }
    return undefined;
  }
}

/** The rids that any list has. */
export class UnionCursor implements RidCursor {
  readonly #lists: readonly RidCursor[];
  head: number | undefined;

  constructor(lists: readonly RidCursor[]) {
    this.#lists = lists;
  }

  seek(rid: number): Promise<void> | undefined {
    let least: number | undefined;
    for (const list of this.#lists) {
      const moving = list.seek(rid);
      if (moving !== undefined) return moving.then(() => this.seek(rid));
      const { head } = list;
      if (head !== undefined && (least === undefined || head < least)) least = head;
    }
    this.head = least;
    return undefined;
  }
}
