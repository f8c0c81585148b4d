/**
 * A transaction on one logical partition whose client computes between reads and writes. Reads see what is stored and the
 * transaction's own writes, which are kept until it commits them as one command. A conflict tracker notices writes of
 * others: where they wrote what the transaction read, it is refused (`retryWith`) and may be tried again from the start.
 */
import {
  type Bytes,
  bytesToLatin1,
  type Clock,
  DomainError,
  type MaybePromise,
  type ResponseInfo,
  SCRIPT_WRITE_BYTES_MAX,
  type SessionToken,
} from '../../base/index.ts';
import {
  type ConflictTracker,
  decideOp,
  type Effect,
  formatEtag,
  type Item,
  type ItemKey,
  type ItemOp,
  type Partition,
  type Put,
  stampedItem,
  type TransactionOp,
  type UpdateReply,
  writeTime,
} from '../../partition/index.ts';
import type { ExecutionStats, ItemReader } from '../../query/index.ts';
import {
  MINIMAL_CHARGE,
  queryCharge,
  type RequestClass,
  readCharge,
} from '../../throughput/index.ts';
import type { Cluster } from '../cluster.ts';
import { QueryReader } from '../read/query-reader.ts';
import { checkSession, responseInfoOf, type TransactionReply, throttled } from '../reply.ts';
import type { PartitionRegistry } from '../routing/partition-registry.ts';
import type { Route } from '../routing/routing-map.ts';
import { UncommittedReader } from './uncommitted-reader.ts';

/** No commit gets an LSN as high: etags of uncommitted writes differ from those of all committed ones. */
const UNCOMMITTED_LSN = 2 ** 40;

interface InteractiveTransactionOptions {
  readonly route: Route;
  readonly partition: Partition;
  readonly conflicts: ConflictTracker;
  /** The prefix of the primary keys of the logical partition. */
  readonly prefix: Bytes;
  readonly clock: Clock;
  readonly requestClass: RequestClass;
  readonly cluster: Cluster;
}

interface TransactionContext {
  readonly cluster: Cluster;
  readonly registry: PartitionRegistry;
  readonly clock: Clock;
}

/** The caller closes the transaction. */
export async function beginTransaction(
  { cluster, registry, clock }: TransactionContext,
  at: { readonly route: Route; readonly prefix: Bytes },
  session: SessionToken | undefined,
  requestClass: RequestClass,
): Promise<InteractiveTransaction> {
  const { route, prefix } = at;
  const refusal = route.handle.budget.admit(clock.nowMs(), requestClass);
  if (refusal !== undefined) throw throttled(route, refusal);
  const partition = await registry.partition(route.handle);
  checkSession(partition, route, session);
  const conflicts = await partition.transactions.trackConflicts(bytesToLatin1(prefix));
  return new InteractiveTransaction({
    route,
    partition,
    conflicts,
    prefix,
    clock,
    requestClass,
    cluster,
  });
}

/** An item before and after the writes of the transaction. */
interface OwnWrite {
  readonly key: ItemKey;
  readonly stored: Item | undefined;
  readonly item: Item | undefined;
  readonly put: Put | undefined;
}

export interface CommittedTransaction {
  /** Undefined where nothing was written. */
  readonly reply: TransactionReply | undefined;
  /** The etags of the committed items, by the provisional etags that the client saw. */
  readonly etags: ReadonlyMap<string, string>;
}

export class InteractiveTransaction {
  readonly #options: InteractiveTransactionOptions;
  readonly #own = new Map<string, OwnWrite>();
  readonly #reads = new Set<string>();
  readonly #provisionalEtags = new Map<string, string[]>();
  #hasQueried = false;
  #writeCount = 0;
  #writeBytes = 0;
  #charge = 0;

  constructor(options: InteractiveTransactionOptions) {
    this.#options = options;
  }

  /** The charge of reads and queries so far; writes are charged when they are committed. */
  get readCharge(): number {
    return this.#charge;
  }

  /** For a response without writes. */
  responseInfo(): ResponseInfo {
    const { route, partition } = this.#options;
    return responseInfoOf(route, partition.lsn, this.#charge);
  }

  async read(key: ItemKey): Promise<Item | undefined> {
    const item = await this.#current(key, (partition) => partition.read(key));
    const bytes = item === undefined ? 0 : item.body.length;
    this.#pay(item === undefined ? MINIMAL_CHARGE : readCharge(bytes), bytes, key);
    return item;
  }

  /** Throws as the committed write would. */
  async write(op: ItemOp): Promise<Effect> {
    const { key } = op;
    const previous = await this.#current(key, (partition) => partition.readBeforeWrite(key));
    const also = op.kind === 'update' ? await this.#others(op.alsoReads) : [];
    const mutation = decideOp(op, previous, also, this.#updateScope);
    const { reply } = mutation;
    if (mutation.kind === 'keep') return this.#kept(key, previous, reply);
    const put = mutation.kind === 'put' ? mutation : undefined;
    const item = put && this.#provisional(put, previous);
    const stored = this.#own.has(key.text) ? this.#own.get(key.text)?.stored : previous;
    this.#own.set(key.text, { key, stored, item, put });
    const kind = item === undefined ? 'deleted' : previous === undefined ? 'created' : 'replaced';
    return { kind, item, previous, reply };
  }

  /** Items that an update looks at, beside its own. */
  async #others(keys: readonly ItemKey[] = []): Promise<readonly (Item | undefined)[]> {
    const items: (Item | undefined)[] = [];
    for (const key of keys)
      items.push(await this.#current(key, (partition) => partition.readBeforeWrite(key)));
    return items;
  }

  #kept(key: ItemKey, item: Item | undefined, reply: UpdateReply): Effect {
    const bytes = item === undefined ? 0 : item.body.length;
    this.#pay(item === undefined ? MINIMAL_CHARGE : readCharge(bytes), bytes, key);
    return { kind: 'kept', item, previous: item, reply };
  }

  get #updateScope() {
    const { route, clock } = this.#options;
    return { updaters: route.handle.options.updaters ?? {}, nowMs: () => clock.nowMs() };
  }

