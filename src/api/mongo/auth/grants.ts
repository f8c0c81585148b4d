/** What the roles of a user allow, as far as commands ask: reading or writing a database, or all of them. */

export interface RoleName {
  readonly role: string;
  readonly db: string;
}

export interface Grants {
  readonly roles: readonly RoleName[];
  mayRead(database: string): boolean;
  mayWrite(database: string): boolean;
}

/** The built-in roles (documented). `any`: in every database. */
const BUILT_IN: Readonly<Record<string, { readonly writes: boolean; readonly any: boolean }>> = {
  read: { writes: false, any: false },
  readWrite: { writes: true, any: false },
  dbAdmin: { writes: true, any: false },
  dbOwner: { writes: true, any: false },
  userAdmin: { writes: true, any: false },
  enableSharding: { writes: true, any: false },
  readAnyDatabase: { writes: false, any: true },
  readWriteAnyDatabase: { writes: true, any: true },
  dbAdminAnyDatabase: { writes: true, any: true },
  userAdminAnyDatabase: { writes: true, any: true },
  clusterAdmin: { writes: true, any: true },
  clusterManager: { writes: true, any: true },
  clusterMonitor: { writes: false, any: true },
  hostManager: { writes: true, any: true },
  backup: { writes: false, any: true },
  restore: { writes: true, any: true },
  root: { writes: true, any: true },
};

/** Roles that exist in the database `admin` only. */
const ADMIN_ONLY: ReadonlySet<string> = new Set(
  Object.keys(BUILT_IN).filter((name) => BUILT_IN[name]?.any),
);

export function builtInRoles(database: string): readonly string[] {
  const names = Object.keys(BUILT_IN);
  return database === 'admin' ? names : names.filter((name) => !ADMIN_ONLY.has(name));
}

export function isBuiltIn({ role, db }: RoleName): boolean {
  return Object.hasOwn(BUILT_IN, role) && (db === 'admin' || !ADMIN_ONLY.has(role));
}

/** @param roles - built-in ones, those that own roles inherit included. */
export function grantsOf(roles: readonly RoleName[]): Grants {
  const allows = (database: string, isWrite: boolean): boolean =>
    roles.some(({ role, db }) => {
      const known = BUILT_IN[role];
      return known !== undefined && (known.any || db === database) && (known.writes || !isWrite);
    });
  return {
    roles,
    mayRead: (database) => allows(database, false),
    mayWrite: (database) => allows(database, true),
  };
}

const READ_ACTIONS = [
  'changeStream',
  'collStats',
  'dbHash',
  'dbStats',
  'find',
  'killCursors',
  'listCollections',
  'listIndexes',
  'planCacheRead',
];
const WRITE_ACTIONS = [
  'collMod',
  'convertToCapped',
  'createCollection',
  'createIndex',
  'dropCollection',
  'dropDatabase',
  'dropIndex',
  'insert',
  'remove',
  'renameCollectionSameDB',
  'update',
];

interface Privilege {
  /** Empty: all databases. */
  readonly db: string;
  readonly actions: readonly string[];
}

/** What roles allow, as privileges: one for each database. */
export function privilegesOf(roles: readonly RoleName[]): readonly Privilege[] {
  const writes = new Map<string, boolean>();
  for (const { role, db } of roles) {
    const known = BUILT_IN[role];
    if (known === undefined) continue;
    const place = known.any ? '' : db;
    writes.set(place, known.writes || writes.get(place) === true);
  }
  return [...writes].map(([db, mayWrite]) => ({
    db,
    actions: mayWrite ? [...READ_ACTIONS, ...WRITE_ACTIONS].sort() : READ_ACTIONS,
  }));
}
