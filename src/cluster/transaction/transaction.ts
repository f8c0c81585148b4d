/**
 * A transaction over items of any partitions and containers. Reads see what is stored and the transaction's own writes,
 * which are kept in memory until the commit. Nothing is held before the commit: where others have changed meanwhile what
 * the transaction read, its commit is refused with `retryWith` and nothing is applied.
 */
import {
  compareBytes,
  DomainError,
  type MaybePromise,
  type ResponseInfo,
  TRANSACTION_BYTES_MAX,
} from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import {
  decideOp,
  type Effect,
  type EpkRange,
  formatEtag,
  type Item,
  type ItemKey,
  type ItemOp,
  type Partition,
  type Put,
  primaryRange,
  readIsStale,
  stampedItem,
  writeTime,
} from '../../partition/index.ts';
import { MINIMAL_CHARGE, type RequestClass, readCharge } from '../../throughput/index.ts';
import { admit, chargeTo } from '../admission.ts';
import type { ClusterContext } from '../cluster-context.ts';
import type { ContainerName } from '../container/container-name.ts';
import { QueryReader } from '../read/query-reader.ts';
import type { Router } from '../routing/router.ts';
import type { Route } from '../routing/routing-map.ts';
import { QueryWatches } from './query-watches.ts';
import {
  type Committed,
  expired,
  isGone,
  type Participant,
  type TransactionCommitter,
} from './transaction-committer.ts';
import type { OwnWrite, TransactionEntry } from './transaction-entry.ts';
import { TransactionItems } from './transaction-items.ts';
import { UncommittedReader } from './uncommitted-reader.ts';
import { UniqueWrites } from './unique-writes.ts';

/** No commit gets an LSN as high, and no partition gives out such rids: the client sees provisional ones. */
const UNCOMMITTED_LSN = 2 ** 40;
const UNCOMMITTED_RID = 2 ** 52;

/** A commit begins again where a partition was replaced; not for ever. */
const COMMITS_MAX = 10;

export interface TransactionParts {
  readonly context: ClusterContext;
  readonly router: Router;
  readonly committer: TransactionCommitter;
  /** A container as it now is; undefined where it is gone. */
  readonly current: (container: ContainerName) => ContainerRecord | undefined;
}

/** Decisions of writes see shadows and headers, and their reads are charged with the write. */
type Reader = 'client' | 'decision';

interface TransactionOptions extends TransactionParts {
  readonly deadlineMs: number;
  readonly requestClass: RequestClass;
  /** Counts bytes of all open transactions; throws where they are too many. */
  readonly onBytes: (bytes: number) => void;
  readonly onEnd: () => void;
}

/** Rows that a query reads in one partition. */
interface QueryPart {
  readonly route: Route;
  /** Undefined: the whole partition. */
  readonly within: EpkRange | undefined;
  /** Whether an item concerns the query. */
  readonly filter: (item: Pick<Item, 'body'>) => boolean;
}

export class ClusterTransaction {
  readonly #options: TransactionOptions;
  readonly #items = new TransactionItems();
  readonly #watches = new QueryWatches();
  readonly #unique: UniqueWrites;
  #writes: Promise<unknown> = Promise.resolve();
  #writeCount = 0;
  #bytes = 0;
  #charge = 0;
  #isEnded = false;
  #isCommitting = false;

  constructor(options: TransactionOptions) {
    this.#options = options;
    this.#unique = new UniqueWrites(options);
  }

  get requestClass(): RequestClass {
    return this.#options.requestClass;
  }

