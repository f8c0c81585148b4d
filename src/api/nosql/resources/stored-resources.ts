/** The verbs of all stored resources: scripts, users, permissions, encryption keys. A kind adds only what differs. */
import {
  databaseRid,
  type ResourceOwner,
  type StoredKind,
  type StoredResource,
  storedResourceRid,
} from '../../../catalog/index.ts';
import type { ValueMap } from '../../../value/index.ts';
import { type Call, ownerNotFound, type RequestHandler, resourceNotFound } from '../call.ts';
import { resourceName } from '../containers/resource-name.ts';
import { type ListedResource, listReply } from '../feed.ts';
import { parseJsonObject } from '../items/json-body.ts';
import { emptyReply, jsonReply, notModified, type Reply } from '../reply.ts';
import { ifMatch, isNotModified, isQuery } from '../request.ts';

/** Writes to the catalog cost what a small item costs. */
const WRITE_CHARGE = 4.95;

export interface StoredResourceKind {
  readonly kind: StoredKind;
  /** The type in paths and signatures, such as `sprocs`. */
  readonly type: string;
  /** Name of the list in a feed, such as `StoredProcedures`. */
  readonly listName: string;
  /** Checks a body and returns the properties that are stored besides the id. Throws `invalidInput`. */
  properties(body: ValueMap, call: Call): ValueMap;
  /** Properties of the response that are not stored, such as a permission's token. */
  readonly extras?: (resource: StoredResource, call: Call) => object;
}

interface StoredVerbs {
  readonly type: string;
  readonly feed: { readonly GET: RequestHandler; readonly POST: RequestHandler };
  readonly single: {
    readonly GET: RequestHandler;
    readonly PUT: RequestHandler;
    readonly DELETE: RequestHandler;
  };
}

export function storedResourceVerbs(kind: StoredResourceKind): StoredVerbs {
  return {
    type: kind.type,
    feed: {
      GET: (call) => list(call, kind),
      POST: (call) => (isQuery(call) ? list(call, kind) : write(call, kind)),
    },
    single: {
      GET: (call) => read(call, kind),
      PUT: (call) => replace(call, kind),
      DELETE: (call) => remove(call, kind),
    },
  };
}

/** The resource that a path names by its name or its `_rid`; 404 where there is none. */
export function findStored(call: Call, kind: StoredKind): StoredResource {
  const { owner } = parentOf(call, kind);
  const found = lookUp(call, { owner, kind, id: call.id(call.target.ids.length - 1) });
  if (found === undefined) throw resourceNotFound();
  return found;
}

/** The owner of the resources of this kind under the path of the request. */
export function ownerOf(call: Call, kind: StoredKind): ResourceOwner {
  return parentOf(call, kind).owner;
}

interface ResourceParent {
  readonly owner: ResourceOwner;
  /** `_rid` and `_self` of the owner. */
  readonly rid: string;
  readonly self: string;
}

function parentOf(call: Call, kind: StoredKind): ResourceParent {
  switch (kind) {
    case 'user':
    case 'clientEncryptionKey':
      return databaseParent(call);
    case 'permission': {
      const { owner, self } = databaseParent(call);
      const user = lookUp(call, { owner, kind: 'user', id: call.id(1) });
      if (user === undefined) throw ownerNotFound();
      const rid = storedResourceRid(user);
      return { owner: { ...owner, userRid: user.rid }, rid, self: `${self}users/${rid}/` };
    }
    default: {
      const { record, rid, self } = call.ownerContainer();
      const { databaseRid: database, rid: container } = record;
      return { owner: { databaseRid: database, containerRid: container, userRid: 0 }, rid, self };
    }
  }
}

function databaseParent(call: Call): ResourceParent {
  const { rid: database } = call.ownerDatabase();
  const rid = databaseRid(database);
  const owner = { databaseRid: database, containerRid: 0, userRid: 0 };
  return { owner, rid, self: `dbs/${rid}/` };
}

function lookUp(
  { service }: Call,
  { owner, kind, id }: { owner: ResourceOwner; kind: StoredKind; id: string },
): StoredResource | undefined {
  const named = service.resources.find(owner, kind, id);
  if (named !== undefined) return named;
  return service.resources.list(owner, kind).find((other) => storedResourceRid(other) === id);
}

function show(call: Call, kind: StoredResourceKind, resource: StoredResource): ShownResource {
  const rid = storedResourceRid(resource);
  return {
    id: resource.id,
    ...(resource.properties as object),
    _rid: rid,
    _self: `${parentOf(call, kind.kind).self}${kind.type}/${rid}/`,
    _etag: resource.etag,
    _ts: resource.timestampSec,
    ...kind.extras?.(resource, call),
  };
}

interface ShownResource extends ListedResource {
  readonly [name: string]: unknown;
}

function list(call: Call, kind: StoredResourceKind): Reply {
  const { owner, rid } = parentOf(call, kind.kind);
  const resources = call.service.resources.list(owner, kind.kind);
  const shown = (resource: StoredResource) => show(call, kind, resource);
  return listReply(call, { rid, key: kind.listName }, resources, shown);
}

async function write(call: Call, kind: StoredResourceKind): Promise<Reply> {
  const { owner } = parentOf(call, kind.kind);
  const spec = specOf(call, kind);
  const { resources } = call.service;
  if (!call.isHeaderTrue('x-ms-documentdb-is-upsert'))
    return written(call, kind, await resources.create(owner, kind.kind, spec), 201);
  const { resource, isNew } = await resources.upsert(owner, kind.kind, spec, ifMatch(call));
  return written(call, kind, resource, isNew ? 201 : 200);
}

function specOf(call: Call, kind: StoredResourceKind) {
  const body = parseJsonObject(call.body);
  return { id: resourceName(body), properties: kind.properties(body, call) };
}

function read(call: Call, kind: StoredResourceKind): Reply {
  const resource = findStored(call, kind.kind);
  if (isNotModified(call, resource.etag)) return notModified(resource.etag, []);
  return jsonReply(200, show(call, kind, resource), { headers: ['etag', resource.etag] });
}

async function replace(call: Call, kind: StoredResourceKind): Promise<Reply> {
  const seen = findStored(call, kind.kind);
  const changed = await call.service.resources.replace(seen, specOf(call, kind), ifMatch(call));
  return written(call, kind, changed, 200);
}

async function remove(call: Call, kind: StoredResourceKind): Promise<Reply> {
  await call.service.resources.delete(findStored(call, kind.kind), ifMatch(call));
  return emptyReply(204, { charge: WRITE_CHARGE });
}

function written(
  call: Call,
  kind: StoredResourceKind,
  resource: StoredResource,
  status: number,
): Reply {
  return jsonReply(status, show(call, kind, resource), {
    charge: WRITE_CHARGE,
    headers: ['etag', resource.etag],
  });
}
