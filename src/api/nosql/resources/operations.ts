/** /dbs/{id}/colls/{id}/operations/{name}: what is done to many items at once. */
import type { Call } from '../call.ts';
import { RequestError } from '../errors.ts';
import { feedPartitionKey } from '../items/partition-key-header.ts';
import { emptyReply, type Reply, receiptHeaders } from '../reply.ts';
import { requestTraffic } from '../request.ts';

export async function postOperation(call: Call): Promise<Reply> {
  if (call.id(2).toLowerCase() !== 'partitionkeydelete')
    throw new RequestError(404, 'The request path names no operation of this API.');
  return deletePartitionKey(call);
}

/** All items of a partition key, or of all that begin with its first levels. */
async function deletePartitionKey(call: Call): Promise<Reply> {
  const face = call.ownerContainer();
  const values = feedPartitionKey(call, face);
  if (values === undefined)
    throw new RequestError(400, 'PartitionKey value must be supplied for this operation.');
  const receipt = await call.service.items.deleteRange(face.record, values, requestTraffic(call));
  const headers = [...receiptHeaders(receipt), ...face.scopeHeaders];
  return emptyReply(200, { charge: receipt.charge, headers });
}
