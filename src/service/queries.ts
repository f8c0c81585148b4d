/** Queries of every language: a program over parts of a container, page by page. */
import { DomainError, PAGE_BYTES_MAX, type Receipt } from '../base/index.ts';
import type { ContainerRecord } from '../catalog/index.ts';
import type { Cluster, Route } from '../cluster/index.ts';
import {
  executePage,
  type HashRange,
  newWork,
  type Program,
  parsePosition,
  printPosition,
  type Target,
  type Work,
} from '../query/index.ts';
import { queryCharge } from '../throughput/index.ts';
import { epkFromHex } from '../value/index.ts';

export interface QueryRequest {
  readonly program: Program;
  /** Parts of the hash space the query covers, in order, without overlaps. */
  readonly ranges: readonly HashRange[];
  readonly continuation: string | undefined;
  readonly limit: number;
  readonly sessionToken: string | undefined;
}

export interface QueryPage extends Receipt {
  /** Each row as JSON text. */
  readonly rows: readonly string[];
  readonly continuation: string | undefined;
  readonly work: Work;
  /** Ids of the partitions looked at, in order. */
  readonly partitionIds: readonly string[];
}

export class Queries {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The hash range of a live partition; throws `partitionGone`. */
  rangeOf(container: ContainerRecord, partitionId: string): HashRange {
    const { min, max } = this.#cluster.routing(container).forId(partitionId).partition;
    return { min, max };
  }

  /** How far the index is built under the present policy, in percent. */
  indexProgress(container: ContainerRecord): Promise<number> {
    return this.#cluster.indexProgress(container);
  }

  run(container: ContainerRecord, request: QueryRequest): Promise<QueryPage> {
    const attempt = (current: ContainerRecord) => this.#run(current, request);
    return Promise.resolve(this.#cluster.rerouted(container, attempt));
  }

  async #run(container: ContainerRecord, request: QueryRequest): Promise<QueryPage> {
    const { continuation, sessionToken } = request;
    const position = continuation === undefined ? undefined : parsePosition(continuation);
    if (continuation !== undefined && position === undefined)
      throw new DomainError('invalidInput', 'Invalid Continuation Token');
    const work = newWork();
    const touched = new Map<string, Route>();
    const page = await executePage({
      program: request.program,
      ranges: request.ranges,
      position,
      rowsMax: request.limit,
      bytesMax: PAGE_BYTES_MAX,
      work,
      targetsIn: (range) => this.#targets(container, range, sessionToken, touched),
    });
    const routes = [...touched.values()];
    const first = routes[0] ?? (this.#cluster.routing(container).routes[0] as Route);
    const charge = queryCharge({ ...work, partitions: routes.length });
    const receipt = await this.#cluster.settle(first, charge);
    return {
      ...receipt,
      rows: page.rows,
      continuation: page.position && printPosition(page.position),
      work,
      partitionIds: routes.map(({ partition }) => partition.id),
    };
  }

  #targets(
    container: ContainerRecord,
    range: HashRange,
    sessionToken: string | undefined,
    touched: Map<string, Route>,
  ): readonly Target[] {
    const routes = this.#cluster
      .routing(container)
      .forRange(epkFromHex(range.min), epkFromHex(range.max));
    return routes.map((route): Target => {
      const { partition } = route;
      const min = [range.min, partition.min].sort()[1] as string;
      const max = [range.max, partition.max].sort()[0] as string;
      const isWhole = min === partition.min && max === partition.max;
      const within = isWhole ? undefined : { min: epkFromHex(min), max: epkFromHex(max) };
      return {
        min,
        max,
        open: () => {
          touched.set(partition.id, route);
          return this.#cluster.reader(route, within, sessionToken);
        },
      };
    });
  }
}
