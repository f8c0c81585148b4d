/** /dbs/{id}/users/{id}/permissions: the rights of a user on one resource, with a resource token. */
import { DomainError } from '../../../base/index.ts';
import { parseResourceId, type StoredResource, storedResourceRid } from '../../../catalog/index.ts';
import type { Grant, GrantScope } from '../../../service/index.ts';
import type { ValueMap } from '../../../value/index.ts';
import { type Call, resourceNotFound } from '../call.ts';
import { RequestError } from '../errors.ts';
import { parsePartitionKey } from '../items/partition-key-header.ts';
import { toInteger } from '../request.ts';
import { parseTarget, type Target } from '../target.ts';
import { findStored, ownerOf, type StoredResourceKind } from './stored-resources.ts';

/** Documented bounds of a token's lifetime. */
const TOKEN_SEC_MIN = 600;
const TOKEN_SEC_MAX = 86_400;
const TOKEN_SEC_DEFAULT = 3600;

export const PERMISSIONS: StoredResourceKind = {
  kind: 'permission',
  type: 'permissions',
  listName: 'Permissions',
  properties(body, call) {
    const { permissionMode, resource, resourcePartitionKey } = body;
    if (typeof permissionMode !== 'string' || !/^(read|all)$/i.test(permissionMode))
      throw new DomainError('invalidInput', "The property 'permissionMode' must be Read or All.");
    if (typeof resource !== 'string')
      throw new DomainError(
        'invalidInput',
        "The property 'resource' must be a link to a resource.",
      );
    const key =
      resourcePartitionKey === undefined || resourcePartitionKey === null
        ? {}
        : { resourcePartitionKey };
    if ('resourcePartitionKey' in key) parsePartitionKey(JSON.stringify(key.resourcePartitionKey));
    const properties: ValueMap = { permissionMode, resource, ...key };
    const target = parseLink(resource);
    if (containerOf(call, target) === undefined && !isByRid(target)) throw resourceNotFound();
    tokenSec(call);
    checkOnlyOne(call, properties, typeof body.id === 'string' ? body.id : '');
    return properties;
  },
  extras: (permission, call) => ({ _token: call.access.tokens.mint(grantOf(permission, call)) }),
};

function tokenSec(call: Call): number {
  const text = call.header('x-ms-documentdb-expiry-seconds');
  if (text === undefined) return TOKEN_SEC_DEFAULT;
  const seconds = toInteger(text) ?? 0;
  if (seconds >= TOKEN_SEC_MIN && seconds <= TOKEN_SEC_MAX) return seconds;
  throw new RequestError(
    400,
    `The value of x-ms-documentdb-expiry-seconds must be ${TOKEN_SEC_MIN} to ${TOKEN_SEC_MAX}.`,
  );
}

/** A user has one permission for a resource, or one for each of its partition keys. */
function checkOnlyOne(call: Call, properties: ValueMap, id: string): void {
  const isReplaced = call.target.isFeed
    ? (other: StoredResource) => call.isHeaderTrue('x-ms-documentdb-is-upsert') && other.id === id
    : isSame(findStored(call, 'permission'));
  const subject = subjectOf(call, properties);
  const others = call.service.resources.list(ownerOf(call, 'permission'), 'permission');
  for (const other of others)
    if (other.id !== id && !isReplaced(other) && subjectOf(call, other.properties) === subject)
      throw new RequestError(409, 'The user has a permission for this resource already.');
}

function isSame(current: StoredResource): (other: StoredResource) => boolean {
  return ({ rid }) => rid === current.rid;
}

/** The same text for all ways to name the same resource. */
function subjectOf(call: Call, { resource, resourcePartitionKey }: ValueMap): string {
  const target = parseLink(String(resource));
  const container = containerOf(call, target);
  const containerRid = container?.rid ?? target.ids[1];
  return JSON.stringify([containerRid, target.shape, target.ids[2], resourcePartitionKey]);
}

const SHAPES: ReadonlySet<string> = new Set([
  'dbs/colls',
  'dbs/colls/docs',
  'dbs/colls/sprocs',
  'dbs/colls/triggers',
  'dbs/colls/udfs',
]);

/** The target of a permission: a container, or an item or script in it. */
function parseLink(link: string): Target {
  const target = parseTarget(`/${link}`);
  if (!target.isFeed && SHAPES.has(target.shape)) return target;
  throw new DomainError(
    'invalidInput',
    "The property 'resource' must link to a container, an item, a stored procedure, a trigger or a user defined function.",
  );
}

/** A resource named by rid need not exist: the token of such a permission gives access to nothing. */
function isByRid({ ids }: Target): boolean {
  return parseResourceId(ids[1] ?? '')?.kind === 'container';
}

/** A container in the user's own database, by name or `_rid`. */
function containerOf(call: Call, { ids }: Target) {
  const { databases, containers } = call.service;
  const [databaseId = '', containerId = ''] = ids;
  const owner = call.ownerDatabase();
  const databaseRid = parseResourceId(databaseId);
  const isOwn =
    databases.find(databaseId)?.rid === owner.rid ||
    (databaseRid?.kind === 'database' && databaseRid.database === owner.rid);
  if (!isOwn) return undefined;
  const rid = parseResourceId(containerId);
  return (
    containers.find(owner, containerId) ??
    (rid?.kind === 'container' && rid.database === owner.rid
      ? containers.findByRid(rid.database, rid.container)
      : undefined)
  );
}

function grantOf(permission: StoredResource, call: Call): Grant {
  const { permissionMode, resource, resourcePartitionKey } = permission.properties;
  const target = parseLink(String(resource));
  const container = containerOf(call, target);
  const key =
    resourcePartitionKey === undefined
      ? {}
      : { partitionKey: parsePartitionKey(JSON.stringify(resourcePartitionKey)) };
  return {
    mode: String(permissionMode).toLowerCase() === 'all' ? 'all' : 'read',
    permission: storedResourceRid(permission),
    databaseRid: permission.databaseRid,
    // No container has this rid; it replaces that of a deleted container.
    containerRid: container?.rid ?? -1,
    scope: scopeOf(target),
    ...key,
    expiresSec: Math.floor(call.service.clock.nowMs() / 1000) + tokenSec(call),
  };
}

function scopeOf({ shape, ids }: Target): GrantScope {
  const [, containerId = '', id = ''] = ids;
  const kind = shape.split('/')[2];
  if (kind === undefined) return { kind: 'container' };
  if (kind === 'sprocs' || kind === 'triggers' || kind === 'udfs')
    return { kind: 'script', type: kind, id };
  const rid = parseResourceId(id);
  // An id may look like a rid, so it is read as one only below a container that is named by its rid.
  const isNumber = rid?.kind === 'document' && parseResourceId(containerId)?.kind === 'container';
  return isNumber ? { kind: 'itemNumber', number: rid.document } : { kind: 'item', id };
}
