/** Checks a request against the grant of a resource token. Anything outside is refused, whether it exists or not. */
import { bytesToText, isPromise, type MaybePromise } from '../../../base/index.ts';
import { storedResourceRid } from '../../../catalog/index.ts';
import { type Action, type Grant, isRead, type Principal } from '../../../service/index.ts';
import { readPath, type Value, type ValueMap } from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { ContainerView } from '../containers/container-view.ts';
import {
  type KeyValues,
  PARTITION_KEY_HEADER,
  parsePartitionKey,
  toKeyValue,
} from '../items/partition-key-header.ts';
import { addressedItemId } from '../resources/item-links.ts';
import { type AccessRefusal, forbidden } from './refusal.ts';

type TokenPrincipal = Extract<Principal, { kind: 'token' }>;

export function authorizeToken(
  principal: TokenPrincipal,
  call: Call,
  action: Action,
): MaybePromise<void> {
  // A client reads the account before anything else, with any token.
  if (action === 'readAccount') return undefined;
  const { grant } = principal;
  const view = grantedContainer(call, grant);
  if (view === undefined) throw outside(principal);
  if (grant.mode === 'read' && !isRead(action))
    throw forbidden(principal, `a permission to read does not give ${action}`);
  const { partitionKey } = grant;
  if (partitionKey !== undefined)
    call.keyGuard = (key) => decide(principal, startsWithKey(partitionKey, key));
  if (grant.scope.kind !== 'container') call.renameGuard = () => decide(principal, false);
  const covered = isCovered(grant, { call, view, action });
  if (!isPromise(covered)) return decide(principal, covered);
  return covered.then(
    (isInside) => decide(principal, isInside),
    // Access fails closed: a lookup that fails, as for a missing item or a malformed link, refuses the request.
    () => decide(principal, false),
  );
}

function decide(principal: TokenPrincipal, isInside: boolean): void {
  if (!isInside) throw outside(principal);
}

function outside(principal: TokenPrincipal): AccessRefusal {
  return forbidden(principal, 'outside the scope of the permission');
}

interface TokenRequest {
  readonly call: Call;
  readonly view: ContainerView;
  readonly action: Action;
}

function grantedContainer(call: Call, grant: Grant): ContainerView | undefined {
  const { shape, ids } = call.target;
  if (!shape.startsWith('dbs/colls') || ids.length < 2 || call.findDatabase() === undefined)
    return undefined;
  const view = call.findContainer();
  const isGranted =
    view?.record.databaseRid === grant.databaseRid && view.record.rid === grant.containerRid;
  return isGranted ? view : undefined;
}

function isCovered(grant: Grant, request: TokenRequest): MaybePromise<boolean> {
  // Clients need the definition of a container to address anything in it; its item counts they do not need.
  if (METADATA_ACTIONS.has(request.action)) return isWhole(grant) || !asksForCounts(request.call);
  // A plan shows nothing of the items, but costs time: only callers who may query some partition key get one.
  if (request.action === 'planQuery') return grant.scope.kind === 'container';
  switch (grant.scope.kind) {
    case 'container':
      return grant.partitionKey === undefined || isKeyCovered(grant.partitionKey, request);
    case 'item':
    case 'itemNumber':
      return ITEM_ACTIONS.has(request.action) && isItemCovered(grant, request);
    case 'script':
      return isScriptCovered(grant, request);
  }
}

function isWhole({ scope, partitionKey }: Grant): boolean {
  return scope.kind === 'container' && partitionKey === undefined;
}

function asksForCounts(call: Call): boolean {
  return (
    call.isHeaderTrue('x-ms-documentdb-populatequotainfo') ||
    call.isHeaderTrue('x-ms-documentdb-populatepartitionstatistics')
  );
}

/** Actions that clients cannot do without and that show nothing of the items. */
const METADATA_ACTIONS: ReadonlySet<Action> = new Set<Action>(['readContainer', 'readRanges']);

