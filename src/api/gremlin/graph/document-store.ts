/** Documents of one container: look-ups by address, by index, and what they cost. */
import { assert, type ResponseInfo } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import type { Item } from '../../../partition/index.ts';
import {
  type Condition,
  type ExecutableQuery,
  type HashRange,
  yieldToEventLoop,
} from '../../../query/index.ts';
import type {
  ItemAddress,
  ItemWrite,
  QueryPage,
  Service,
  Transaction,
} from '../../../service/index.ts';
import {
  effectivePartitionKey,
  epkToHex,
  isMap,
  jsonCodec,
  type Value,
  type ValueMap,
} from '../../../value/index.ts';
import { forbidden } from '../errors.ts';
import { BATCH_MAX } from '../limits.ts';
import type { ElementAddress } from '../model/elements.ts';

/** What a traversal has used so far. */
export interface StoreUsage {
  /** Request units. */
  charge: number;
  /** Calls to physical partitions: one for each partition and look-up. */
  partitionCalls: number;
  /** Documents that were read, whether or not they were wanted. */
  documentsLoaded: number;
  bytesLoaded: number;
}

/** What a resource token opens. */
export interface Reach {
  /** The only partition key; undefined: all. */
  readonly partition: { readonly value: Value } | undefined;
  /** The id of the only document; undefined: all. */
  readonly id: string | undefined;
}

export interface StoreOptions {
  readonly isTransactional: boolean;
  /** Life of the transaction; the default of all transactions where it is left out. */
  readonly lifetimeMs?: number | undefined;
  /** Undefined where the caller may reach everything. */
  readonly reach?: Reach | undefined;
  readonly usage: StoreUsage;
  /** When look-ups end early. */
  readonly interruption: {
    readonly deadlineMs: number;
    readonly client: { readonly isGone: boolean };
  };
}

interface FindOptions {
  readonly ranges?: readonly HashRange[] | undefined;
  /** Documents of one page. */
  readonly take?: number | undefined;
  /** Finds what the caller may not reach, so that a write of it is refused. */
  readonly isBeyondReach?: boolean | undefined;
}

/** All hashes. */
const EVERYWHERE: HashRange = { min: '', max: 'FF' };

/**
 * A traversal that writes reads in a transaction: what it read is then as it was when its writes become durable. One
 * that only reads needs none.
 */
export class DocumentStore {
  readonly #service: Service;
  readonly #container: ContainerRecord;
  readonly #isTransactional: boolean;
  readonly #lifetimeMs: number | undefined;
  readonly #reach: Reach | undefined;
  #interruption: StoreOptions['interruption'];
  #transaction: Transaction | undefined;
  /** Whether a look-up of the transaction has found nothing. */
  sawAbsent = false;
  usage: StoreUsage;

  constructor(service: Service, container: ContainerRecord, options: StoreOptions) {
    this.#service = service;
    this.#container = container;
    this.#isTransactional = options.isTransactional;
    this.#lifetimeMs = options.lifetimeMs;
    this.#reach = options.reach;
    this.#interruption = options.interruption;
    this.usage = options.usage;
  }

  /** The next look-ups are another request's. */
  serve({ usage, interruption }: Pick<StoreOptions, 'usage' | 'interruption'>): void {
    this.usage = usage;
    this.#interruption = interruption;
  }

  #isReachable(partition: Value, id: Value): boolean {
    if (this.#reach === undefined) return true;
    const { partition: only, id: onlyId } = this.#reach;
    if (onlyId !== undefined && id !== onlyId) return false;
    return only === undefined || JSON.stringify([partition]) === JSON.stringify([only.value]);
  }

