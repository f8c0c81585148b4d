/** One page of a query for the server's own tools: its rows, and how they were found and charged. */
import { DomainError } from '../../../base/index.ts';
import type { ContainerRecord, DatabaseRecord } from '../../../catalog/index.ts';
import { ANYTHING, allOf, describeCondition, type HashRange } from '../../../query/index.ts';
import {
  containerNotFound,
  databaseNotFound,
  type QueryPage,
  type Service,
} from '../../../service/index.ts';
import { type QueryChargeParts, queryChargeParts } from '../../../throughput/index.ts';
import type { Value, ValueMap } from '../../../value/index.ts';
import { ContainerViews } from '../containers/container-view.ts';
import { rowText } from '../feed.ts';
import { SqlError } from '../sql/index.ts';
import { executionOf } from './explain.ts';
import { PreparedQueries, type PreparedQuery } from './prepared-queries.ts';
import { toQuery } from './query-body.ts';
import { type IndexMetrics, indexMetrics } from './query-index-metrics.ts';
import { isOneKey, keyCondition, keyRangeOf, partitionsOf } from './query-targets.ts';

interface PageRun {
  readonly request: ValueMap;
  readonly limit: number;
  readonly continuation: string | undefined;
  /** The values of one partition key, or of its first levels. */
  readonly key: readonly Value[] | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface RunPage {
  /** The rows as JSON texts, as a client of the wire gets them. */
  readonly rows: readonly string[];
  readonly charge: number;
  readonly continuation: string | undefined;
  /** Ids of the partitions that were read. */
  readonly partitions: readonly string[];
  readonly explain: PageExplanation;
}

interface PageExplanation {
  readonly execution: string;
  readonly condition: string;
  readonly indexes: IndexMetrics;
  /** Partitions that may hold a match, of all. */
  readonly targets: number;
  readonly partitionCount: number;
  readonly accesses: readonly { readonly partition: string; readonly access: string }[];
  readonly work: Readonly<Record<string, number>>;
  readonly chargeParts: QueryChargeParts;
  /** True where the filter or the request fixes one partition key. */
  readonly isOneKey: boolean;
}

/** Throws DomainError; a query that cannot be compiled is `invalidInput` with the compiler's message. */
export type PageRunner = (run: PageRun) => Promise<RunPage>;

export function createPageRunner(service: Service): PageRunner {
  const queries = new PreparedQueries(service);
  const views = new ContainerViews(service.homes);
  return async (run) => {
    const { database, container } = named(service, run.request);
    const prepared = prepare(queries, container, run.request);
    try {
      const { executable } = prepared;
      const view = views.of(database, container);
      const ranges =
        run.key === undefined
          ? partitionsOf(container, prepared.keyRanges())
          : [keyRangeOf(service, run.key, container)];
      const condition = run.key === undefined ? ANYTHING : keyCondition(run.key, view);
      const page = await service.queries.run(container, {
        query:
          condition === ANYTHING
            ? executable
            : { ...executable, condition: allOf(executable.condition, condition) },
        text: textOf(run.request),
        ranges,
        continuation: run.continuation,
        limit: run.limit,
        sessionToken: undefined,
        signal: run.signal,
      });
      return {
        rows: page.rows.map(rowText),
        charge: page.charge,
        continuation: page.continuation,
        partitions: page.partitionIds,
        explain: explanationOf({ prepared, page, container, ranges, key: run.key }),
      };
    } finally {
      prepared.release();
    }
  };
}

function textOf({ query }: ValueMap): string | undefined {
  return typeof query === 'string' ? query : undefined;
}

function named(
  service: Service,
  { db, container: id }: ValueMap,
): { readonly database: DatabaseRecord; readonly container: ContainerRecord } {
  if (typeof db !== 'string' || typeof id !== 'string')
    throw new DomainError('invalidInput', "'db' and 'container' must be names.");
  const database = service.databases.find(db);
  if (database === undefined) throw databaseNotFound();
  const container = service.containers.find(database, id);
  if (container === undefined) throw containerNotFound();
  return { database, container };
}

function prepare(
  queries: PreparedQueries,
  container: ContainerRecord,
  request: ValueMap,
): PreparedQuery {
  try {
    return queries.prepare(container, toQuery(request));
  } catch (error) {
    if (error instanceof SqlError) throw new DomainError('invalidInput', error.message);
    throw error;
  }
}

interface Explained {
  readonly prepared: PreparedQuery;
  readonly page: QueryPage;
  readonly container: ContainerRecord;
  readonly ranges: readonly HashRange[];
  readonly key: readonly Value[] | undefined;
}

function explanationOf({ prepared, page, container, ranges, key }: Explained): PageExplanation {
  const { executable, indexing } = prepared;
  const { accessPaths, ...work } = page.stats;
  const { partitionKey, partitions } = container;
  return {
    execution: executionOf(executable),
    condition: describeCondition(executable.condition),
    indexes: indexMetrics(executable, indexing),
    targets: ranges.length,
    partitionCount: partitions.length,
    accesses: accessPaths.map((access, at) => ({
      partition: page.partitionIds[at] ?? '',
      access,
    })),
    work: {
      ...work,
      indexMs: Math.round(work.indexMs * 100) / 100,
      loadMs: Math.round(work.loadMs * 100) / 100,
    },
    chargeParts: queryChargeParts({ ...work, partitions: page.partitionIds.length }),
    isOneKey:
      key?.length === partitionKey.paths.length || isOneKey(prepared.keyRanges(), partitionKey),
  };
}
