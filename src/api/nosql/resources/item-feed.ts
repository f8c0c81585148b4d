/** /dbs/{id}/colls/{id}/docs: the items of a container, of a partition, of a range of hashes or of a partition key. */
import { DomainError, PAGE_BYTES_MAX } from '../../../base/index.ts';
import type { EpkRange } from '../../../partition/index.ts';
import type { FeedScope } from '../../../service/index.ts';
import { epkFromHex } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerFace } from '../container-face.ts';
import { RequestError } from '../errors.ts';
import { feedBody } from '../feed.ts';
import { isQuery, isWholeFeedQuery, notServed } from '../feed-query.ts';
import { refusal } from '../not-served.ts';
import { feedPartitionKey } from '../partition-key-header.ts';
import { jsonReply, type Reply, receiptHeaders } from '../reply.ts';
import { checkConsistency, pageLimit } from '../request.ts';
import { createItem, upsertItem } from './items.ts';

const EPK_HEX = /^(?:[0-9A-Fa-f]{2}){0,1024}$/;

/** POST on the feed: what it does is said by headers. */
export function postItems(call: Call): Promise<Reply> {
  if (call.isOn('x-ms-cosmos-is-query-plan-request')) return planQuery(call);
  if (isQuery(call)) return queryItems(call);
  if (call.isOn('x-ms-cosmos-is-batch-request'))
    throw refusal('Transactional batch and bulk execution');
  return call.isOn('x-ms-documentdb-is-upsert') ? upsertItem(call) : createItem(call);
}

export async function listItems(call: Call): Promise<Reply> {
  if (call.header('a-im') !== undefined) throw refusal('The change feed');
  checkConsistency(call.headers['x-ms-consistency-level']);
  const face = call.ownerContainer();
  const page = await call.service.items.feed(face.record, {
    scope: feedScope(call, face),
    continuation: call.header('x-ms-continuation'),
    limit: pageLimit(call),
    bytesMax: PAGE_BYTES_MAX,
    sessionToken: call.header('x-ms-session-token'),
  });
  const headers = [
    ...receiptHeaders(page),
    ...face.scopeHeaders,
    'x-ms-item-count',
    String(page.items.length),
    'x-ms-documentdb-partitionkeyrangeid',
    page.partitionId,
  ];
  if (page.continuation !== undefined) headers.push('x-ms-continuation', page.continuation);
  const bodies = page.items.map(({ body }) => body);
  const body = feedBody({ rid: face.rid, key: 'Documents' }, bodies);
  return { status: 200, charge: page.charge, headers, body };
}

/** Common clients list items by a query for all of them. */
async function queryItems(call: Call): Promise<Reply> {
  call.ownerContainer();
  if (!isWholeFeedQuery(call)) throw notServed();
  return listItems(call);
}

/** The plan of a query for everything: ask every range, in order, with the text as it is. */
async function planQuery(call: Call): Promise<Reply> {
  const face = call.ownerContainer();
  if (!isWholeFeedQuery(call)) throw notServed();
  const plan = {
    partitionedQueryExecutionInfoVersion: 2,
    queryInfo: {
      distinctType: 'None',
      top: null,
      offset: null,
      limit: null,
      orderBy: [],
      orderByExpressions: [],
      groupByExpressions: [],
      groupByAliases: [],
      aggregates: [],
      groupByAliasToAggregateType: {},
      rewrittenQuery: '',
      hasSelectValue: false,
      hasNonStreamingOrderBy: false,
    },
    queryRanges: [{ min: '', max: 'FF', isMinInclusive: true, isMaxInclusive: false }],
  };
  return jsonReply(200, plan, { headers: [...face.scopeHeaders] });
}

function feedScope(call: Call, face: ContainerFace): FeedScope {
  const values = feedPartitionKey(call, face);
  if (values !== undefined) return { kind: 'partitionKey', values };
  const within = epkRange(call);
  const range = call.header('x-ms-documentdb-partitionkeyrangeid');
  if (range === undefined)
    return within === undefined ? { kind: 'container' } : { kind: 'range', within };
  return { kind: 'partition', id: rangeId(range, face), within };
}

/** `<id>`, or `<container rid>,<id>`. */
function rangeId(text: string, face: ContainerFace): string {
  const comma = text.indexOf(',');
  if (comma >= 0 && text.slice(0, comma) !== face.rid)
    throw new RequestError(410, 'The container was replaced by another of the same name.', {
      substatus: 1000,
    });
  return text.slice(comma + 1).trim();
}

/** A part of the hash space, [start, end), where the client names one. */
function epkRange(call: Call): EpkRange | undefined {
  const start = call.header('x-ms-start-epk');
  const end = call.header('x-ms-end-epk');
  if (start === undefined && end === undefined) return undefined;
  const [min, max] = [start ?? '', end ?? 'FF'];
  if (!EPK_HEX.test(min) || !EPK_HEX.test(max) || min.toUpperCase() >= max.toUpperCase())
    throw new DomainError(
      'invalidInput',
      'x-ms-start-epk and x-ms-end-epk must be hexadecimal, the first before the second.',
    );
  return { min: epkFromHex(min), max: epkFromHex(max) };
}
