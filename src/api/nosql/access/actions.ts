/** The action of a request. A route that is missing here has none, and only a master key may use it. */
import type { Action } from '../../../service/index.ts';
import type { Call } from '../call.ts';
import { isQuery } from '../request.ts';

type Meaning = Action | ((call: Call) => Action);
type Verbs = Readonly<Record<string, Meaning>>;

interface Route {
  readonly feed: Verbs;
  readonly single: Verbs;
}

const ROUTES: Readonly<Record<string, Route>> = {
  '': { feed: {}, single: { GET: 'readAccount' } },
  dbs: {
    feed: { GET: 'listDatabases', POST: queryOr('listDatabases', 'createDatabase') },
    single: { GET: 'readDatabase', DELETE: 'deleteDatabase' },
  },
  'dbs/clientencryptionkeys': {
    feed: { GET: 'readEncryptionKeys', POST: queryOr('readEncryptionKeys', 'writeEncryptionKeys') },
    single: {
      GET: 'readEncryptionKeys',
      PUT: 'writeEncryptionKeys',
      DELETE: 'writeEncryptionKeys',
    },
  },
  'dbs/users': {
    feed: { GET: 'readUsers', POST: queryOr('readUsers', 'writeUsers') },
    single: { GET: 'readUsers', PUT: 'writeUsers', DELETE: 'writeUsers' },
  },
  'dbs/users/permissions': {
    feed: { GET: 'readPermissions', POST: queryOr('readPermissions', 'writePermissions') },
    single: { GET: 'readPermissions', PUT: 'writePermissions', DELETE: 'writePermissions' },
  },
  'dbs/colls': {
    feed: { GET: 'listContainers', POST: queryOr('listContainers', 'createContainer') },
    single: { GET: 'readContainer', PUT: 'replaceContainer', DELETE: 'deleteContainer' },
  },
  'dbs/colls/pkranges': { feed: { GET: 'readRanges', POST: queryOnly('readRanges') }, single: {} },
  'dbs/colls/docs': {
    feed: { GET: feedOfItems, POST: postOfItems },
    single: {
      GET: 'readItem',
      PUT: 'replaceItem',
      PATCH: 'patchItem',
      DELETE: 'deleteItem',
    },
  },
  'dbs/colls/docs/attachments': { feed: { GET: 'readItem' }, single: {} },
  'dbs/colls/operations': { feed: {}, single: { POST: 'writeItems' } },
  'dbs/colls/conflicts': {
    feed: { GET: 'readConflicts', POST: queryOnly('readConflicts') },
    single: { GET: 'readConflicts', DELETE: 'deleteConflict' },
  },
  'dbs/colls/sprocs': scripts({ POST: 'executeProcedure' }),
  'dbs/colls/triggers': scripts({}),
  'dbs/colls/udfs': scripts({}),
  offers: {
    feed: { GET: 'readOffers', POST: queryOnly('readOffers') },
    single: { GET: 'readOffers', PUT: 'replaceOffer' },
  },
};

/** Undefined where only a master key is allowed. */
export function actionOf(call: Call): Action | undefined {
  const { shape, isFeed } = call.target;
  const route = Object.hasOwn(ROUTES, shape) ? ROUTES[shape] : undefined;
  const verbs = isFeed ? route?.feed : route?.single;
  if (verbs === undefined || !Object.hasOwn(verbs, call.method)) return undefined;
  const meaning = verbs[call.method] as Meaning;
  return typeof meaning === 'string' ? meaning : meaning(call);
}

function scripts(more: Verbs): Route {
  return {
    feed: { GET: 'listScripts', POST: queryOr('listScripts', 'createScript') },
    single: { GET: 'readScript', PUT: 'replaceScript', DELETE: 'deleteScript', ...more },
  };
}

function queryOr(query: Action, otherwise: Action): Meaning {
  return (call) => (isQuery(call) ? query : otherwise);
}

/** POST on this route is a query whatever the headers say. */
function queryOnly(query: Action): Meaning {
  return query;
}

function feedOfItems(call: Call): Action {
  return call.header('a-im') === undefined ? 'readFeed' : 'readChangeFeed';
}

/** Headers are read in the same order as by the operation itself, so that what is allowed is what is done. */
function postOfItems(call: Call): Action {
  if (call.isHeaderTrue('x-ms-cosmos-is-query-plan-request')) return 'planQuery';
  if (isQuery(call)) return 'queryItems';
  if (call.isHeaderTrue('x-ms-cosmos-is-batch-request')) return 'writeItems';
  return call.isHeaderTrue('x-ms-documentdb-is-upsert') ? 'upsertItem' : 'createItem';
}
