/** Queries of every language: an executable query over parts of a container, page by page. */
import {
  andThen,
  type Bytes,
  type Clock,
  DomainError,
  isPromise,
  type MaybePromise,
  type OperationTrace,
  PAGE_BYTES_MAX,
  type ResponseInfo,
  type SessionToken,
} from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import type {
  Cluster,
  ClusterTransaction,
  QueryReader,
  Route,
  WorkShare,
} from '../cluster/index.ts';
import {
  describeCondition,
  type ExecutableQuery,
  type ExecutionStats,
  executePage,
  type HashRange,
  Interruption,
  type InterruptionOptions,
  looseItem,
  maxHash,
  minHash,
  newStats,
  parsePosition,
  printPosition,
  type QueryShapes,
  ResultCache,
  type ResultPage,
  type ResultRow,
  type Target,
} from '../query/index.ts';
import { type HeatKey, queryChargeParts, type RequestClass } from '../throughput/index.ts';
import { epkFromHex } from '../value/index.ts';

/** The fixed cost of reading a partition, in index entries: as `queryCharge` weighs them. */
const PARTITION_EFFORT = 440;

export interface QueryRequest extends InterruptionOptions {
  readonly query: ExecutableQuery;
  /** Parts of the hash space the query covers, in order, without overlaps. */
  readonly ranges: readonly HashRange[];
  readonly continuation: string | undefined;
  readonly limit: number;
  /** True: a full page has a continuation, also where nothing follows. */
  readonly endsFullPages?: boolean;
  readonly sessionToken: SessionToken | undefined;
  /** As the client sent it, for the report of what costs most; absent where the language has no text here. */
  readonly text?: string | undefined;
  readonly requestClass?: RequestClass | undefined;
  /** Set where a transaction queries: it sees its own writes, and the others' are watched. */
  readonly transaction?: ClusterTransaction | undefined;
}

export interface QueryPage extends ResponseInfo {
  readonly rows: readonly ResultRow[];
  readonly continuation: string | undefined;
  readonly stats: ExecutionStats;
  /** Ids of the partitions that were read, in order. */
  readonly partitionIds: readonly string[];
}

/** The owner of a cached result: a request that may read less must not get it. */
function ownerOf({ databaseRid, rid }: ContainerRecord, { ranges }: QueryRequest): string {
  return JSON.stringify([databaseRid, rid, ranges.map(({ min, max }) => [min, max])]);
}

/** Those who note how queries ran. */
interface QueryReports {
  readonly trace: OperationTrace;
  readonly shapes: QueryShapes;
}

export class Queries {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #trace: OperationTrace;
  readonly #shapes: QueryShapes;
  readonly #cache = new ResultCache();

