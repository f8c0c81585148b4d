/** POST on /dbs/{id}/colls/{id}/docs with a query: its plan, or its results. */
import { withFinally } from '../../../base/index.ts';
import { ANYTHING, allOf, type ExecutableQuery } from '../../../query/index.ts';
import type { QueryPage } from '../../../service/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import { resultsBody } from '../feed.ts';
import type { PreparedQuery } from '../query/prepared-queries.ts';
import { readQuery } from '../query/query-body.ts';
import { checkColumns, checkCrossPartition, checkNoValue } from '../query/query-cross-partition.ts';
import {
  indexMetrics,
  printIndexMetricsV1,
  printIndexMetricsV2,
} from '../query/query-index-metrics.ts';
import { printQueryMetrics, type QueryTimes } from '../query/query-metrics.ts';
import { isOneKey, type QueryTargets, queryTargets } from '../query/query-targets.ts';
import { jsonReply, type Reply, responseInfoHeaders } from '../reply.ts';
import { queryLimit, readRequestClass } from '../request.ts';
import { parseSessionToken } from '../session-token.ts';
import type { KeyRange } from '../sql/index.ts';

export function planItems(call: Call): Reply {
  const view = call.ownerContainer();
  const features = call
    .header('x-ms-cosmos-supported-query-features')
    ?.split(',')
    .map((name) => name.trim());
  const plan = call.queries.plan(view.record, readQuery(call), features);
  return jsonReply(200, plan, { headers: [...view.scopeHeaders] });
}

export async function queryItems(call: Call): Promise<Reply> {
  const startedMs = performance.now();
  const view = call.ownerContainer();
  const sent = readQuery(call);
  const prepared = call.queries.prepare(view.record, sent);
  const { executable } = prepared;
  const targets = targetsOf(call, view, prepared);
  const preparedMs = performance.now();
  const targeted =
    targets.condition === ANYTHING
      ? executable
      : {
          ...executable,
          condition: allOf(executable.condition, targets.condition),
          isWithin: targets.isExact,
        };
  const page = await withFinally(
    () =>
      call.service.queries.run(view.record, {
        query: targeted,
        text: sent.text,
        ranges: targets.ranges,
        continuation: call.header('x-ms-continuation'),
        limit: queryLimit(call),
        // The service does so where one stream of pages is read. A client that merges several streams would never stop
        // asking if the last pages of all of them were empty.
        endsFullPages: !targets.isFromHeaders && targets.ranges.length === 1,
        sessionToken: parseSessionToken(call.header('x-ms-session-token')),
        client: call.exchange,
        requestClass: readRequestClass(call),
      }),
    prepared.release,
  );
  if (!targets.isFromHeaders) checkRows(call, view, { prepared, targets, page });
  const times = { totalMs: performance.now() - startedMs, compileMs: preparedMs - startedMs };
  return pageReply(call, view, { page, executable: targeted, indexing: prepared.indexing, times });
}

interface Answer {
  readonly prepared: PreparedQuery;
  readonly targets: QueryTargets;
  readonly page: QueryPage;
}

/** Throws 400/1004 with the plan for rows to which clients add something of their own. */
function checkRows(call: Call, view: ContainerView, { prepared, targets, page }: Answer): void {
  if (targets.ranges.length > 1) checkColumns(call, prepared, page.rows);
  if (page.rows.length > 0 || page.continuation !== undefined) return;
  const isSingleKey = () =>
    view.isSystemKey || isOneKey(prepared.keyRanges(), view.record.partitionKey);
  checkNoValue(call, prepared, isSingleKey);
}

function targetsOf(call: Call, view: ContainerView, prepared: PreparedQuery): QueryTargets {
  const { partitions } = view.record;
  const isAllowed = call.isHeaderTrue('x-ms-documentdb-query-enablecrosspartition');
  let isSingleKey = view.isSystemKey;
  const targets = queryTargets(call, view, () => {
    // With one partition the filter need not be analysed: the query runs there.
    if (partitions.length === 1 && isAllowed) return EVERYTHING;
    const ranges = prepared.keyRanges();
    isSingleKey ||= isOneKey(ranges, view.record.partitionKey);
    return ranges;
  });
  if (!targets.isFromHeaders)
    checkCrossPartition(call, prepared, { isSingleKey, partitionCount: targets.ranges.length });
  return targets;
}

const EVERYTHING: readonly KeyRange[] = [{ kind: 'all' }];

interface Outcome {
  readonly page: QueryPage;
  readonly executable: ExecutableQuery;
  readonly indexing: PreparedQuery['indexing'];
  readonly times: QueryTimes;
}

const INDEX_UTILIZATION = 'x-ms-cosmos-index-utilization';

function pageReply(
  call: Call,
  view: ContainerView,
  { page, executable, indexing, times }: Outcome,
): Reply {
  const headers = [
    ...responseInfoHeaders(page),
    ...view.scopeHeaders,
    'x-ms-item-count',
    String(page.rows.length),
    'x-ms-cosmos-query-execution-info',
    executionInfo(executable),
  ];
  if (page.continuation !== undefined) headers.push('x-ms-continuation', page.continuation);
  if (call.isHeaderTrue('x-ms-documentdb-populatequerymetrics'))
    headers.push('x-ms-documentdb-query-metrics', printQueryMetrics(page.stats, times));
  if (call.isHeaderTrue('x-ms-cosmos-populateindexmetrics-v2'))
    headers.push(INDEX_UTILIZATION, printIndexMetricsV2(indexMetrics(executable, indexing)));
  else if (call.isHeaderTrue('x-ms-cosmos-populateindexmetrics'))
    headers.push(INDEX_UTILIZATION, printIndexMetricsV1(indexMetrics(executable, indexing)));
  const body = resultsBody({ rid: view.rid, key: 'Documents' }, page.rows);
  return { status: 200, charge: page.charge, headers, body };
}

/** The order of rows with equal keys, for clients that resume by `_rid`. */
function executionInfo({ shape }: ExecutableQuery): string {
  const order = shape.kind === 'streaming' ? shape.order : undefined;
  const reverseIndexScan = order?.parts[0]?.isDescending === true;
  return `{"reverseRidEnabled":true,"reverseIndexScan":${reverseIndexScan}}`;
}
