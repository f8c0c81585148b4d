/**
 * Decides which queries over several partitions this server runs itself. It can run every one of them, in
 * full: rows merged in order, groups and aggregates over all partitions. The reference service's gateway serves only
 * filters and projections that way and sends its clients to the query plan for the rest.
 *
 * Here clients that run plans are sent to the plan only where they add something of their own to the results: rules for
 * vector and hybrid searches, columns of groups and a MIN or MAX that have no value. All else is the same for any number of
 * partitions: what clients make of parts is not (an average over texts, groups in an order, `AVG(c.n) * 2`).
 */
import type { ResultRow } from '../../../query/index.ts';
import type { Call } from '../call.ts';
import { RequestError, SUBSTATUS_CROSS_PARTITION } from '../errors.ts';
import { rowText } from '../feed.ts';
import { isByScore, isOptionalValue, optionalAggregates, type Query } from '../sql/index.ts';
import type { PreparedQuery } from './prepared-queries.ts';

const DISABLED =
  'Cross partition query is required but disabled. Please set x-ms-documentdb-query-enablecrosspartition to true, specify x-ms-documentdb-partitionkey, or revise your query to avoid this exception.';
const NEEDS_PLAN =
  'The provided cross partition query can not be directly served by the gateway. Cross partition query only supports filters, projections, ORDER BY and aggregates; this one has to be run by its plan.';

interface QueryReach {
  /** The filter names exactly one partition key. */
  readonly isSingleKey: boolean;
  readonly partitionCount: number;
}

/** Throws 400 for a cross-partition query that is not enabled, and 400/1004 with the plan where the client runs it. */
export function checkCrossPartition(call: Call, prepared: PreparedQuery, reach: QueryReach): void {
  if (reach.isSingleKey) return;
  if (!call.isHeaderTrue('x-ms-documentdb-query-enablecrosspartition'))
    throw crossPartitionDisabled();
  if (reach.partitionCount < 2 || !runsPlans(call) || !needsClient(prepared.query)) return;
  // A query whose first page was served here, before the only partition was split, gets its other pages here too.
  if (call.header('x-ms-continuation') !== undefined) return;
  throw planNeeded(prepared);
}

/**
 * Clients that merge groups themselves show a missing aggregate as undefined, which JSON cannot express. A query whose
 * first page lacks a whole column is left to them.
 */
export function checkColumns(
  call: Call,
  prepared: PreparedQuery,
  page: readonly ResultRow[],
): void {
  if (page.length === 0 || !runsPlans(call)) return;
  const names = optionalAggregates(prepared.query);
  if (names.length === 0 || call.header('x-ms-continuation') !== undefined) return;
  const rows: readonly object[] = page.map((row) => JSON.parse(rowText(row)));
  if (names.some((name) => rows.every((row) => !Object.hasOwn(row, name))))
    throw planNeeded(prepared);
}

/**
 * A MIN or MAX without a value is no row here. Clients have a row or none for it as they merge parts, so it is left to
 * them: for one partition too, so that what they show does not depend on the number.
 */
export function checkNoValue(call: Call, prepared: PreparedQuery, isSingleKey: () => boolean) {
  if (!isOptionalValue(prepared.query) || !runsPlans(call)) return;
  // An answer in several pages is not begun a second time.
  if (call.header('x-ms-continuation') !== undefined || isSingleKey()) return;
  throw planNeeded(prepared);
}

function planNeeded(prepared: PreparedQuery): RequestError {
  return new RequestError(400, NEEDS_PLAN, {
    substatus: SUBSTATUS_CROSS_PARTITION,
    additionalErrorInfo: JSON.stringify(prepared.plan()),
  });
}

export function crossPartitionDisabled(): RequestError {
  return new RequestError(400, DISABLED);
}

/** Go's client sends the header of clients with a pipeline, but has none: it reports a plan as an error. */
const WITHOUT_PIPELINE = /\bazsdk-go-azcosmos\b/;

/** Clients with a query pipeline send the id of the whole query, of which a request is a part. */
function runsPlans(call: Call): boolean {
  if (call.header('x-ms-cosmos-correlated-activityid') === undefined) return false;
  return !WITHOUT_PIPELINE.test(call.header('user-agent') ?? '');
}

function needsClient(query: Query): boolean {
  // Clients fuse objects only; rows of SELECT VALUE are ranked here.
  if (query.orderBy?.isRank) return query.select.selection.kind !== 'value';
  return query.groupBy === undefined && isByScore(query);
}
