/**
 * Transactions on one logical partition for scripts, which compute between reading and writing. The work is repeated
 * from the start where others wrote what it read, or where the partition was replaced.
 */
import {
  DomainError,
  PAGE_BYTES_MAX,
  type ResponseInfo,
  SCRIPT_ATTEMPTS_MAX,
  type SessionToken,
} from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { Cluster, CommittedTransaction, InteractiveTransaction } from '../../cluster/index.ts';
import type { Effect, Item, ItemKey, ItemKeys } from '../../partition/index.ts';
import {
  type ExecutableQuery,
  executePage,
  type HashRange,
  newStats,
  parsePosition,
  printPosition,
  type ResultRow,
  type Target,
} from '../../query/index.ts';
import { MINIMAL_CHARGE, type RequestClass } from '../../throughput/index.ts';
import { type Epk, epkToHex, type Value } from '../../value/index.ts';
import { readOnly } from '../items/items.ts';
import { toOp, type WriteOperation } from '../items/operations.ts';

interface TransactionRequest {
  readonly container: ContainerRecord;
  /** All values of the key. */
  readonly partitionKey: readonly Value[];
  readonly sessionToken: SessionToken | undefined;
  readonly requestClass: RequestClass;
}

interface Transacted<T> extends ResponseInfo {
  readonly result: T;
  /** The etags of the committed items, by the provisional etags that the work saw. */
  readonly etags: CommittedTransaction['etags'];
}

export class KeyTransactions {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Commits the writes of the work, unless it throws. */
  async run<T>(
    request: TransactionRequest,
    work: (transaction: KeyTransaction) => Promise<T>,
  ): Promise<Transacted<T>> {
    for (let attempts = 1; ; attempts++)
      try {
        return await this.#cluster.withRerouting(request.container, (container) =>
          this.#attempt({ ...request, container }, work),
        );
      } catch (error) {
        const isRetried = error instanceof DomainError && error.code === 'retryWith';
        if (!isRetried || attempts >= SCRIPT_ATTEMPTS_MAX) throw error;
      }
  }

  async #attempt<T>(
    { container, partitionKey, sessionToken, requestClass }: TransactionRequest,
    work: (transaction: KeyTransaction) => Promise<T>,
  ): Promise<Transacted<T>> {
    const routing = this.#cluster.routing(container);
    const { keys } = routing;
    const epk = keys.epk(partitionKey);
    const route = routing.forKey(epk);
    const prefix = keys.prefixOf(epk, partitionKey);
    const open = await this.#cluster.beginTransaction(
      { route, prefix },
      sessionToken,
      requestClass,
    );
    try {
      const result = await work(new KeyTransaction(open, { container, partitionKey, epk, keys }));
      const { reply, etags } = await open.commit();
      const info = reply ?? open.responseInfo();
      const charge = reply === undefined ? info.charge : open.readCharge + reply.charge;
      const { partitionId, lsn } = info;
      return {
        result,
        etags,
        partitionId,
        lsn,
        charge: Math.max(MINIMAL_CHARGE, rounded(charge)),
      };
    } catch (error) {
      if (error instanceof DomainError) error.responseInfo ??= open.responseInfo();
      throw error;
    } finally {
      open.close();
    }
  }
}

interface TransactionPage {
  readonly rows: readonly ResultRow[];
  readonly continuation: string | undefined;
}

export class KeyTransaction {
  readonly #open: InteractiveTransaction;
  readonly #container: ContainerRecord;
  readonly #partitionKey: readonly Value[];
  readonly #epk: Epk;
  readonly #keys: ItemKeys;

  constructor(
    open: InteractiveTransaction,
    at: {
      readonly container: ContainerRecord;
      readonly partitionKey: readonly Value[];
      readonly epk: Epk;
      readonly keys: ItemKeys;
    },
  ) {
    this.#open = open;
    this.#container = at.container;
    this.#partitionKey = at.partitionKey;
    this.#epk = at.epk;
    this.#keys = at.keys;
  }

  read(rowKey: readonly Value[]): Promise<Item | undefined> {
    return this.#open.read(this.#key(rowKey));
  }

  findByRid(rid: number): Promise<Item | undefined> {
    return this.#open.findByRid(rid);
  }

  /** Later operations of the transaction see the write; others see it after the commit. */
  async write(rowKey: readonly Value[], operation: WriteOperation): Promise<Effect> {
    if (this.#container.globalIndex !== undefined) throw readOnly();
    const op = toOp(this.#container, this.#keys, this.#key(rowKey), this.#partitionKey, operation);
    return this.#open.write(op);
  }

  /** One page over the logical partition, own writes included. */
  async query(
    query: ExecutableQuery,
    { continuation, limit }: { readonly continuation: string | undefined; readonly limit: number },
  ): Promise<TransactionPage> {
    const position = continuation === undefined ? undefined : parsePosition(continuation);
    if (continuation !== undefined && position === undefined)
      throw new DomainError('invalidInput', 'Invalid Continuation Token');
    const readers = [...(await this.#open.readers())];
    const stats = newStats();
    const targets = this.#targets(readers);
    try {
      const page = await executePage({
        query,
        ranges: [{ min: (targets[0] as Target).min, max: (targets.at(-1) as Target).max }],
        position,
        rowsMax: limit,
        bytesMax: PAGE_BYTES_MAX,
        stats,
        targetsIn: (range) => targets.filter((target) => isTouching(target, range)),
      });
      return { rows: page.rows, continuation: page.position && printPosition(page.position) };
    } finally {
      for (const reader of readers) reader.release();
      this.#open.payQuery(stats);
    }
  }

  /** Stored items and own writes as two targets, one behind the other in the hash range of the key. */
  #targets(readers: OpenReader[]): readonly Target[] {
    const epk = epkToHex(this.#epk);
    const bounds = ['', '00', '01', '02'].map((end) => `${epk}${end}`);
    return readers.map((reader, at) => {
      let isUsed = false;
      return {
        min: bounds[at] as string,
        max: bounds[at + 1] as string,
        // A page that is run again finds its first readers released.
        open: async () => {
          if (!isUsed) {
            isUsed = true;
            return reader;
          }
          const others = await this.#open.readers();
          readers.push(...others);
          return others[at] as OpenReader;
        },
      };
    });
  }

  #key(rowKey: readonly Value[]): ItemKey {
    return this.#keys.keyAt(this.#epk, this.#partitionKey, rowKey);
  }
}

type OpenReader = Awaited<ReturnType<InteractiveTransaction['readers']>>[number];

function isTouching(a: HashRange, b: HashRange): boolean {
  return a.min < b.max && b.min < a.max;
}

/** Removes the noise of binary fractions from sums of charges. */
function rounded(charge: number): number {
  return Math.round(charge * 100) / 100;
}
