/** A collection: its container, and the shard key as a path. */
import { DomainError } from '../../../base/index.ts';
import type {
  ContainerRecord,
  DatabaseRecord,
  IndexingPolicy,
  ThroughputSetting,
} from '../../../catalog/index.ts';
import type { Service } from '../../../service/index.ts';
import {
  type BsonDocument,
  isDocument,
  parsePath,
  printPath,
  readBson,
  type ValueMap,
  writeBson,
} from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { VERSION_RETENTION_SEC } from '../limits.ts';
import type { FieldPath } from '../query/path.ts';
import { keepExpiry } from './expiry.ts';
import { checkNewName, type Namespace, namespaceText } from './namespace.ts';

export interface Collection {
  readonly namespace: Namespace;
  readonly container: ContainerRecord;
  /** Undefined for an unsharded collection. */
  readonly shardKey: FieldPath | undefined;
  /** What `create` and `collMod` said: `capped`, `validator`, `collation`, `viewOn`, `timeseries`… */
  readonly options: BsonDocument;
}

export const HOME = 'mongo';

interface CollectionOptions {
  readonly shardKey?: FieldPath | undefined;
  readonly throughput?: ThroughputSetting | undefined;
  /** Kept and shown: what the creator said beside the key. */
  readonly options?: BsonDocument | undefined;
}

/** Undefined where there is none, or where the container of this name belongs to another API. */
export function findCollection(service: Service, namespace: Namespace): Collection | undefined {
  const database = service.databases.find(namespace.database);
  if (database === undefined) return undefined;
  const container = service.containers.find(database, namespace.collection);
  return container?.home === HOME ? collectionOf(namespace, container) : undefined;
}

export function collectionOf(namespace: Namespace, container: ContainerRecord): Collection {
  const { partitionKey } = container;
  const shardKey =
    partitionKey.systemKey === true ? undefined : parsePath(partitionKey.paths[0] as string);
  return {
    namespace,
    container,
    shardKey: shardKey as FieldPath | undefined,
    options: optionsOf(container),
  };
}

/** The policy that has the options, as BSON in base64: they keep their types and the order of their fields. */
const OPTIONS_POLICY = 'mongo';
const NO_OPTIONS: BsonDocument = new Map();
/** Containers never change in place, so that options are read once for each version. */
const KNOWN_OPTIONS = new WeakMap<ContainerRecord, BsonDocument>();

function optionsOf(container: ContainerRecord): BsonDocument {
  const stored = container.policies[OPTIONS_POLICY];
  if (typeof stored !== 'string') return NO_OPTIONS;
  const known = KNOWN_OPTIONS.get(container);
  if (known !== undefined) return known;
  const options = readBson(Buffer.from(stored, 'base64'));
  KNOWN_OPTIONS.set(container, options);
  return options;
}

function policiesOf(options: BsonDocument): ValueMap {
  if (options.size === 0) return {};
  const bytes = writeBson(options);
  if (bytes.length > OPTIONS_BYTES_MAX)
    throw new MongoError(
      options.has('pipeline') ? 'ViewPipelineMaxSizeExceeded' : 'BSONObjectTooLarge',
      `The options of a collection have at most ${OPTIONS_BYTES_MAX} bytes`,
    );
  return { [OPTIONS_POLICY]: Buffer.from(bytes).toString('base64') };
}

/** A record of the catalog has 16 MiB, in base64. */
const OPTIONS_BYTES_MAX = 11 * 1024 * 1024;

/** Replaces the options of a collection. */
export async function changeOptions(
  service: Service,
  { container, namespace }: Collection,
  options: BsonDocument,
): Promise<Collection> {
  const changed = await service.containers.replace(container, {
    indexingPolicy: container.indexingPolicy,
    defaultTtlSec: container.defaultTtlSec,
    versionRetentionSec: container.versionRetentionSec ?? retentionOf(options),
    policies: policiesOf(options),
  });
  return withExpiry(service, collectionOf(namespace, changed));
}

/** The collection as it is once its documents expire as its options say. */
async function withExpiry(service: Service, collection: Collection): Promise<Collection> {
  const { container, namespace } = collection;
  await keepExpiry(service, collection);
  const { databaseRid, rid } = container;
  const current = service.containers.findByRid(databaseRid, rid);
  return current === undefined ? collection : collectionOf(namespace, current);
}

/** Versions are kept for change streams with images before the change. */
function retentionOf(options: BsonDocument): number | undefined {
  const images = options.get('changeStreamPreAndPostImages');
  return isDocument(images) && images.get('enabled') === true ? VERSION_RETENTION_SEC : undefined;
}

/** Keeps all versions from now on, where they are not kept yet: a change stream was opened. */
export async function keepVersions(
  service: Service,
  { container, namespace }: Collection,
): Promise<Collection> {
  if (container.versionRetentionSec !== undefined) return collectionOf(namespace, container);
  const changed = await service.containers.replace(container, {
    indexingPolicy: container.indexingPolicy,
    defaultTtlSec: container.defaultTtlSec,
    versionRetentionSec: VERSION_RETENTION_SEC,
    policies: container.policies,
  });
  return collectionOf(namespace, changed);
}

