/**
 * Where documents are read and written: the service with its charges and waits, or an open transaction. Commands see
 * this interface only, so that they are the same in both.
 */
import { andThen, type Bytes, type MaybePromise } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { SequenceResult } from '../../../cluster/index.ts';
import type { Effect, Item, RowBounds, SequenceMode } from '../../../partition/index.ts';
import {
  ANYTHING,
  type Condition,
  type IndexLimit,
  type Order,
  type Pause,
  yieldToEventLoop,
} from '../../../query/index.ts';
import type { ItemAddress, ItemWrite, Service } from '../../../service/index.ts';
import type { BsonDocument, Value } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import type { IndexUse } from '../diagnostics/index-use.ts';
import type { DocumentTest } from '../query/filter-test.ts';
import type { FieldPath } from '../query/path.ts';
import type { WriteLocks } from '../sessions/write-locks.ts';
import { ONE_KEY } from './address.ts';
import { retryConflicts, retrySequence, untilUnlocked } from './conflicts.ts';
import { foldQuery, PAGE_ITEMS_FIRST, PAGE_ITEMS_MAX, queryRows, rangeOf } from './find-queries.ts';
import type { DocumentFold } from './folds.ts';
import type { Meter } from './meter.ts';
import { inPieces } from './pieces.ts';
import { matching, type ReadFields, Row, type Rows } from './rows.ts';

export interface DocumentStore {
  /** True where a conflict ends everything that was done. */
  readonly isTransaction: boolean;
  /** Returns at once where the partition does. */
  read(collection: Collection, address: ItemAddress): MaybePromise<Item | undefined>;
  /** The documents that pass the test, in the order of their creation where nothing else is asked. */
  find(collection: Collection, request: FindRequest): Rows;
  /**
   * Gives the documents that pass the test to a fold, in any order of the partitions; absent in transactions.
   * @param start - makes the fold, again for each attempt.
   */
  fold?<Fold extends DocumentFold>(
    collection: Collection,
    request: FoldRequest,
    start: () => Fold,
  ): Promise<Fold>;
  /** The documents of an unsharded collection with these row keys, in their order. */
  readMany(collection: Collection, rowKeys: readonly (readonly Value[])[]): Rows;
  /** Not in transactions. */
  scan(collection: Collection, scan: IdScan): Rows;
  write(collection: Collection, write: ItemWrite): Promise<Effect>;
  /** One result per write, in order. */
  sequence(
    collection: Collection,
    writes: readonly ItemWrite[],
    mode: SequenceMode,
  ): Promise<readonly SequenceResult[]>;
  /** What a retryable write left. */
  note(
    collection: Collection,
    partitionKey: readonly Value[],
    owner: Bytes,
  ): Promise<Bytes | undefined>;
  nowMs(): number;
  /** Counts an operation that finds documents by an index; transactions are not counted. */
  noteIndex?(collection: Collection, index: number): void;
  /** Between steps of long work: see `Pause`. */
  pause(): ReturnType<Pause>;
}

export interface FindRequest {
  /** Undefined: all partitions. */
  readonly partitionKey: readonly Value[] | undefined;
  /** Allows at least what the test passes. */
  readonly condition: Condition;
  /** Undefined: all pass, and none is decoded. */
  readonly test: DocumentTest | undefined;
  /** As much of a document as the test and the order look at; all where it is missing. */
  readonly read?: ReadFields;
  /** The order of an index; the first page throws `NotInOrder` where a partition does not have it. */
  readonly order?: FindOrder;
}

export interface FoldRequest extends Omit<FindRequest, 'order'> {
  /** Limits that exactly the documents that pass keep, as long as none has several values there. */
  readonly exactLimits?: readonly IndexLimit[] | undefined;
  /** Set where only the first document of each value under the path matters. */
  readonly valuesOf?: FieldPath | undefined;
}

interface FindOrder {
  readonly order: Order;
  keysOf(document: BsonDocument): readonly Value[];
  readonly take: number;
}

