/** POST on /dbs/{id}/colls/{id}/docs with a query: its plan, or its results. */
import type { Receipt } from '../../../base/index.ts';
import { allOf, type Program } from '../../../query/index.ts';
import type { QueryPage } from '../../../service/index.ts';
import type { PartitionKeyDefinition } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerFace } from '../container-face.ts';
import { rowsBody } from '../feed.ts';
import { readQuery, type SentQuery } from '../query-body.ts';
import { checkCrossPartition } from '../query-cross-partition.ts';
import { printQueryMetrics, type QueryTimes } from '../query-metrics.ts';
import { checkOrder } from '../query-order.ts';
import { programOf } from '../query-program.ts';
import type { QuerySurroundings } from '../query-surroundings.ts';
import { type QueryTargets, queryTargets } from '../query-targets.ts';
import { jsonReply, type Reply, receiptHeaders } from '../reply.ts';
import { checkConsistency, queryLimit, requestTraffic } from '../request.ts';
import {
  constantFinder,
  epkRanges,
  type KeyRange,
  keyRanges,
  type Query,
  queryPlan,
} from '../sql/index.ts';

export function planItems(call: Call): Reply {
  const face = call.ownerContainer();
  const { text, parameters } = readQuery(call);
  const { environment } = call.queriedContainers.of(face.record);
  const features = call
    .header('x-ms-cosmos-supported-query-features')
    ?.split(',')
    .map((name) => name.trim());
  const plan = queryPlan(text, face.record.partitionKey, {
    environment,
    parameters,
    ...(features && { features }),
  });
  return jsonReply(200, plan, { headers: [...face.scopeHeaders] });
}

export async function queryItems(call: Call): Promise<Reply> {
  const startedMs = performance.now();
  checkConsistency(call.headers['x-ms-consistency-level']);
  const face = call.ownerContainer();
  const sent = readQuery(call);
  const surroundings = call.queriedContainers.of(face.record);
  const query = call.queryCache.parse(sent.text);
  const program = makeProgram(call, query, sent, surroundings);
  checkOrder(program, surroundings.indexing);
  const targets = targetsOf(call, face, query, sent, surroundings);
  const compiledMs = performance.now();
  const page = await call.service.queries.run(face.record, {
    program: { ...program, condition: allOf(program.condition, targets.condition) },
    ranges: targets.ranges,
    continuation: call.header('x-ms-continuation'),
    limit: queryLimit(call),
    sessionToken: call.header('x-ms-session-token'),
    traffic: requestTraffic(call),
  });
  const times = { totalMs: performance.now() - startedMs, compileMs: compiledMs - startedMs };
  return pageReply(call, face, { page, program, times });
}

function makeProgram(
  call: Call,
  query: Query,
  { parameters }: SentQuery,
  { environment }: QuerySurroundings,
): Program {
  const startMs = call.service.clock.nowMs();
  return programOf(query, { environment, parameters, startMs });
}

function targetsOf(
  call: Call,
  face: ContainerFace,
  query: Query,
  { text, parameters }: SentQuery,
  { environment }: QuerySurroundings,
): QueryTargets {
  const { partitionKey } = face.record;
  const options = { environment, parameters };
  let isSingleKey = face.isSystemKey;
  const targets = queryTargets(call, face, () => {
    const ranges = keyRanges(query, partitionKey, constantFinder(parameters, { environment }));
    isSingleKey ||= isOneKey(ranges, partitionKey);
    return epkRanges(ranges, partitionKey);
  });
  if (!targets.isAddressed)
    checkCrossPartition(call, query, { isSingleKey, partitionCount: targets.ranges.length }, () =>
      queryPlan(text, partitionKey, options),
    );
  return targets;
}

/** A prefix of a hierarchical key is many keys. */
function isOneKey(ranges: readonly KeyRange[], { paths }: PartitionKeyDefinition): boolean {
  const [range] = ranges;
  if (ranges.length !== 1 || range === undefined || range.kind === 'all') return false;
  return range.kind === 'none' || range.low.length === paths.length;
}

interface Outcome {
  readonly page: QueryPage;
  readonly program: Program;
  readonly times: QueryTimes;
}

function pageReply(call: Call, face: ContainerFace, { page, program, times }: Outcome): Reply {
  const receipt: Receipt = page;
  const headers = [
    ...receiptHeaders(receipt),
    ...face.scopeHeaders,
    'x-ms-item-count',
    String(page.rows.length),
    'x-ms-cosmos-query-execution-info',
    executionInfo(program),
  ];
  if (page.continuation !== undefined) headers.push('x-ms-continuation', page.continuation);
  if (call.isOn('x-ms-documentdb-populatequerymetrics'))
    headers.push('x-ms-documentdb-query-metrics', printQueryMetrics(page.work, times));
  const body = rowsBody({ rid: face.rid, key: 'Documents' }, page.rows);
  return { status: 200, charge: page.charge, headers, body };
}

/** How rows of equal keys follow each other: clients that resume by `_rid` have to know. */
function executionInfo({ shape }: Program): string {
  const order = shape.kind === 'streaming' ? shape.order : undefined;
  const reverseIndexScan = order?.parts[0]?.isDescending === true;
  return JSON.stringify({ reverseRidEnabled: true, reverseIndexScan });
}
