/** The actions of requests, the same for all APIs. A principal is allowed an action or it is not. */

const READS = [
  'readAccount',
  'listDatabases',
  'readDatabase',
  'listContainers',
  'readContainer',
  'readRanges',
  'readOffers',
  'readUsers',
  'readPermissions',
  'readEncryptionKeys',
  'readItem',
  'readFeed',
  'readChangeFeed',
  'queryItems',
  'planQuery',
  'listScripts',
  'readScript',
  'readConflicts',
] as const;

const WRITES = [
  'createDatabase',
  'deleteDatabase',
  'createContainer',
  'replaceContainer',
  'deleteContainer',
  'replaceOffer',
  'writeUsers',
  'writePermissions',
  'writeEncryptionKeys',
  'createItem',
  'upsertItem',
  'replaceItem',
  'patchItem',
  'deleteItem',
  /** Many operations of any kind in one request. */
  'writeItems',
  'createScript',
  'replaceScript',
  'deleteScript',
  'executeProcedure',
  'deleteConflict',
] as const;

export type Action = (typeof READS)[number] | (typeof WRITES)[number];

const READ_SET: ReadonlySet<Action> = new Set(READS);

export function isRead(action: Action): boolean {
  return READ_SET.has(action);
}