/** Documents of an unsharded collection in the order of `_id`. */
interface IdScan {
  readonly rows: RowBounds;
  readonly isReversed: boolean;
  /** How many of the first are needed; a filter may drop some. */
  readonly wanted: number;
}

/** Bytes of a page of items. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Rows that are handed on at once at first: those of a usual reply. */
const STORED_ROWS_FIRST = 128;

type ItemPage = Awaited<ReturnType<Service['items']['scan' | 'feed']>>;

/** Where a page of items begins, and what it may hold. */
interface PageStart {
  readonly continuation: string | undefined;
  readonly limit: number;
  readonly bytesMax: number;
}

type WriteListener = (container: ContainerRecord, effect: Effect, write: ItemWrite) => void;

interface ServiceStoreOptions {
  readonly meter: Meter;
  /** How long a throttled call may wait. */
  readonly waitMaxMs: number;
  /** What open transactions have written. */
  readonly locks: WriteLocks;
  readonly indexUse: IndexUse;
  /** Hears of every write that changed something. */
  readonly onWritten?: WriteListener;
}

export class ServiceStore implements DocumentStore {
  readonly isTransaction = false;
  readonly #service: Service;
  readonly #meter: Meter;
  readonly #waitMaxMs: number;
  readonly #locks: WriteLocks;
  readonly #indexUse: IndexUse;
  readonly #onWritten: WriteListener | undefined;

  constructor(
    service: Service,
    { meter, waitMaxMs, locks, indexUse, onWritten }: ServiceStoreOptions,
  ) {
    this.#service = service;
    this.#indexUse = indexUse;
    this.#meter = meter;
    this.#waitMaxMs = waitMaxMs;
    this.#locks = locks;
    this.#onWritten = onWritten;
  }

  nowMs(): number {
    return this.#service.clock.nowMs();
  }

  noteIndex({ container }: Collection, index: number): void {
    this.#indexUse.note(container, index);
  }

  pause(): ReturnType<Pause> {
    this.#meter.check();
    return yieldToEventLoop();
  }