  constructor(cluster: Cluster, clock: Clock, reports: QueryReports) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#trace = reports.trace;
    this.#shapes = reports.shapes;
  }

  /** The hash range of a partition, live or replaced by others; throws `partitionGone` for an id never used. */
  rangeOf(container: ContainerRecord, partitionId: string): HashRange {
    const { min, max } = this.#cluster.routing(container).rangeOf(partitionId);
    return { min, max };
  }

  /** How far the index is built under the present policy, in percent. */
  indexProgress(container: ContainerRecord): Promise<number> {
    const attempt = (current: ContainerRecord) => this.#cluster.indexProgress(current);
    return Promise.resolve(this.#cluster.withRerouting(container, attempt));
  }

  /** Returns at once where the partitions do and the query is one that can. */
  run(container: ContainerRecord, request: QueryRequest): MaybePromise<QueryPage> {
    const attempt = (current: ContainerRecord) => this.#run(current, request);
    return this.#cluster.withRerouting(container, attempt);
  }

  #run(container: ContainerRecord, request: QueryRequest): MaybePromise<QueryPage> {
    const { continuation } = request;
    const position = continuation === undefined ? undefined : parsePosition(continuation);
    if (continuation !== undefined && position === undefined)
      throw new DomainError('invalidInput', 'Invalid Continuation Token');
    const startedMs = performance.now();
    const stats = newStats();
    const partitionsRead = new Map<string, ReadPartition>();
    const toPage = (page: ResultPage): QueryPage => {
      const info = this.#complete(container, request, stats, partitionsRead);
      const partitionIds = [...partitionsRead.keys()];
      this.#shapes.noteQuery(container, request.query, request.text, {
        isFirst: continuation === undefined,
        charge: info.charge,
        durationMs: performance.now() - startedMs,
        partitions: partitionIds.length,
        rows: page.rows.length,
      });
      this.#trace.note(() => ({
        kind: 'query',
        charge: info.charge,
        partitions: partitionIds,
        accessPaths: stats.accessPaths,
        parts: { ...queryChargeParts({ ...stats, partitions: partitionIds.length }) },
        rows: page.rows.length,
        condition: describeCondition(request.query.condition),
        isOneKey: onlyKeyOf(request.ranges) !== undefined,
      }));
      const next = page.position && printPosition(page.position);
      return { ...info, rows: page.rows, continuation: next, stats, partitionIds };
    };
    // Where one partition refuses or fails, the reads of the others are charged all the same.
    const failed = (error: unknown): never => {
      if (partitionsRead.size > 0) this.#complete(container, request, stats, partitionsRead);
      throw error;
    };
    let page: MaybePromise<ResultPage>;
    try {
      page = executePage({
        query: request.query,
        ranges: rangesOf(request),
        position,
        rowsMax: request.limit,
        bytesMax: PAGE_BYTES_MAX,
        endsFullPages: request.endsFullPages ?? false,
        ...(request.transaction === undefined && {
          cache: { results: this.#cache, owner: () => ownerOf(container, request) },
        }),
        stats,
        interruption: isInterruptible(request) ? new Interruption(request, this.#clock) : undefined,
        targetsIn: (range) => this.#targets(container, range, request, partitionsRead),
      });
    } catch (error) {
      return failed(error);
    }
    return isPromise(page) ? page.then(toPage, failed) : toPage(page);
  }

  /** Charges every partition for its part; where none was read, the first is charged the minimum. */
  #complete(
    container: ContainerRecord,
    { ranges, requestClass }: QueryRequest,
    stats: ExecutionStats,
    partitionsRead: ReadonlyMap<string, ReadPartition>,
  ): ResponseInfo {
    const key = partitionsRead.size === 1 ? onlyKeyOf(ranges) : undefined;
    const bytes = stats.bytesLoaded / Math.max(1, partitionsRead.size);
    const [first, ...others] = [...partitionsRead.values()].map(
      ({ route, readers }): WorkShare => ({
        route,
        effort: readers.reduce((sum, { effort }) => sum + effort, PARTITION_EFFORT),
        bytes,
        key,
      }),
    );
    const route = this.#cluster.routing(container).routes[0] as Route;
    const unread: WorkShare = { route, effort: 1, bytes: 0, key: undefined };
    return this.#cluster.chargeQuery([first ?? unread, ...others], stats, requestClass);
  }

  #targets(
    container: ContainerRecord,
    range: HashRange,
    request: QueryRequest,
    partitionsRead: Map<string, ReadPartition>,
  ): readonly Target[] {
    const { sessionToken, requestClass, transaction } = request;
    const { routes } = this.#cluster.routing(container);
    // Hexadecimal of the same case sorts as the bytes do.
    const reached = routes.filter(
      ({ partition: { min, max } }) => min < range.max && range.min < max,
    );
    const targets = reached.map((route): Target => {
      const { partition } = route;
      const min = maxHash(range.min, partition.min);
      const max = minHash(range.max, partition.max);
      const isWhole = min === partition.min && max === partition.max;
      const within = isWhole ? undefined : { min: epkFromHex(min), max: epkFromHex(max) };
      return {
        min,
        max,
        open: () => {
          const opened =
            transaction === undefined
              ? this.#cluster.reader(route, within, sessionToken, requestClass)
              : transaction.reader(container, { route, within, filter: filterOf(route, request) });
          return andThen(opened, (reader) => {
            const readers = partitionsRead.get(partition.id)?.readers ?? [];
            readers.push(reader);
            partitionsRead.set(partition.id, { route, readers });
            return reader;
          });
        },
      };
    });
    if (transaction === undefined || range.max <= OWN_WRITES.min) return targets;
    const within = request.ranges.map(({ min, max }) => ({
      min: epkFromHex(min),
      max: epkFromHex(max),
    }));
    const own: Target = { ...OWN_WRITES, open: () => transaction.ownReader(container, within) };
    return [...targets, own];
  }
}

function isInterruptible({ deadlineMs, signal, client }: InterruptionOptions): boolean {
  return deadlineMs !== undefined || signal !== undefined || client !== undefined;
}

/** A place for the uncommitted writes of a transaction, behind all of the hash space. */
const OWN_WRITES: HashRange = { min: 'FF', max: 'FFFF' };

function rangesOf({ ranges, transaction }: QueryRequest): readonly HashRange[] {
  return transaction === undefined ? ranges : [...ranges, OWN_WRITES];
}

/** Whether an item concerns the query, as far as its filter tells at once. */
function filterOf(
  { handle }: Route,
  { query: { shape } }: QueryRequest,
): (item: { readonly body: Bytes }) => boolean {
  if (shape.kind !== 'streaming' || shape.rowsOfMany !== undefined) return () => true;
  const { codec } = handle.options.indexing.options;
  return ({ body }) => {
    try {
      return shape.rowsOf(looseItem({ value: () => codec.decode(body), body })).length > 0;
    } catch {
      return true;
    }
  };
}

/** The key of a query about one key: its range begins with the key and ends with the key and a zero byte. */
function onlyKeyOf([range, ...others]: readonly HashRange[]): HeatKey | undefined {
  if (range === undefined || others.length > 0 || range.max !== `${range.min}00`) return undefined;
  return { epk: epkFromHex(range.min), primary: undefined };
}

/** A partition that a query read, with its readers. */
interface ReadPartition {
  readonly route: Route;
  readonly readers: QueryReader[];
}