  /** Bytes of the bodies written. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws where the transaction has ended or is too old. */
  checkOpen(): void {
    if (this.#isEnded)
      throw new DomainError('retryWith', 'The transaction has ended; nothing more was applied.');
    if (this.#options.context.clock.nowMs() <= this.#options.deadlineMs) return;
    this.#end();
    throw expired();
  }

  async read(container: ContainerRecord, key: ItemKey): Promise<Item | undefined> {
    this.checkOpen();
    const own = this.#items.own(container, key);
    if (own !== undefined) return own.item;
    return this.#read(container, key, 'client');
  }

  /** One result per key, in order, with one call for each partition. */
  async readMany(
    container: ContainerRecord,
    keys: readonly ItemKey[],
  ): Promise<readonly (Item | undefined)[]> {
    this.checkOpen();
    const found = new Map<string, Item | undefined>();
    const others = new Map<string, ItemKey>();
    for (const key of keys) {
      const own = this.#items.own(container, key);
      if (own === undefined) others.set(key.text, key);
      else found.set(key.text, own.item);
    }
    const attempt = async (current: ContainerRecord): Promise<void> => {
      const routing = this.#options.router.routing(current);
      const parts = Map.groupBy(others.values(), ({ epk }) => routing.forKey(epk));
      await Promise.all([...parts].map(([route, own]) => this.#readAllAt(route, own, found)));
    };
    await this.#options.router.withRerouting(container, attempt);
    for (const key of others.values()) this.#noteRead(container, key, found.get(key.text));
    return keys.map(({ text }) => found.get(text));
  }

  async #readAllAt(
    route: Route,
    keys: readonly ItemKey[],
    found: Map<string, Item | undefined>,
  ): Promise<void> {
    const { context } = this.#options;
    admit(context, route, this.requestClass);
    const partition = await context.registry.partition(route.handle);
    await untilFree(partition, keys);
    const items = await partition.readMany(keys);
    let [charge, bytes] = [0, 0];
    keys.forEach(({ text }, at) => {
      const item = items[at];
      found.set(text, item);
      bytes += item?.body.length ?? 0;
      charge += item === undefined ? MINIMAL_CHARGE : readCharge(item.body.length);
    });
    this.#charge += charge;
    chargeTo(context, route, { charge, bytes, key: undefined }, this.requestClass);
  }

  /** Throws as the committed write would. Writes of one transaction come one after the other. */
  write(container: ContainerRecord, op: ItemOp): Promise<Effect> {
    const written = this.#writes.then(() => this.#write(container, op));
    this.#writes = written.catch(() => undefined);
    return written;
  }

  /** A partition for a query of the transaction: what is stored, without the items that it has written itself. */
  async reader(container: ContainerRecord, part: QueryPart): Promise<QueryReader> {
    this.checkOpen();
    const { route, within, filter } = part;
    const { context } = this.#options;
    admit(context, route, this.requestClass);
    const partition = await context.registry.partition(route.handle);
    const range = within ?? route;
    await this.#watches.add(route.handle, partition, primaryRange(range.min, range.max), filter);
    const overwritten = new Set<number>();
    for (const { rid, write } of this.#items.of(container))
      if (rid !== undefined && write !== undefined) overwritten.add(rid);
    const search = context.registry.search(route.handle, partition);
    return new QueryReader(await partition.reader(), within, overwritten, search);
  }

  /** The transaction's own items in these parts of the hash space, for a query. */
  ownReader(container: ContainerRecord, ranges: readonly EpkRange[]): UncommittedReader {
    this.checkOpen();
    const items: Item[] = [];
    for (const { key, write } of this.#items.of(container))
      if (write?.item !== undefined && ranges.some((range) => isWithin(range, key)))
        items.push(write.item);
    const { indexing } = this.#routeOf(container, undefined).handle.options;
    return new UncommittedReader(items, ({ body }) => indexing.options.codec.decode(body));
  }

  /** Charges of queries, which their partitions have paid. */
  addCharge(charge: number): void {
    this.#charge += charge;
  }

  /** All writes or none. Throws `retryWith` where others have changed what was read. */
  async commit(): Promise<Committed> {
    await this.#writes;
    this.checkOpen();
    this.#isCommitting = true;
    try {
      for (let attempt = 1; ; attempt++)
        try {
          const committed = await this.#commit();
          return { ...committed, charge: rounded(this.#charge + committed.charge) };
        } catch (error) {
          if (!isGone(error)) throw error;
          if (attempt >= COMMITS_MAX) throw readIsStale();
          await this.#cutovers();
        }
    } finally {
      this.#end();
    }
  }

  /** Idempotent. A commit that has begun goes on. */
  abort(): void {
    if (!this.#isCommitting) this.#end();
  }

  async #commit(): Promise<Committed> {
    const { committer, deadlineMs, requestClass } = this.#options;
    const participants = this.#participants();
    const guard: Parameters<TransactionCommitter['commit']>[0]['guard'] = (id) =>
      this.#watches.check(id);
    const request = { participants, deadlineMs, requestClass, guard };
    const isWritten = participants.some(({ entries }) => entries.some(({ write }) => write));
    if (isWritten) return committer.commit(request);
    // One read of one item is valid as it is.
    if (this.#items.size > 1 || !this.#watches.isEmpty) await committer.checkReads(request);
    return { ...this.#noInfo(), etags: new Map() };
  }

  #noInfo(): ResponseInfo {
    return { partitionId: '0', lsn: 0, charge: 0 };
  }

  /** The partitions of all items, as they are now. */
  #participants(): readonly Participant[] {
    const byHandle = new Map<string, { route: Route; entries: TransactionEntry[] }>();
    for (const entry of this.#items.all()) {
      const route = this.#routeOf(entry.container, entry.key);
      const { storeName } = route.handle;
      const participant = byHandle.get(storeName);
      if (participant === undefined) byHandle.set(storeName, { route, entries: [entry] });
      else participant.entries.push(entry);
    }
    return [...byHandle.values()];
  }

  #routeOf(name: ContainerName, key: ItemKey | undefined): Route {
    const container = this.#options.current(name);
    if (container === undefined) throw new DomainError('containerNotFound', 'Resource Not Found.');
    const routing = this.#options.router.routing(container);
    return key === undefined ? (routing.routes[0] as Route) : routing.forKey(key.epk);
  }

  async #cutovers(): Promise<void> {
    for (const { route } of this.#participants()) await route.handle.cutover;
  }

  async #write(container: ContainerRecord, op: ItemOp): Promise<Effect> {
    this.checkOpen();
    const { key } = op;
    const previous = await this.#current(container, key);
    const others: (Item | undefined)[] = [];
    if (op.kind === 'update')
      for (const other of op.alsoReads ?? []) others.push(await this.#current(container, other));
    this.checkOpen();
    const { clock } = this.#options.context;
    const { updaters = {} } = this.#routeOf(container, key).handle.options;
    const decided = decideOp(op, previous, others, { updaters, nowMs: () => clock.nowMs() });
    const { reply } = decided;
    if (decided.kind === 'keep') return { kind: 'kept', item: previous, previous, reply };
    const entry = this.#items.get(container, key) as TransactionEntry;
    const put = decided.kind === 'put' ? decided : undefined;
    const isOwn = (text: string): boolean => this.#items.own(container, { text }) !== undefined;
    await this.#unique.take(container, { key, put, previous, isOwn });
    this.checkOpen();
    this.#count((put?.body.length ?? 0) - (entry.write?.put?.body.length ?? 0));
    const item = put && this.#provisional(container, put, previous);
    entry.write = { put, item } satisfies OwnWrite;
    const kind = item === undefined ? 'deleted' : previous === undefined ? 'created' : 'replaced';
    return { kind, item, previous, reply };
  }

  #current(container: ContainerRecord, key: ItemKey): MaybePromise<Item | undefined> {
    const own = this.#items.own(container, key);
    return own === undefined ? this.#read(container, key, 'decision') : own.item;
  }

  /** Reads what is stored; the same item must be the same every time. */
  async #read(container: ContainerRecord, key: ItemKey, reader: Reader): Promise<Item | undefined> {
    const { router } = this.#options;
    const attempt = (route: Route) => this.#readAt(route, key, reader);
    const item = await attempt(this.#routeOf(container, key)).catch((error) =>
      router.retryForKey(error, container, key.epk, attempt),
    );
    this.#noteRead(container, key, item);
    return item;
  }

  #noteRead(container: ContainerRecord, key: ItemKey, item: Item | undefined): void {
    try {
      this.#items.noteRead(container, key, item);
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  async #readAt(route: Route, key: ItemKey, reader: Reader): Promise<Item | undefined> {
    const { context } = this.#options;
    const isCharged = reader === 'client';
    if (isCharged) admit(context, route, this.requestClass);
    const partition = await context.registry.partition(route.handle);
    if (!partition.transactions.state.held.isEmpty) await untilFree(partition, [key]);
    const item = await (isCharged ? partition.read(key) : partition.readPresent(key));
    if (isCharged) {
      const bytes = item?.body.length ?? 0;
      const charge = item === undefined ? MINIMAL_CHARGE : readCharge(bytes);
      this.#charge += charge;
      chargeTo(context, route, { charge, bytes, key }, this.requestClass);
    }
    return item;
  }

  #count(bytes: number): void {
    if (this.#bytes + bytes > TRANSACTION_BYTES_MAX)
      throw new DomainError('tooLarge', 'The transaction has written more than it may hold.');
    this.#options.onBytes(bytes);
    this.#bytes += bytes;
  }

  #provisional(container: ContainerRecord, put: Put, previous: Item | undefined): Item {
    const { finisher, etagSalt } = this.#routeOf(container, put.key).handle.options;
    const number = ++this.#writeCount;
    const version = { salt: etagSalt, lsn: UNCOMMITTED_LSN + number, operation: 0 };
    const nowMs = this.#options.context.clock.nowMs();
    const timestampSec = Math.floor(nowMs / 1000);
    const time = put.encoding === 'edm' ? writeTime(nowMs) : '';
    const rid = previous?.rid ?? UNCOMMITTED_RID + number;
    const etag = formatEtag(version);
    return stampedItem(put, { rid, etag, timestampSec, version, time }, finisher);
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#watches.close();
    this.#options.onEnd();
  }
}

/** Items that another transaction is about to write are read afterwards: before, the read would not last. */
async function untilFree(partition: Partition, keys: readonly ItemKey[]): Promise<void> {
  const { held } = partition.transactions.state;
  const written = keys.filter((key) => held.isWritten(key));
  if (written.length === 0) return;
  await held.whenFree(written);
  await partition.transactions.whenPublished();
}

function isWithin({ min, max }: EpkRange, { epk }: ItemKey): boolean {
  return compareBytes(min, epk) <= 0 && compareBytes(epk, max) < 0;
}

/** Removes the noise of binary fractions from sums of charges. */
function rounded(charge: number): number {
  return Math.round(charge * 100) / 100;
}
