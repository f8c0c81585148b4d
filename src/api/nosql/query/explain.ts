/** Runs a query and reports partitions, access paths, counts and charges. */
import { append, DomainError } from '../../../base/index.ts';
import type { ContainerRecord } from '../../../catalog/index.ts';
import {
  describeCondition,
  type ExecutableQuery,
  type HashRange,
  newStats,
} from '../../../query/index.ts';
import {
  containerNotFound,
  databaseNotFound,
  type QueryPage,
  type Service,
} from '../../../service/index.ts';
import { type QueryChargeParts, queryChargeParts } from '../../../throughput/index.ts';
import type { ValueMap } from '../../../value/index.ts';
import { type QueryPlan, SqlError } from '../sql/index.ts';
import { PreparedQueries } from './prepared-queries.ts';
import { toQuery } from './query-body.ts';
import { type IndexMetrics, indexMetrics } from './query-index-metrics.ts';
import { partitionsOf } from './query-targets.ts';

interface Explanation {
  readonly db: string;
  readonly container: string;
  readonly query: string;
  /** Whether rows are returned item by item, in the order of an index, or after all items were read. */
  readonly execution: 'streaming' | 'ordered' | 'blocking';
  /** The condition that the index is searched with. */
  readonly condition: string;
  readonly indexes: IndexMetrics;
  readonly targets: readonly ExplainedTarget[];
  /** One line per partition and page: how the candidates were found. */
  readonly accesses: readonly ExplainedAccess[];
  readonly pages: number;
  /** False where the run ended after `pages` without reading all results. */
  readonly isComplete: boolean;
  readonly rows: number;
  readonly work: {
    readonly indexEntries: number;
    readonly itemsLoaded: number;
    readonly bytesLoaded: number;
    readonly itemsMatched: number;
    readonly bytesOut: number;
    readonly indexMs: number;
    readonly loadMs: number;
  };
  readonly charge: number;
  readonly chargeParts: QueryChargeParts;
  readonly durationMs: number;
  /** The plan for a client that merges partitions itself, or why there is none. */
  readonly plan: QueryPlan | { readonly refused: string };
}

interface ExplainedTarget extends HashRange {
  readonly partition: string;
}

interface ExplainedAccess {
  readonly page: number;
  readonly partition: string;
  readonly access: string;
}

type Explainer = (request: ValueMap) => Promise<Explanation>;

const ROWS_PER_PAGE = 1000;
/** A bound, because an explanation should not read a whole large container. */
const PAGES_MAX = 100;

/** The explainer of requests `{db, container, query, parameters}`. It throws DomainError. */
export function createExplainer(service: Service): Explainer {
  const queries = new PreparedQueries(service);
  return async (request) => {
    const { db, container: id } = request;
    if (typeof db !== 'string' || typeof id !== 'string')
      throw new DomainError('invalidInput', "'db' and 'container' must be names.");
    const database = service.databases.find(db);
    if (database === undefined) throw databaseNotFound();
    const container = service.containers.find(database, id);
    if (container === undefined) throw containerNotFound();
    const sent = toQuery(request);
    const prepared = queries.prepare(container, sent);
    const { executable } = prepared;
    const ranges = partitionsOf(container, prepared.keyRanges());
    const run = await runPages(service, container, executable, ranges);
    return {
      db,
      container: id,
      query: sent.text,
      execution: executionOf(executable),
      condition: describeCondition(executable.condition),
      indexes: indexMetrics(executable, prepared.indexing),
      targets: container.partitions
        .filter(({ min }) => ranges.some((range) => range.min === min))
        .map(({ id: partition, min, max }) => ({ partition, min, max })),
      ...run,
      plan: planOrRefusal(prepared.plan),
    };
  };
}

export function executionOf({ shape }: ExecutableQuery): Explanation['execution'] {
  if (shape.kind === 'blocking') return 'blocking';
  return shape.order === undefined ? 'streaming' : 'ordered';
}

type Run = Pick<
  Explanation,
  'accesses' | 'pages' | 'isComplete' | 'rows' | 'work' | 'charge' | 'chargeParts' | 'durationMs'
>;

async function runPages(
  service: Service,
  container: ContainerRecord,
  query: ExecutableQuery,
  ranges: readonly HashRange[],
): Promise<Run> {
  const startedMs = performance.now();
  const { accessPaths: _, ...total } = newStats();
  const accesses: ExplainedAccess[] = [];
  let charge = 0;
  let partitions = 0;
  let pages = 0;
  let continuation: string | undefined;
  do {
    const page = await service.queries.run(container, {
      query,
      ranges,
      continuation,
      limit: ROWS_PER_PAGE,
      sessionToken: undefined,
    });
    pages++;
    for (const name of Object.keys(total) as (keyof typeof total)[])
      total[name] += page.stats[name];
    append(accesses, accessesOf(page, pages));
    charge += page.charge;
    partitions += page.partitionIds.length;
    continuation = page.continuation;
  } while (continuation !== undefined && pages < PAGES_MAX);
  const { rowsOut, ...work } = total;
  return {
    accesses,
    pages,
    isComplete: continuation === undefined,
    rows: rowsOut,
    work: { ...work, indexMs: roundTime(work.indexMs), loadMs: roundTime(work.loadMs) },
    charge: Math.round(charge * 100) / 100,
    chargeParts: queryChargeParts({ ...total, partitions }),
    durationMs: roundTime(performance.now() - startedMs),
  };
}

function accessesOf({ stats, partitionIds }: QueryPage, page: number): readonly ExplainedAccess[] {
  return stats.accessPaths.map((access, at) => ({
    page,
    partition: partitionIds[at] ?? '',
    access,
  }));
}

function planOrRefusal(plan: () => QueryPlan): Explanation['plan'] {
  try {
    return plan();
  } catch (error) {
    if (error instanceof SqlError) return { refused: error.message };
    throw error;
  }
}

function roundTime(ms: number): number {
  return Math.round(ms * 100) / 100;
}
