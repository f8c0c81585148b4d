/** /dbs/{id}/colls/{id}/docs: the items of a container, of a partition, of a range of hashes or of a partition key. */
import { PAGE_BYTES_MAX } from '../../../base/index.ts';
import { postBatch } from '../batch/index.ts';
import type { Call } from '../call.ts';
import { feedBody } from '../feed.ts';
import { type Reply, responseInfoHeaders } from '../reply.ts';
import { isQuery, pageLimit, readRequestClass } from '../request.ts';
import { parseSessionToken } from '../session-token.ts';
import { listChanges } from './change-feed.ts';
import { feedScope } from './feed-scope.ts';
import { createItem, upsertItem } from './items.ts';
import { planItems, queryItems } from './queries.ts';

/** POST on the feed; headers say which operation it is. */
export function postItems(call: Call): Reply | Promise<Reply> {
  if (call.isHeaderTrue('x-ms-cosmos-is-query-plan-request')) return planItems(call);
  if (isQuery(call)) return queryItems(call);
  if (call.isHeaderTrue('x-ms-cosmos-is-batch-request')) return postBatch(call);
  return call.isHeaderTrue('x-ms-documentdb-is-upsert') ? upsertItem(call) : createItem(call);
}

export async function listItems(call: Call): Promise<Reply> {
  const manipulation = call.header('a-im');
  if (manipulation !== undefined) return listChanges(call, manipulation);
  const view = call.ownerContainer();
  const page = await call.service.items.feed(view.record, {
    scope: feedScope(call, view),
    continuation: call.header('x-ms-continuation'),
    limit: pageLimit(call),
    bytesMax: PAGE_BYTES_MAX,
    sessionToken: parseSessionToken(call.header('x-ms-session-token')),
    requestClass: readRequestClass(call),
  });
  const headers = [
    ...responseInfoHeaders(page),
    ...view.scopeHeaders,
    'x-ms-item-count',
    String(page.items.length),
  ];
  if (page.continuation !== undefined) headers.push('x-ms-continuation', page.continuation);
  const bodies = page.items.map((item) => view.foreign?.bodyOf(item) ?? item.body);
  const body = feedBody({ rid: view.rid, key: 'Documents' }, bodies);
  return { status: 200, charge: page.charge, headers, body };
}