  /** The item with this rid in the logical partition. */
  async findByRid(rid: number): Promise<Item | undefined> {
    for (const { item, stored } of this.#own.values()) {
      if (item?.rid === rid) return item;
      if (stored?.rid === rid) return undefined;
    }
    const item = await this.#partition.readByRid(rid);
    const { prefix } = this.#options;
    if (item === undefined || Buffer.compare(item.primary.subarray(0, prefix.length), prefix) !== 0)
      return undefined;
    return item;
  }

  /** The logical partition for a query: one reader of stored items that are not written here, and one of own writes. */
  async readers(): Promise<readonly (ItemReader & { release(): void })[]> {
    const { prefix } = this.#options;
    this.#hasQueried = true;
    const own = [...this.#own.values()];
    const overwritten = new Set(
      own.flatMap(({ stored }) => (stored === undefined ? [] : [stored.rid])),
    );
    const reader = await this.#partition.reader();
    const stored = new QueryReader(reader, prefix, overwritten);
    try {
      this.#check();
    } catch (error) {
      stored.release();
      throw error;
    }
    const items = own.flatMap(({ item }) => (item === undefined ? [] : [item]));
    return [stored, new UncommittedReader(items, (item) => reader.decode(item as Item))];
  }

  /** Charges a query over what `readers` returned. */
  payQuery(stats: ExecutionStats): void {
    this.#pay(queryCharge({ ...stats, partitions: 1 }), stats.bytesLoaded);
  }

  #pay(charge: number, bytes: number, key?: ItemKey): void {
    const { route, clock, requestClass } = this.#options;
    const nowMs = clock.nowMs();
    this.#charge += charge;
    route.handle.budget.charge(charge, nowMs, requestClass);
    route.handle.heat.add(charge, bytes, key, nowMs);
  }

  async commit(): Promise<CommittedTransaction> {
    const etags = new Map<string, string>();
    const ops = [...this.#own.values()].flatMap(opsOf);
    if (ops.length === 0) return { reply: undefined, etags };
    const { cluster, route, requestClass } = this.#options;
    const reply = await cluster.transactOn(route, ops, requestClass, {
      guard: () => this.#check(),
    });
    ops.forEach(({ key }, at) => {
      const etag = reply.outcomes[at]?.item?.etag;
      if (etag !== undefined)
        for (const shown of this.#provisionalEtags.get(key.text) ?? []) etags.set(shown, etag);
    });
    return { reply, etags };
  }

  /** Idempotent. */
  close(): void {
    this.#options.conflicts.close();
  }

  /** Throws where it was replaced by others, or closed. */
  get #partition(): Partition {
    const { route, partition } = this.#options;
    if (route.handle.partition === partition && !partition.hasFailed) return partition;
    throw new DomainError('partitionGone', 'The partition was replaced by others.');
  }

  async #current(
    key: ItemKey,
    read: (partition: Partition) => MaybePromise<Item | undefined>,
  ): Promise<Item | undefined> {
    const own = this.#own.get(key.text);
    if (own !== undefined) return own.item;
    const item = await read(this.#partition);
    this.#reads.add(key.text);
    this.#check();
    return item;
  }

  #provisional(put: Put, previous: Item | undefined): Item {
    const { route, clock } = this.#options;
    const { finisher, etagSalt } = route.handle.options;
    this.#writeBytes += put.body.length;
    if (this.#writeBytes > SCRIPT_WRITE_BYTES_MAX)
      throw new DomainError(
        'tooLarge',
        'The script has written more than one transaction may hold.',
      );
    const version = { salt: etagSalt, lsn: UNCOMMITTED_LSN + ++this.#writeCount, operation: 0 };
    const nowMs = clock.nowMs();
    const timestampSec = Math.floor(nowMs / 1000);
    const time = put.encoding === 'edm' ? writeTime(nowMs) : '';
    const rid = previous?.rid ?? this.#partition.reserveRid();
    const etag = formatEtag(version);
    const shown = this.#provisionalEtags.get(put.key.text);
    if (shown === undefined) this.#provisionalEtags.set(put.key.text, [etag]);
    else shown.push(etag);
    return stampedItem(put, { rid, etag, timestampSec, version, time }, finisher);
  }

  /** Throws where others have written what this transaction has read. */
  #check(): void {
    const { writtenKeys } = this.#options.conflicts;
    if (writtenKeys.size === 0) return;
    if (!this.#hasQueried && !writtenKeys.values().some((key) => this.#reads.has(key))) return;
    throw new DomainError(
      'retryWith',
      'Others have written the same items meanwhile; nothing was applied. Retry the request.',
    );
  }
}

/** Operations from the stored item to the written one. An item deleted and created again gets a new rid. */
function opsOf({ key, stored, item, put }: OwnWrite): readonly TransactionOp[] {
  if (item === undefined || put === undefined)
    return stored === undefined ? [] : [{ kind: 'delete', key }];
  const { encoding, body, ttlSec, value } = put;
  const write = { key, encoding, body, ttlSec, value, rid: item.rid };
  if (stored === undefined) return [{ kind: 'create', ...write }];
  if (stored.rid === item.rid) return [{ kind: 'replace', ...write }];
  return [
    { kind: 'delete', key },
    { kind: 'create', ...write },
  ];
}
