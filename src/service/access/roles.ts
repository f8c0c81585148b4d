/**
 * Roles: which identities have which data actions, and where. Actions and the two built-in roles have the names and
 * ids of the reference service, so that definitions can be carried over.
 */
import type { Action } from './actions.ts';

const ACCOUNT = 'Microsoft.DocumentDB/databaseAccounts';
const CONTAINERS = `${ACCOUNT}/sqlDatabases/containers`;

const READ_METADATA = `${ACCOUNT}/readMetadata`;

const ITEM_ACTIONS = ['create', 'read', 'replace', 'upsert', 'delete'].map(
  (verb) => `${CONTAINERS}/items/${verb}`,
);

/** All data actions that an action needs. No role can allow an action that is not listed. */
const DATA_ACTIONS: Readonly<Partial<Record<Action, readonly string[]>>> = {
  readAccount: [READ_METADATA],
  listDatabases: [READ_METADATA],
  readDatabase: [READ_METADATA],
  listContainers: [READ_METADATA],
  readContainer: [READ_METADATA],
  readRanges: [READ_METADATA],
  readEncryptionKeys: [READ_METADATA],
  readItem: [`${CONTAINERS}/items/read`],
  readFeed: [`${CONTAINERS}/executeQuery`],
  readChangeFeed: [`${CONTAINERS}/readChangeFeed`],
  queryItems: [`${CONTAINERS}/executeQuery`],
  planQuery: [`${CONTAINERS}/executeQuery`],
  createItem: [`${CONTAINERS}/items/create`],
  upsertItem: [`${CONTAINERS}/items/upsert`],
  replaceItem: [`${CONTAINERS}/items/replace`],
  patchItem: [`${CONTAINERS}/items/replace`],
  deleteItem: [`${CONTAINERS}/items/delete`],
  writeItems: ITEM_ACTIONS,
  executeProcedure: [`${CONTAINERS}/executeStoredProcedure`],
  readConflicts: [`${CONTAINERS}/manageConflicts`],
  deleteConflict: [`${CONTAINERS}/manageConflicts`],
};

export interface RoleDefinition {
  readonly id: string;
  readonly permissions: readonly {
    readonly dataActions: readonly string[];
    readonly notDataActions?: readonly string[];
  }[];
}

export interface RoleAssignment {
  readonly roleDefinitionId: string;
  /** The id of a person, a program or a group. */
  readonly principalId: string;
  /** `/`, `/dbs/{db}` or `/dbs/{db}/colls/{container}`. */
  readonly scope: string;
}

const READER = '00000000-0000-0000-0000-000000000001';
export const CONTRIBUTOR = '00000000-0000-0000-0000-000000000002';

export const BUILT_IN_ROLES: readonly RoleDefinition[] = [
  {
    id: READER,
    permissions: [
      {
        dataActions: [
          READ_METADATA,
          `${CONTAINERS}/items/read`,
          `${CONTAINERS}/executeQuery`,
          `${CONTAINERS}/readChangeFeed`,
        ],
      },
    ],
  },
  {
    id: CONTRIBUTOR,
    permissions: [{ dataActions: [READ_METADATA, `${CONTAINERS}/*`, `${CONTAINERS}/items/*`] }],
  },
];

/** Stands for every identity in an assignment. */
export const ANYONE = '*';

export interface RoleSettings {
  readonly definitions: readonly RoleDefinition[];
  readonly assignments: readonly RoleAssignment[];
}

type RoleVerdict =
  | { readonly kind: 'allowed' }
  /** True where no role can allow the action: it is not a data action. */
  | { readonly kind: 'notData' }
  | { readonly kind: 'missing'; readonly dataAction: string };

export class Roles {
  readonly #settings: RoleSettings;

  constructor(settings: RoleSettings) {
    const definitions = [...BUILT_IN_ROLES, ...settings.definitions];
    this.#settings = { ...settings, definitions };
  }

  /**
   * @param principalIds - the ids of the identity and its groups.
   * @param resource - the scope of the action: `/`, `/dbs/{db}` or `/dbs/{db}/colls/{container}`.
   */
  decide(principalIds: readonly string[], action: Action, resource: string): RoleVerdict {
    const needed = DATA_ACTIONS[action];
    if (needed === undefined) return { kind: 'notData' };
    const held = this.#settings.assignments
      .filter(
        ({ principalId, scope }) =>
          (principalId === ANYONE || principalIds.includes(principalId)) &&
          isWithin(resource, scope, action),
      )
      .flatMap(({ roleDefinitionId }) =>
        this.#settings.definitions.filter(({ id }) => id === roleDefinitionId),
      );
    const missing = needed.find((dataAction) => !held.some((role) => isGiven(role, dataAction)));
    return missing === undefined ? { kind: 'allowed' } : { kind: 'missing', dataAction: missing };
  }
}

/** An identity with any role may read the account: clients read it before anything else. */
function isWithin(resource: string, scope: string, action: Action): boolean {
  if (scope === '/' || action === 'readAccount') return true;
  return resource === scope || resource.startsWith(`${scope}/`);
}

function isGiven({ permissions }: RoleDefinition, dataAction: string): boolean {
  return permissions.some(
    ({ dataActions, notDataActions = [] }) =>
      dataActions.some((pattern) => isMatch(pattern, dataAction)) &&
      !notDataActions.some((pattern) => isMatch(pattern, dataAction)),
  );
}

function isMatch(pattern: string, dataAction: string): boolean {
  if (!pattern.endsWith('*')) return pattern === dataAction;
  return dataAction.startsWith(pattern.slice(0, -1));
}