/** Actions that stay within the partition key of the request header. */
const KEY_ACTIONS: ReadonlySet<Action> = new Set<Action>([
  'readItem',
  'readFeed',
  'readChangeFeed',
  'queryItems',
  'createItem',
  'upsertItem',
  'replaceItem',
  'patchItem',
  'deleteItem',
  'writeItems',
  'executeProcedure',
]);

function isKeyCovered(granted: KeyValues, { call, view, action }: TokenRequest): boolean {
  if (!KEY_ACTIONS.has(action)) return false;
  return (action === 'writeItems' && isBulk(call)) || startsWithKey(granted, sentKey(call, view));
}

/** Operations of a bulk request have their own keys, in the body: `call.keyGuard` checks those. */
function isBulk(call: Call): boolean {
  return call.target.shape === 'dbs/colls/docs' && !call.isHeaderTrue('x-ms-cosmos-batch-atomic');
}

const ITEM_ACTIONS: ReadonlySet<Action> = new Set<Action>([
  'readItem',
  'replaceItem',
  'patchItem',
  'deleteItem',
]);

async function isItemCovered(grant: Grant, { call, view }: TokenRequest): Promise<boolean> {
  const addressed = await addressedItemId(call, view);
  const granted = await grantedItem(grant, { call, view });
  return (
    granted !== undefined &&
    granted.id === addressed &&
    (granted.partitionKey === undefined || startsWithKey(granted.partitionKey, sentKey(call, view)))
  );
}

interface GrantedItem {
  readonly id: string;
  /** Undefined: any partition key. */
  readonly partitionKey?: KeyValues | undefined;
}

async function grantedItem(
  { scope, partitionKey }: Grant,
  { call, view }: Pick<TokenRequest, 'call' | 'view'>,
): Promise<GrantedItem | undefined> {
  if (scope.kind === 'item') return { id: scope.id, partitionKey };
  if (scope.kind !== 'itemNumber') return undefined;
  const found = await call.service.items.findByRid(view.record, scope.number);
  if (found === undefined) return undefined;
  const item = JSON.parse(bytesToText(found.body)) as ValueMap;
  return {
    id: item.id as string,
    partitionKey: view.keyPaths.map((path) => toKeyValue(readPath(item, path))),
  };
}

function isScriptCovered(
  { scope, partitionKey }: Grant,
  { call, view, action }: TokenRequest,
): boolean {
  const { shape, ids, isFeed } = call.target;
  if (scope.kind !== 'script' || isFeed || shape !== `dbs/colls/${scope.type}`) return false;
  if (partitionKey !== undefined && action === 'executeProcedure')
    if (!startsWithKey(partitionKey, sentKey(call, view))) return false;
  const { databaseRid, rid: containerRid } = view.record;
  const kind = SCRIPT_KINDS[scope.type];
  const found = call.service.resources
    .list({ databaseRid, containerRid, userRid: 0 }, kind)
    .find((script) => script.id === ids[2] || storedResourceRid(script) === ids[2]);
  return found !== undefined && (found.id === scope.id || storedResourceRid(found) === scope.id);
}

const SCRIPT_KINDS = {
  sprocs: 'storedProcedure',
  triggers: 'trigger',
  udfs: 'userDefinedFunction',
} as const;

/** Undefined where the request has no partition key, or a malformed one. */
function sentKey(call: Call, view: ContainerView): KeyValues | undefined {
  const header = call.headers[PARTITION_KEY_HEADER];
  if (typeof header !== 'string') return view.isSystemKey ? [undefined] : undefined;
  try {
    const values = parsePartitionKey(header);
    return values.length === 0 && view.isSystemKey ? [undefined] : values;
  } catch {
    // A malformed key is outside every grant; the operation itself would refuse it with 400.
    return undefined;
  }
}

function startsWithKey(granted: KeyValues, sent: KeyValues | undefined): boolean {
  return (
    sent !== undefined &&
    granted.length <= sent.length &&
    granted.every((value: Value, at) => value === sent[at])
  );
}
