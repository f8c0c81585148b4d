/** Checks the rights of a caller without a master key. Throws AccessRefusal, 403. */
import type { MaybePromise } from '../../../base/index.ts';
import {
  type AccessControl,
  type Action,
  isInMasks,
  isRead,
  type Principal,
  type ScriptType,
} from '../../../service/index.ts';
import type { Call } from '../call.ts';
import { actionOf } from './actions.ts';
import { authorizeToken } from './authorize-token.ts';
import { AccessRefusal, forbidden } from './refusal.ts';

export function authorize(
  principal: Principal,
  call: Call,
  access: AccessControl,
): MaybePromise<void> {
  if (principal.kind === 'master') return undefined;
  const action = actionOf(call);
  if (action === undefined) throw forbidden(principal, 'only a master key opens this route');
  switch (principal.kind) {
    case 'reader':
      return authorizeReader(principal, action);
    case 'shared':
      return authorizeShared(principal, call, action);
    case 'identity':
      return authorizeIdentity(principal, { call, access, action });
    case 'token':
      return authorizeToken(principal, call, action);
  }
}

/** Permissions are not for readers, because they show tokens that may write. */
function authorizeReader(principal: Principal, action: Action): void {
  if (!isRead(action) || action === 'readPermissions')
    throw forbidden(principal, `a read-only key does not give ${action}`);
}

function authorizeShared(
  principal: Extract<Principal, { kind: 'shared' }>,
  call: Call,
  action: Action,
): void {
  const { grant } = principal;
  const type = call.target.shape.split('/').at(-1) ?? '';
  if (!isInMasks(grant, action, isScriptType(type) ? type : undefined))
    throw forbidden(principal, `the token does not give ${action}`);
  if (action === 'readAccount') return;
  const requested = segmentsOf(call);
  if (!grant.path.every((segment, at) => requested[at] === segment))
    throw forbidden(principal, 'outside the path of the token');
  const isSingleResource = grant.path.length > CONTAINER_PATH_LENGTH;
  // Below a container's resource id an item is named by resource id, which may equal the id of another item.
  if (isSingleResource && call.findContainer()?.record.id !== call.id(1))
    throw forbidden(
      principal,
      'the token names one resource, and the request a container by number',
    );
  call.renameGuard = () => {
    if (isSingleResource) throw forbidden(principal, 'the token is for one item');
    for (const right of RENAMING)
      if (!isInMasks(grant, right)) throw forbidden(principal, `the token does not give ${right}`);
  };
}

/** The path of a container: `dbs`, its database, `colls`, its own name. */
const CONTAINER_PATH_LENGTH = 4;

/** The actions that a replacement under another id consists of. */
const RENAMING = ['deleteItem', 'createItem'] as const;

function isScriptType(type: string): type is ScriptType {
  return type === 'sprocs' || type === 'triggers' || type === 'udfs';
}

const LEARN_MORE = 'Learn more: https://aka.ms/cosmos-native-rbac.';
const NOT_DATA = 5300;
const NO_METADATA = 5301;
const NO_DATA = 5302;

type IdentityPrincipal = Extract<Principal, { kind: 'identity' }>;

interface IdentityRequest {
  readonly call: Call;
  readonly access: AccessControl;
  readonly action: Action;
}

function authorizeIdentity(principal: IdentityPrincipal, request: IdentityRequest): void {
  checkRoles(principal, request);
  request.call.renameGuard = () => {
    for (const action of RENAMING) checkRoles(principal, { ...request, action });
  };
}

function checkRoles(principal: IdentityPrincipal, { call, access, action }: IdentityRequest): void {
  const { id, groups } = principal.identity;
  const scope = segmentsOf(call).slice(0, 4);
  const resource = `/${scope.join('/')}`;
  const verdict = access.roles.decide([id, ...groups], action, resource);
  if (verdict.kind === 'allowed') return;
  if (verdict.kind === 'notData')
    throw new AccessRefusal(
      403,
      `Request blocked by Auth localhost : The given request [${call.method} /${call.target.link}] cannot be authorized by AAD token in data plane. ${LEARN_MORE}`,
      { reason: `${action} is no data action`, principal, substatus: NOT_DATA },
    );
  const { dataAction } = verdict;
  throw new AccessRefusal(
    403,
    `Request blocked by Auth localhost : Request is blocked because principal [${id}] does not have required RBAC permissions to perform action [${dataAction}] on resource [${resource}]. ${LEARN_MORE}`,
    {
      reason: `no role gives ${dataAction} on ${resource}`,
      principal,
      substatus: dataAction.endsWith('/readMetadata') ? NO_METADATA : NO_DATA,
    },
  );
}

/** The path of the resource, or of the owner of a feed, always by names. */
function segmentsOf(call: Call): readonly string[] {
  const { shape, ids } = call.target;
  const kinds = shape.split('/');
  const database = call.findDatabase();
  const container = database === undefined || ids.length < 2 ? undefined : namedContainer(call);
  const names = [database?.id ?? ids[0], container ?? ids[1], ...ids.slice(2)];
  return ids.flatMap((_, at) => [kinds[at] ?? '', names[at] ?? '']);
}

function namedContainer(call: Call): string | undefined {
  return call.target.shape.startsWith('dbs/colls') ? call.findContainer()?.record.id : undefined;
}
