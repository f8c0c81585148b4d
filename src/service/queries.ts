/** Queries of every language: a program over parts of a container, page by page. */
import {
  andThen,
  DomainError,
  isPromise,
  type MaybePromise,
  PAGE_BYTES_MAX,
  type ResponseInfo,
} from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import type { Cluster, QueryReader, Route, WorkShare } from '../cluster/index.ts';
import {
  type ExecutableQuery,
  type ExecutionStats,
  earlierOf,
  executePage,
  type HashRange,
  laterOf,
  newStats,
  parsePosition,
  printPosition,
  ResultCache,
  type ResultPage,
  type Target,
} from '../query/index.ts';
import type { HeatKey, RequestClass } from '../throughput/index.ts';
import { epkFromHex } from '../value/index.ts';

/** Looking at a partition at all, in index entries: as `queryCharge` weighs them. */
const PARTITION_EFFORT = 440;

interface QueryRequest {
  readonly query: ExecutableQuery;
  /** Parts of the hash space the query covers, in order, without overlaps. */
  readonly ranges: readonly HashRange[];
  readonly continuation: string | undefined;
  readonly limit: number;
  /** True: a full page has a continuation, also where nothing follows. */
  readonly endsFullPages?: boolean;
  readonly sessionToken: string | undefined;
  readonly traffic?: RequestClass | undefined;
}

export interface QueryPage extends ResponseInfo {
  /** Each row as JSON text. */
  readonly rows: readonly string[];
  readonly continuation: string | undefined;
  readonly stats: ExecutionStats;
  /** Ids of the partitions looked at, in order. */
  readonly partitionIds: readonly string[];
}

/** What a kept result is of: it is given to nobody who may read less. */
function ownerOf({ databaseRid, rid }: ContainerRecord, { ranges }: QueryRequest): string {
  return JSON.stringify([databaseRid, rid, ranges.map(({ min, max }) => [min, max])]);
}

export class Queries {
  readonly #cluster: Cluster;
  readonly #cache = new ResultCache();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The hash range of a partition, live or replaced by others; throws `partitionGone` for an id that nobody had. */
  rangeOf(container: ContainerRecord, partitionId: string): HashRange {
    const { min, max } = this.#cluster.routing(container).rangeOf(partitionId);
    return { min, max };
  }

  /** How far the index is built under the present policy, in percent. */
  indexProgress(container: ContainerRecord): Promise<number> {
    const attempt = (current: ContainerRecord) => this.#cluster.indexProgress(current);
    return Promise.resolve(this.#cluster.withRerouting(container, attempt));
  }

  /** Answers at once where the partitions do and the program is one that can. */
  run(container: ContainerRecord, request: QueryRequest): MaybePromise<QueryPage> {
    const attempt = (current: ContainerRecord) => this.#run(current, request);
    return this.#cluster.withRerouting(container, attempt);
  }

  #run(container: ContainerRecord, request: QueryRequest): MaybePromise<QueryPage> {
    const { continuation } = request;
    const position = continuation === undefined ? undefined : parsePosition(continuation);
    if (continuation !== undefined && position === undefined)
      throw new DomainError('invalidInput', 'Invalid Continuation Token');
    const stats = newStats();
    const touched = new Map<string, Touched>();
    const finished = (page: ResultPage): QueryPage => ({
      ...this.#complete(container, request, stats, touched),
      rows: page.rows,
      continuation: page.position && printPosition(page.position),
      stats,
      partitionIds: [...touched.keys()],
    });
    // Refused by one partition, or failed: what the others did is paid for all the same.
    const failed = (error: unknown): never => {
      if (touched.size > 0) this.#complete(container, request, stats, touched);
      throw error;
    };
    let page: MaybePromise<ResultPage>;
    try {
      page = executePage({
        query: request.query,
        ranges: request.ranges,
        position,
        rowsMax: request.limit,
        bytesMax: PAGE_BYTES_MAX,
        endsFullPages: request.endsFullPages ?? false,
        cache: { results: this.#cache, owner: () => ownerOf(container, request) },
        stats,
        targetsIn: (range) => this.#targets(container, range, request, touched),
      });
    } catch (error) {
      return failed(error);
    }
    return isPromise(page) ? page.then(finished, failed) : finished(page);
  }

  /** Every partition pays its part; where none was looked at, the first pays for the asking. */
  #complete(
    container: ContainerRecord,
    { ranges, traffic }: QueryRequest,
    stats: ExecutionStats,
    touched: ReadonlyMap<string, Touched>,
  ): ResponseInfo {
    const key = touched.size === 1 ? soleKeyOf(ranges) : undefined;
    const bytes = stats.bytesLoaded / Math.max(1, touched.size);
    const [first, ...others] = [...touched.values()].map(
      ({ route, readers }): WorkShare => ({
        route,
        effort: readers.reduce((sum, { effort }) => sum + effort, PARTITION_EFFORT),
        bytes,
        key,
      }),
    );
    const route = this.#cluster.routing(container).routes[0] as Route;
    const nobody: WorkShare = { route, effort: 1, bytes: 0, key: undefined };
    return this.#cluster.settleQuery([first ?? nobody, ...others], stats, traffic);
  }

  #targets(
    container: ContainerRecord,
    range: HashRange,
    { sessionToken, traffic }: QueryRequest,
    touched: Map<string, Touched>,
  ): readonly Target[] {
    const { routes } = this.#cluster.routing(container);
    // Hexadecimal of the same case sorts as the bytes do.
    const reached = routes.filter(
      ({ partition: { min, max } }) => min < range.max && range.min < max,
    );
    return reached.map((route): Target => {
      const { partition } = route;
      const min = laterOf(range.min, partition.min);
      const max = earlierOf(range.max, partition.max);
      const isWhole = min === partition.min && max === partition.max;
      const within = isWhole ? undefined : { min: epkFromHex(min), max: epkFromHex(max) };
      return {
        min,
        max,
        open: () =>
          andThen(this.#cluster.reader(route, within, sessionToken, traffic), (reader) => {
            const readers = touched.get(partition.id)?.readers ?? [];
            readers.push(reader);
            touched.set(partition.id, { route, readers });
            return reader;
          }),
      };
    });
  }
}

/** The key of a query about one; where a range begins and ends with it, the zero byte makes its end. */
function soleKeyOf([range, ...others]: readonly HashRange[]): HeatKey | undefined {
  if (range === undefined || others.length > 0 || range.max !== `${range.min}00`) return undefined;
  return { epk: epkFromHex(range.min), primary: undefined };
}

/** A partition a query looked at, with every reader it had of it. */
interface Touched {
  readonly route: Route;
  readonly readers: QueryReader[];
}