  /** In pieces that take those who read them no longer than others may wait. */
  #paced(rows: Rows): Rows {
    return inPieces(rows, { pause: () => this.pause(), rowsFirst: STORED_ROWS_FIRST });
  }

  read({ container }: Collection, address: ItemAddress): MaybePromise<Item | undefined> {
    const reply = this.#wait(() => this.#service.items.read(container, address, undefined));
    return andThen(reply, (found) => {
      this.#meter.add(found);
      return found.item;
    });
  }

  find({ container }: Collection, request: FindRequest): Rows {
    const { condition, partitionKey, test } = request;
    if (condition === ANYTHING && request.order === undefined) {
      const rows = this.#paced(this.#scan(container, partitionKey));
      return test === undefined ? rows : matching(rows, test, request.read);
    }
    const rows = queryRows(container, request, async (from) => {
      const page = await this.#wait(() => this.#service.queries.run(container, from));
      this.#meter.add(page);
      return page;
    });
    return this.#paced(rows);
  }

  async fold<Fold extends DocumentFold>(
    { container }: Collection,
    request: FoldRequest,
    start: () => Fold,
  ): Promise<Fold> {
    let fold = start();
    const query = foldQuery(request, () => {
      fold = start();
      return fold;
    });
    const { partitionKey } = request;
    const page = await this.#wait(() =>
      this.#service.queries.run(container, {
        query,
        ranges: [rangeOf(container.partitionKey, partitionKey)],
        continuation: undefined,
        limit: 1,
        sessionToken: undefined,
        client: this.#watch,
      }),
    );
    this.#meter.add(page);
    await yieldToEventLoop();
    return fold;
  }

  /** Looked at between slices of work: throws where the command shall end. */
  get #watch(): { readonly isGone: boolean } {
    const check = this.#check;
    return {
      get isGone() {
        check();
        return false;
      },
    };
  }

  #scan(container: ContainerRecord, partitionKey: readonly Value[] | undefined): Rows {
    const scope =
      partitionKey === undefined
        ? ({ kind: 'container' } as const)
        : ({ kind: 'partitionKey', values: partitionKey } as const);
    return this.#pages(PAGE_ITEMS_FIRST, (page) =>
      this.#service.items.feed(container, { ...page, scope, sessionToken: undefined }),
    );
  }

  readMany({ container }: Collection, rowKeys: readonly (readonly Value[])[]): Rows {
    return this.#paced(this.#readMany(container, rowKeys));
  }

  async *#readMany(container: ContainerRecord, rowKeys: readonly (readonly Value[])[]): Rows {
    for (let at = 0; at < rowKeys.length; at += PAGE_ITEMS_MAX) {
      const addresses = rowKeys
        .slice(at, at + PAGE_ITEMS_MAX)
        .map((rowKey) => ({ partitionKey: ONE_KEY, rowKey }));
      const page = await this.#wait(() => this.#service.items.readMany(container, addresses));
      this.#meter.add(page);
      yield page.items.flatMap((item) =>
        item === undefined ? [] : [Row.ofBody(item.body, item.rid)],
      );
      await yieldToEventLoop();
    }
  }

  scan({ container }: Collection, { rows, isReversed, wanted }: IdScan): Rows {
    const found = this.#pages(Math.min(PAGE_ITEMS_FIRST, wanted), (page) =>
      this.#service.items.scan(container, { ...page, partitionKey: ONE_KEY, rows, isReversed }),
    );
    return this.#paced(found);
  }

  /** Documents of pages that grow, until there is no more. */
  async *#pages(first: number, read: (start: PageStart) => Promise<ItemPage>): Rows {
    let continuation: string | undefined;
    let limit = first;
    do {
      const start = { continuation, limit, bytesMax: PAGE_BYTES_MAX };
      const page = await this.#wait(() => read(start));
      this.#meter.add(page);
      if (page.items.length > 0) yield page.items.map(({ body, rid }) => Row.ofBody(body, rid));
      continuation = page.continuation;
      limit = Math.min(limit * 2, PAGE_ITEMS_MAX);
      await yieldToEventLoop();
    } while (continuation !== undefined);
  }

  async write({ container }: Collection, write: ItemWrite): Promise<Effect> {
    await this.#untilUnlocked(container, [write]);
    const attempt = () => this.#wait(() => this.#service.items.write(container, write));
    const reply = await retryConflicts(this.#check, attempt);
    this.#onWritten?.(container, reply.effect, write);
    this.#meter.add(reply);
    return reply.effect;
  }

  async sequence(
    { container }: Collection,
    writes: readonly ItemWrite[],
    mode: SequenceMode,
  ): Promise<readonly SequenceResult[]> {
    await this.#untilUnlocked(container, writes);
    const run = async (open: readonly ItemWrite[]): Promise<readonly SequenceResult[]> => {
      const reply = await this.#service.items.sequence(container, open, mode);
      for (const [at, result] of reply.results.entries())
        if ('effect' in result) this.#onWritten?.(container, result.effect, open[at] as ItemWrite);
      this.#meter.add(reply);
      return reply.results;
    };
    const wait = <T>(attempt: () => Promise<T>): MaybePromise<T> => this.#wait(attempt);
    return retrySequence(writes, { mode, check: this.#check, run, wait });
  }

  note(
    { container }: Collection,
    partitionKey: readonly Value[],
    owner: Bytes,
  ): Promise<Bytes | undefined> {
    return this.#service.items.note(container, partitionKey, owner);
  }

  readonly #check = (): void => this.#meter.check();

  #untilUnlocked(container: ContainerRecord, writes: readonly ItemWrite[]): Promise<void> {
    const waiting = { locks: this.#locks, nowMs: () => this.nowMs(), check: this.#check };
    return untilUnlocked(waiting, container, writes);
  }

  #wait<T>(operation: () => MaybePromise<T>): MaybePromise<T> {
    return this.#service.withThrottleWait(this.#waitMaxMs, operation);
  }
}
