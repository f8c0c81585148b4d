/** Keys, tokens, identities and roles together, as every API uses them. */
import { randomBytes } from 'node:crypto';
import type { Clock, MaybePromise } from '../../base/index.ts';
import { AccountKeys, type KeyName, type RotatedKeys } from './account-keys.ts';
import { Identities, type IdentitySettings } from './identity.ts';
import { Passwords } from './passwords.ts';
import { ResourceTokens } from './resource-token.ts';
import { ANYONE, CONTRIBUTOR, type RoleSettings, Roles } from './roles.ts';
import { TableKeys } from './table-keys.ts';

/** The part of access that is stored with the data. */
export interface AccessState {
  /** Base64. */
  readonly secret: string;
  readonly keys: RotatedKeys;
}

/**
 * The place where the state is stored. It holds secrets: only the server may read it. One that writes with a promise has a
 * state from the start.
 */
export interface AccessStore {
  read(): AccessState | undefined;
  write(state: AccessState): MaybePromise<void>;
}

export interface AccessSettings {
  /** Base64, where the operator gave one. */
  readonly keys: Readonly<Partial<Record<KeyName, string>>>;
  /** Undefined: identities are refused. */
  readonly identities?: IdentitySettings | undefined;
  /** Undefined: no identity has a role, except that any identity contributes where any is taken. */
  readonly roles?: RoleSettings | undefined;
  /** Names by which clients know this server, in lower case: they name its account in logins. */
  readonly hostNames?: readonly string[];
}

export interface AccessControl {
  readonly keys: AccountKeys;
  readonly tableKeys: TableKeys;
  readonly passwords: Passwords;
  readonly tokens: ResourceTokens;
  readonly identities: Identities;
  readonly roles: Roles;
  /** True while anybody who can send a request may be let in: any identity counts, or a key can be guessed. */
  isOpenToAnyone(): boolean;
}

const SECRET_BYTES = 64;

export function openAccessControl(
  settings: AccessSettings,
  store: AccessStore,
  clock: Clock,
): AccessControl {
  const state = store.read() ?? makeState(store);
  const secret = Buffer.from(state.secret, 'base64');
  const keys = new AccountKeys({
    given: settings.keys,
    secret,
    rotated: state.keys,
    save: (rotated) => store.write({ ...state, keys: rotated }),
    randomBytes,
  });
  const takesAnyIdentity = settings.identities?.keys.kind === 'any';
  return {
    keys,
    tableKeys: new TableKeys(keys),
    passwords: new Passwords({ keys, secret, hostNames: settings.hostNames ?? [] }),
    tokens: new ResourceTokens(secret),
    identities: new Identities(settings.identities, clock),
    roles: new Roles(settings.roles ?? defaultRoles(takesAnyIdentity)),
    isOpenToAnyone: () => takesAnyIdentity || keys.hasGuessableKey,
  };
}

/** A secret and rotated keys that end with the process. */
export function memoryAccessStore(): AccessStore {
  let state: AccessState | undefined;
  return {
    read: () => state,
    write: (written) => {
      state = written;
    },
  };
}

function makeState(store: AccessStore): AccessState {
  const state = { secret: randomBytes(SECRET_BYTES).toString('base64'), keys: {} };
  void store.write(state);
  return state;
}

/** Any identity contributes where any is taken: that is development. */
function defaultRoles(takesAnyIdentity: boolean): RoleSettings {
  const everyone = { roleDefinitionId: CONTRIBUTOR, principalId: ANYONE, scope: '/' };
  return { definitions: [], assignments: takesAnyIdentity ? [everyone] : [] };
}
