/** Point operations on entities. */
import { bytesToLatin1, bytesToText, isPromise, type MaybePromise } from '../../../base/index.ts';
import type { ReadReply } from '../../../cluster/index.ts';
import type { Key } from '../access/access.ts';
import { boundsCheck } from '../access/key-bounds.ts';
import { type Call, linkBaseOf, ownerTable, withThrottleWait } from '../call.ts';
import { TableError } from '../errors.ts';
import { jsonReply, type Reply, storedReply } from '../reply.ts';
import { metadataLevel, selectedNames } from '../request.ts';
import type { Resource } from '../target.ts';
import { entityText, storedEtag } from './entity-reply.ts';
import { planWrite } from './entity-write.ts';

type EntityResource = Extract<Resource, { readonly kind: 'entity' | 'entities' }>;

/** Returns no promise where the service returns none. */
export function readEntityByKey(call: Call, table: string, key: Key): MaybePromise<Reply> {
  const { service, headers, target, access, dialect } = call;
  access.check({ level: 'o', permissions: ['r'], table });
  boundsCheck(access.bounds, key);
  const view = {
    level: metadataLevel(headers, target.query),
    base: linkBaseOf(call, table),
    select: selectedNames(target.query),
  };
  const { partitionKey, rowKey } = key;
  const address = { partitionKey: [partitionKey], rowKey: [rowKey] };
  const container = ownerTable(call, table);
  const read = withThrottleWait(call, () =>
    service.items.read(container, address, undefined, dialect.requestClass),
  );
  const answer = ({ item, charge }: ReadReply): Reply => {
    if (item === undefined) throw new TableError('ResourceNotFound', undefined, { charge });
    // Only a read with $select parses the text; other reads cut and join the stored bytes.
    const isParsed = view.select !== undefined || view.level === 'full';
    const stored = isParsed ? bytesToText(item.body) : bytesToLatin1(item.body);
    const reply = isParsed ? jsonReply : storedReply;
    const headers = ['ETag', storedEtag(stored)];
    return reply(200, entityText(stored, view), view.level, { charge, headers });
  };
  return isPromise(read) ? read.then(answer) : answer(read);
}

export async function writeEntity(call: Call, resource: EntityResource): Promise<Reply> {
  const { service, dialect } = call;
  const plan = planWrite(call, {
    method: call.method,
    resource,
    headers: call.headers,
    query: call.target.query,
    text: bytesToText(call.body),
  });
  const table = ownerTable(call, plan.table);
  const written = await withThrottleWait(call, () =>
    service.items.write(table, plan.write, dialect.requestClass),
  );
  return plan.reply(written.effect.item, written.charge);
}
