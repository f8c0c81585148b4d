/** /dbs/{id}/colls/{id}/operations/{name}: operations on many items at once. */
import type { Call } from '../call.ts';
import { RequestError } from '../errors.ts';
import { feedPartitionKey } from '../items/partition-key-header.ts';
import { emptyReply, type Reply, responseInfoHeaders } from '../reply.ts';
import { headerRequestClass } from '../request.ts';

export async function postOperation(call: Call): Promise<Reply> {
  if (call.id(2).toLowerCase() !== 'partitionkeydelete')
    throw new RequestError(404, 'The request path names no operation of this API.');
  return deletePartitionKey(call);
}

/** Deletes all items of a partition key, or of a prefix of a hierarchical key. */
async function deletePartitionKey(call: Call): Promise<Reply> {
  const view = call.ownerContainer();
  const values = feedPartitionKey(call, view);
  if (values === undefined)
    throw new RequestError(400, 'PartitionKey value must be supplied for this operation.');
  const responseInfo = await call.service.items.deleteRange(
    view.record,
    values,
    headerRequestClass(call),
  );
  const headers = [...responseInfoHeaders(responseInfo), ...view.scopeHeaders];
  return emptyReply(200, { charge: responseInfo.charge, headers });
}