  /** The documents of addresses, in their order; undefined where there is none. One call for each partition. */
  async read(addresses: readonly ElementAddress[]): Promise<(ValueMap | undefined)[]> {
    const reachable = addresses.filter(({ partition, key }) => this.#isReachable(partition, key));
    if (reachable.length === addresses.length) return this.#read(addresses);
    const found = await this.#read(reachable);
    return addresses.map((address) => found[reachable.indexOf(address)]);
  }

  async #read(addresses: readonly ElementAddress[]): Promise<(ValueMap | undefined)[]> {
    const { items } = this.#service;
    const [first, ...others] = addresses.map(itemAddress);
    if (first === undefined) return [];
    const transaction = this.#begin();
    if (transaction !== undefined) {
      const found = await transaction.readMany(this.#container, [first, ...others]);
      this.sawAbsent ||= found.includes(undefined);
      this.usage.partitionCalls += found.length;
      this.#loaded(found);
      return found.map(documentOf);
    }
    if (others.length === 0) {
      const reply = await items.read(this.#container, first, undefined);
      this.#pay(reply, 1);
      this.#loaded([reply.item]);
      return [documentOf(reply.item)];
    }
    const reply = await items.readMany(this.#container, [first, ...others]);
    this.#pay(reply, reply.partitionCalls);
    this.#loaded(reply.items);
    return reply.items.map(documentOf);
  }

  /** The transaction of the traversal; undefined where it only reads. */
  #begin(): Transaction | undefined {
    if (this.#isTransactional)
      this.#transaction ??= this.#service.transactions.begin({ timeoutMs: this.#lifetimeMs });
    return this.#transaction;
  }

  /** Pages of documents that satisfy the condition and the test, in parts of the hash space. */
  async *find(
    condition: Condition,
    isWanted: (document: ValueMap) => boolean,
    { ranges = [EVERYWHERE], take = BATCH_MAX, isBeyondReach = false }: FindOptions = {},
  ): AsyncGenerator<readonly ValueMap[]> {
    const only = isBeyondReach ? undefined : this.#reach?.partition;
    const [path] = this.#container.partitionKey.paths;
    const isInReach = (document: ValueMap): boolean =>
      isBeyondReach || this.#isReachable(document[String(path).slice(1)], document.id);
    const query: ExecutableQuery = {
      condition,
      shape: {
        kind: 'streaming',
        rowsOf: (item) => {
          const value = item.value();
          return isMap(value) && isInReach(value) && isWanted(value) ? [{ value, keys: [] }] : [];
        },
        order: undefined,
        skip: 0,
        take: Number.POSITIVE_INFINITY,
      },
    };
    let continuation: string | undefined;
    do {
      const page: QueryPage = await this.#run({
        query,
        ranges: only === undefined ? ranges : this.rangesOf([only.value]),
        continuation,
        limit: Math.max(1, Math.min(take, BATCH_MAX)),
        sessionToken: undefined,
        ...this.#interruption,
      });
      continuation = page.continuation;
      if (page.rows.length > 0) yield page.rows.map(({ value }) => value as ValueMap);
    } while (continuation !== undefined);
  }

  /** The number of documents that satisfy an exact condition; undefined where no index tells it. */
  async count(condition: Condition): Promise<number | undefined> {
    if (this.#isTransactional || this.#reach !== undefined) return undefined;
    let isCounted = true;
    const query: ExecutableQuery = {
      condition,
      isExact: true,
      isWithin: true,
      shape: {
        kind: 'blocking',
        needsEvery: true,
        start: () => {
          let count = 0;
          return {
            // An item that has to be read is not counted by the index: the traversal reads them itself.
            add: () => {
              isCounted = false;
              return false;
            },
            addMatching: (more) => {
              count += more;
            },
            finish: () => [count],
          };
        },
      },
    };
    const page = await this.#run({
      query,
      ranges: [EVERYWHERE],
      continuation: undefined,
      limit: 1,
      sessionToken: undefined,
      ...this.#interruption,
    });
    const [row] = page.rows;
    return isCounted && page.continuation === undefined && typeof row?.value === 'number'
      ? row.value
      : undefined;
  }

  /** The ranges of the partitions that have these partition keys; of one key, just its own. */
  rangesOf(partitions: readonly Value[]): readonly HashRange[] {
    const container =
      this.#service.containers.findByRid(this.#container.databaseRid, this.#container.rid) ??
      this.#container;
    const hashes = new Set(
      partitions.map((partition) =>
        epkToHex(effectivePartitionKey([partition], container.partitionKey)),
      ),
    );
    const [only] = hashes;
    if (hashes.size === 1) return [{ min: only as string, max: `${only}00` }];
    return container.partitions
      .filter(({ min, max }) => [...hashes].some((hash) => min <= hash && hash < max))
      .map(({ min, max }) => ({ min, max }));
  }

  async #run(request: Parameters<Transaction['query']>[1]): Promise<QueryPage> {
    const transaction = this.#begin();
    const page = await (transaction === undefined
      ? this.#service.queries.run(this.#container, request)
      : transaction.query(this.#container, request));
    this.sawAbsent ||= transaction !== undefined && page.rows.length === 0;
    // A transaction charges for its reads when it ends.
    const charge = transaction === undefined ? page.charge : 0;
    this.#pay({ ...page, charge }, page.partitionIds.length);
    this.usage.documentsLoaded += page.stats.itemsLoaded;
    this.usage.bytesLoaded += page.stats.bytesLoaded;
    return page;
  }

  /** Applies all writes or none. Throws `retryWith` where others have changed what was read. */
  async commit(writes: Iterable<ItemWrite>, count: number): Promise<void> {
    if (count === 1 && this.#transaction === undefined) {
      for (const only of writes) {
        this.#checkReach(only);
        this.#pay(await this.#service.items.write(this.#container, only), 1);
      }
      return;
    }
    const transaction = this.#begin();
    assert(transaction !== undefined, 'a traversal that writes has a transaction');
    for (const write of writes) {
      this.#checkReach(write);
      await transaction.write(this.#container, write);
      const pause = yieldToEventLoop();
      if (pause !== undefined) await pause;
    }
    this.#pay(await transaction.commit(), 1);
  }

  #checkReach({ kind, partitionKey: [partition], rowKey: [key] }: ItemWrite): void {
    if (!this.#isReachable(partition, key))
      throw forbidden('The token is for other elements than those that are written.');
    if (kind === 'create' && this.#reach?.id !== undefined)
      throw forbidden('The token of an element does not add any.');
  }

  /** Ends the transaction without its writes; does nothing after a commit. */
  async abort(): Promise<void> {
    await this.#transaction?.abort();
  }

  #loaded(items: readonly (Item | undefined)[]): void {
    this.usage.documentsLoaded += items.length;
    for (const item of items) this.usage.bytesLoaded += item?.body.length ?? 0;
  }

  #pay({ charge }: ResponseInfo, partitionCalls: number): void {
    this.usage.charge += charge;
    this.usage.partitionCalls += partitionCalls;
  }
}

function itemAddress({ partition, key }: ElementAddress): ItemAddress {
  return { partitionKey: [partition], rowKey: [key] };
}

function documentOf(item: Item | undefined): ValueMap | undefined {
  return item === undefined ? undefined : (jsonCodec.decode(item.body) as ValueMap);
}
