/** A write of one entity, alone or in a batch: the operation of the service, and the response to it. */
import { assert, bytesToText } from '../../../base/index.ts';
import { type Item, timeEtag } from '../../../partition/index.ts';
import type { ItemAddress, ItemWrite } from '../../../service/index.ts';
import type { Entity } from '../../../value/index.ts';
import type { Key, RequiredPermission } from '../access/access.ts';
import { boundsCheck } from '../access/key-bounds.ts';
import { type Call, linkBaseOf } from '../call.ts';
import { TableError } from '../errors.ts';
import { emptyReply, jsonReply, type Reply } from '../reply.ts';
import { type Headers, ifMatch, metadataLevel, preference, type Query } from '../request.ts';
import type { Resource } from '../target.ts';
import { entityAt, insertedEntity, parseEntity } from './entity-body.ts';
import { editLink, entityText } from './entity-reply.ts';
import { MERGE, mergeArguments, newBody } from './merge-updater.ts';

/** A request for one entity: that of the client, or a part of a batch. */
interface EntityRequest {
  /** The effective verb. */
  readonly method: string;
  readonly resource: Extract<Resource, { readonly kind: 'entity' | 'entities' }>;
  readonly headers: Headers;
  readonly query: Query;
  readonly text: string;
}

export interface EntityPlan {
  readonly table: string;
  readonly key: Key;
  readonly write: ItemWrite;
  /** @param item - the item after the write; undefined when deleted. */
  readonly reply: (item: Item | undefined, charge: number) => Reply;
}

/** Throws for an invalid request; does not read the table. */
export function planWrite(call: Call, request: EntityRequest): EntityPlan {
  const { method, resource } = request;
  if (resource.kind === 'entities') {
    if (method !== 'POST') throw new TableError('UnsupportedHttpVerb');
    return planInsert(call, request);
  }
  switch (method) {
    case 'PUT':
    case 'PATCH':
    case 'MERGE':
      return planUpdate(call, request, resource);
    case 'DELETE':
      return planDelete(call, request, resource);
    default:
      throw new TableError('UnsupportedHttpVerb');
  }
}

function planInsert(call: Call, request: EntityRequest): EntityPlan {
  const { headers, query, resource } = request;
  const { table } = resource;
  allow(call, { level: 'o', permissions: ['a'], table });
  const level = metadataLevel(headers, query);
  const prefer = preference(headers);
  const entity = insertedEntity(parseEntity(request.text, call.dialect), call.dialect);
  boundsCheck(call.access.bounds, entity);
  // The closure does not hold the entity: the plan stays in memory until the write is durable.
  const key = { partitionKey: entity.partitionKey, rowKey: entity.rowKey };
  return {
    table,
    key,
    write: createOf(entity),
    reply(item, charge) {
      assert(item !== undefined, 'an insert leaves an entity');
      const base = linkBaseOf(call, table);
      const link = `${call.origin}${editLink(base.table, key)}`;
      const sent = ['ETag', timeEtag(item.time), 'Location', link];
      if (prefer !== undefined) sent.push('Preference-Applied', `return-${prefer}`);
      if (prefer === 'no-content')
        return emptyReply(204, { charge, headers: [...sent, 'DataServiceId', link] });
      const view = { level, base, select: undefined };
      return jsonReply(201, entityText(bytesToText(item.body), view), level, {
        charge,
        headers: sent,
      });
    },
  };
}

function planUpdate(
  call: Call,
  { method, headers, text }: EntityRequest,
  { table, partitionKey, rowKey }: Extract<Resource, { kind: 'entity' }>,
): EntityPlan {
  const match = ifMatch(headers);
  const isUpsert = match === undefined;
  allow(call, {
    level: 'o',
    permissions: isUpsert && !call.dialect.updateImpliesInsert ? ['a', 'u'] : ['u'],
    isAll: true,
    table,
  });
  const sent = parseEntity(text, call.dialect);
  const entity = entityAt({ partitionKey, rowKey }, sent, call.dialect);
  boundsCheck(call.access.bounds, entity);
  const address = addressOf(entity);
  const write: ItemWrite =
    method === 'PUT'
      ? { kind: isUpsert ? 'upsert' : 'replace', ...address, ...newBody(entity), ifMatch: match }
      : {
          kind: 'update',
          ...address,
          updater: MERGE,
          args: mergeArguments(entity),
          createsAbsent: isUpsert,
          ifMatch: match,
        };
  return {
    table,
    key: entity,
    write,
    reply: updatedReply,
  };
}

function updatedReply(item: Item | undefined, charge: number): Reply {
  assert(item !== undefined, 'an update leaves an entity');
  return emptyReply(204, { charge, headers: ['ETag', timeEtag(item.time)] });
}

function planDelete(
  call: Call,
  { headers }: EntityRequest,
  { table, partitionKey, rowKey }: Extract<Resource, { kind: 'entity' }>,
): EntityPlan {
  allow(call, { level: 'o', permissions: ['d'], table });
  const match = ifMatch(headers);
  if (match === undefined)
    throw new TableError(
      'MissingRequiredHeader',
      "The header If-Match is mandatory for this request: give an etag, or '*' for whatever is there.",
    );
  const key = { partitionKey, rowKey };
  boundsCheck(call.access.bounds, key);
  return {
    table,
    key,
    write: { kind: 'delete', ...addressOf(key), ifMatch: match },
    reply: (_item, charge) => emptyReply(204, { charge }),
  };
}

function allow(call: Call, required: RequiredPermission): void {
  call.access.check(required);
}

function addressOf({ partitionKey, rowKey }: Key): ItemAddress {
  return { partitionKey: [partitionKey], rowKey: [rowKey] };
}

/** Copies field by field, because a batch has a hundred of them. */
function createOf(entity: Entity): ItemWrite {
  const { partitionKey, rowKey } = entity;
  const { body, value, ttlSec } = newBody(entity);
  return { kind: 'create', partitionKey: [partitionKey], rowKey: [rowKey], body, value, ttlSec };
}