export function isTimeSeries({ options }: Pick<Collection, 'options'>): boolean {
  return options.has('timeseries');
}

export function isView({ options }: Pick<Collection, 'options'>): boolean {
  return options.has('viewOn');
}

/** Refuses with NamespaceExists. */
export async function createCollection(
  service: Service,
  namespace: Namespace,
  options: CollectionOptions = {},
): Promise<Collection> {
  checkNewName(namespace);
  const database = await ensureDatabase(service, namespace.database);
  const { shardKey } = options;
  try {
    const container = await service.containers.create(database.rid, {
      id: namespace.collection,
      partitionKey:
        shardKey === undefined
          ? undefined
          : { paths: [printPath(shardKey)], kind: 'Hash', version: 2 },
      home: HOME,
      indexingPolicy: indexingPolicy(shardKey),
      uniqueKeys: [],
      policies: policiesOf(options.options ?? NO_OPTIONS),
      versionRetentionSec:
        retentionOf(options.options ?? NO_OPTIONS) ??
        (isWatched(service, database) ? VERSION_RETENTION_SEC : undefined),
      throughput: throughputOf(service, database, options),
    });
    return await withExpiry(service, collectionOf(namespace, container));
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'containerExists') throw error;
    throw new MongoError(
      'NamespaceExists',
      `Collection ${namespaceText(namespace)} already exists.`,
    );
  }
}

/** The property of a database whose new collections keep versions, because a change stream watches all of them. */
const WATCHED = 'mongoWatched';
/** The database whose property holds for the whole server. */
const ADMIN = 'admin';

function isWatched(service: Service, database: DatabaseRecord): boolean {
  if (database.id === ADMIN) return false;
  return (
    database.policies?.[WATCHED] === true ||
    service.databases.find(ADMIN)?.policies?.[WATCHED] === true
  );
}

/** New collections of the database keep versions from now on; in `admin`, those of all databases. */
export async function watchDatabase(service: Service, id: string): Promise<void> {
  const database = await ensureDatabase(service, id);
  if (database.policies?.[WATCHED] === true) return;
  await service.databases.setPolicies(database.rid, { ...database.policies, [WATCHED]: true });
}

/** A sharded collection that was given no throughput gets enough to grow beyond one partition. */
function throughputOf(
  { settings }: Service,
  database: DatabaseRecord,
  { shardKey, throughput }: CollectionOptions,
): ThroughputSetting | undefined {
  if (throughput !== undefined) return throughput;
  const isShared = settings.capacityMode === 'serverless' || database.throughput !== undefined;
  if (isShared || shardKey === undefined) return undefined;
  return { kind: 'manual', requestUnits: settings.unlimitedThroughputMin };
}

/** The collection, made where it does not exist; another client may make it at the same time. */
export async function ensureCollection(
  service: Service,
  namespace: Namespace,
): Promise<Collection> {
  const found = findCollection(service, namespace);
  if (found !== undefined) return found;
  try {
    return await createCollection(service, namespace);
  } catch (error) {
    const made = findCollection(service, namespace);
    if (made === undefined) throw error;
    return made;
  }
}

export async function ensureDatabase(service: Service, id: string): Promise<DatabaseRecord> {
  const found = service.databases.find(id);
  if (found !== undefined) return found;
  checkCase(service, id);
  try {
    return await service.databases.create(id, undefined);
  } catch (error) {
    const made = service.databases.find(id);
    if (made === undefined) throw error;
    return made;
  }
}

/** Databases of this API do not differ in the case of their letters only. */
function checkCase(service: Service, id: string): void {
  const folded = id.toLowerCase();
  for (const other of service.databases.list())
    if (other.id.toLowerCase() === folded && collectionsOf(service, other.id).length > 0)
      throw new MongoError(
        'DatabaseDifferCase',
        `db already exists with different case already have: [${other.id}] trying to create [${id}]`,
      );
}

/** Nothing is indexed unless an index is declared; by `_id` and the shard key a sharded collection is always found. */
function indexingPolicy(shardKey: FieldPath | undefined): IndexingPolicy {
  const included = shardKey === undefined ? [] : [['_id'], shardKey];
  return {
    indexingMode: 'consistent',
    automatic: true,
    includedPaths: included.map((path) => ({ path: `${printPath(path)}/?` })),
    excludedPaths: [{ path: '/*' }, { path: '/"_etag"/?' }],
  };
}

/** The collections of a database, by name. */
export function collectionsOf(service: Service, database: string): readonly Collection[] {
  const record = service.databases.find(database);
  if (record === undefined) return [];
  return service.containers
    .list(record)
    .filter(({ home }) => home === HOME)
    .map((container) => collectionOf({ database, collection: container.id }, container))
    .sort((a, b) => (a.container.id < b.container.id ? -1 : 1));
}
