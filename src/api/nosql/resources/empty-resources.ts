/**
 * Kinds of resources that a container never has: conflicts, because one region writes, and attachments, which the
 * service has retired. Clients may still list them and ask for one.
 */
import { type Call, type RequestHandler, resourceNotFound } from '../call.ts';
import { RequestError } from '../errors.ts';
import { listReply } from '../feed.ts';
import { PARTITION_KEY_HEADER, requiredPartitionKey } from '../items/partition-key-header.ts';
import { crossPartitionDisabled } from '../query/query-cross-partition.ts';
import type { Reply } from '../reply.ts';
import { isQuery } from '../request.ts';

interface EmptyVerbs {
  readonly type: string;
  readonly feed: { readonly GET: RequestHandler; readonly POST: RequestHandler };
  readonly single: { readonly GET: RequestHandler; readonly DELETE: RequestHandler };
}

interface EmptyOptions {
  /** Whether a deletion needs the partition key, like that of an item. */
  readonly deletesByKey: boolean;
}

export function emptyResourceVerbs(
  type: string,
  listName: string,
  { deletesByKey }: EmptyOptions,
): EmptyVerbs {
  const list = (call: Call): Reply =>
    listReply(call, { rid: call.ownerContainer().rid, key: listName }, [], (record) => record);
  const absent = (call: Call): Reply => {
    call.ownerContainer();
    throw resourceNotFound();
  };
  const remove = (call: Call): Reply => {
    if (deletesByKey) requiredPartitionKey(call, call.ownerContainer());
    return absent(call);
  };
  const query = (call: Call): Reply => {
    if (!isQuery(call)) throw new RequestError(400, `Clients do not create ${type}.`);
    const isFromHeaders = call.header(PARTITION_KEY_HEADER) !== undefined;
    if (!isFromHeaders && !call.isHeaderTrue('x-ms-documentdb-query-enablecrosspartition'))
      throw crossPartitionDisabled();
    return list(call);
  };
  return { type, feed: { GET: list, POST: query }, single: { GET: absent, DELETE: remove } };
}
