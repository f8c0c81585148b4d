/** The table of routes: kinds of resources by the shape of their paths, with their verbs. */
import { readAccount } from './account.ts';
import type { Call, RequestHandler } from './call.ts';
import { RequestError } from './errors.ts';
import { CLIENT_ENCRYPTION_KEYS } from './resources/client-encryption-keys.ts';
import {
  deleteContainer,
  listContainers,
  postContainers,
  readContainer,
  replaceContainer,
} from './resources/containers.ts';
import {
  deleteDatabase,
  listDatabases,
  postDatabases,
  readDatabase,
} from './resources/databases.ts';
import { emptyResourceVerbs } from './resources/empty-resources.ts';
import { listItems, postItems } from './resources/item-feed.ts';
import { deleteItem, patchItem, readItem, replaceItem } from './resources/items.ts';
import { listOffers, postOffers, readOffer, replaceOffer } from './resources/offers.ts';
import { postOperation } from './resources/operations.ts';
import {
  listPartitionKeyRanges,
  postPartitionKeyRanges,
} from './resources/partition-key-ranges.ts';
import { PERMISSIONS } from './resources/permissions.ts';
import { STORED_PROCEDURES, TRIGGERS, USER_DEFINED_FUNCTIONS } from './resources/scripts.ts';
import { storedResourceVerbs } from './resources/stored-resources.ts';
import { USERS } from './resources/users.ts';
import { executeProcedure } from './scripts/execute-procedure.ts';
import type { Target } from './target.ts';

type Verbs = Readonly<Record<string, RequestHandler>>;

export interface Resource {
  /** The resource type in signatures. */
  readonly type: string;
  readonly feed: Verbs;
  readonly single: Verbs;
}

const RESOURCES: Readonly<Record<string, Resource>> = {
  '': { type: '', feed: {}, single: { GET: readAccount } },
  dbs: {
    type: 'dbs',
    feed: { GET: listDatabases, POST: postDatabases },
    single: { GET: readDatabase, DELETE: deleteDatabase },
  },
  'dbs/clientencryptionkeys': storedResourceVerbs(CLIENT_ENCRYPTION_KEYS),
  'dbs/colls': {
    type: 'colls',
    feed: { GET: listContainers, POST: postContainers },
    single: { GET: readContainer, PUT: replaceContainer, DELETE: deleteContainer },
  },
  'dbs/colls/conflicts': emptyResourceVerbs('conflicts', 'Conflicts', { deletesByKey: true }),
  'dbs/colls/docs': {
    type: 'docs',
    feed: { GET: listItems, POST: postItems },
    single: {
      GET: readItem,
      PUT: replaceItem,
      DELETE: deleteItem,
      PATCH: patchItem,
    },
  },
  'dbs/colls/docs/attachments': emptyResourceVerbs('attachments', 'Attachments', {
    deletesByKey: false,
  }),
  'dbs/colls/operations': {
    type: 'colls',
    feed: {},
    single: { POST: postOperation },
  },
  'dbs/colls/pkranges': {
    type: 'pkranges',
    feed: { GET: listPartitionKeyRanges, POST: postPartitionKeyRanges },
    single: {},
  },
  'dbs/colls/sprocs': withExecution(storedResourceVerbs(STORED_PROCEDURES), executeProcedure),
  'dbs/colls/triggers': storedResourceVerbs(TRIGGERS),
  'dbs/colls/udfs': storedResourceVerbs(USER_DEFINED_FUNCTIONS),
  'dbs/users': storedResourceVerbs(USERS),
  'dbs/users/permissions': storedResourceVerbs(PERMISSIONS),
  offers: {
    type: 'offers',
    feed: { GET: listOffers, POST: postOffers },
    single: { GET: readOffer, PUT: replaceOffer },
  },
};

/** The shapes of all paths there are. */
export const SHAPES: readonly string[] = Object.keys(RESOURCES);

/** Throws 404 for a path that names nothing this API knows, 400 for one below an offer. */
export function findResource(target: Target): Resource {
  const { shape } = target;
  if (Object.hasOwn(RESOURCES, shape)) return RESOURCES[shape] as Resource;
  // Some clients send the whole link of an offer where its id belongs.
  if (shape.startsWith('offers/'))
    throw new RequestError(400, 'The request path is no link to an offer.');
  throw new RequestError(404, 'The request path names no resource of this API.');
}

/** Throws 405 where the resource does not take the verb. */
export function findHandler(resource: Resource, call: Call): RequestHandler {
  const verbs = call.target.isFeed ? resource.feed : resource.single;
  if (Object.hasOwn(verbs, call.method)) return verbs[call.method] as RequestHandler;
  throw new RequestError(405, `The resource does not take ${call.method}.`, {
    headers: ['allow', Object.keys(verbs).join(', ')],
  });
}

/** POST on one resource runs it. */
function withExecution(resource: Resource, execute: RequestHandler): Resource {
  return { ...resource, single: { ...resource.single, POST: execute } };
}
