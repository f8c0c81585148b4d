/** /dbs/{id}/colls/{id}/docs: the items of a container, of a partition, of a range of hashes or of a partition key. */
import { PAGE_BYTES_MAX } from '../../../base/index.ts';
import type { EpkRange } from '../../../partition/index.ts';
import type { FeedScope } from '../../../service/index.ts';
import { epkFromHex } from '../../../value/index.ts';
import { postBatch } from '../batch/index.ts';
import type { Call } from '../call.ts';
import type { ContainerFace } from '../container-face.ts';
import { feedBody } from '../feed.ts';
import { refusal } from '../not-served.ts';
import { feedPartitionKey } from '../partition-key-header.ts';
import { isQuery } from '../query-body.ts';
import { hashRangeHeaders, rangeIdOf } from '../query-targets.ts';
import { type Reply, receiptHeaders } from '../reply.ts';
import { checkConsistency, pageLimit, requestTraffic } from '../request.ts';
import { createItem, upsertItem } from './items.ts';
import { planItems, queryItems } from './queries.ts';

/** POST on the feed: what it does is said by headers. */
export function postItems(call: Call): Reply | Promise<Reply> {
  if (call.isOn('x-ms-cosmos-is-query-plan-request')) return planItems(call);
  if (isQuery(call)) return queryItems(call);
  if (call.isOn('x-ms-cosmos-is-batch-request')) return postBatch(call);
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
    traffic: requestTraffic(call),
  });
  const headers = [
    ...receiptHeaders(page),
    ...face.scopeHeaders,
    'x-ms-item-count',
    String(page.items.length),
  ];
  if (page.continuation !== undefined) headers.push('x-ms-continuation', page.continuation);
  const bodies = page.items.map(({ body }) => body);
  const body = feedBody({ rid: face.rid, key: 'Documents' }, bodies);
  return { status: 200, charge: page.charge, headers, body };
}

function feedScope(call: Call, face: ContainerFace): FeedScope {
  const values = feedPartitionKey(call, face);
  if (values !== undefined) return { kind: 'partitionKey', values };
  const within = epkRange(call);
  const range = call.header('x-ms-documentdb-partitionkeyrangeid');
  if (range === undefined)
    return within === undefined ? { kind: 'container' } : { kind: 'range', within };
  return { kind: 'partition', id: rangeIdOf(range, face), within };
}

function epkRange(call: Call): EpkRange | undefined {
  const range = hashRangeHeaders(call);
  return range && { min: epkFromHex(range.min), max: epkFromHex(range.max) };
}
