/** How the containers of each API are made: in its own words, through its own door. */
import { ApiError, nosql, post } from '../lib/api.ts';
import { run } from '../lib/run.ts';
import type { ApiId } from '../lib/types.ts';

export type Mode = 'manual' | 'autoscale' | 'shared';

interface NewContainerSpec {
  readonly db: string;
  readonly id: string;
  /** Paths or names of the partition key, without empty ones. */
  readonly key: readonly string[];
  readonly mode: Mode;
  readonly throughput: number;
  /** True where the database does not exist yet. */
  readonly isNewDatabase: boolean;
}

interface ContainerKind {
  readonly api: ApiId;
  /** What the API calls it. */
  readonly name: string;
  /** What it calls a part of the partition key; undefined where the key is fixed. */
  readonly keyLabel: string | undefined;
  readonly keyExample: string;
  readonly levelsMax: number;
  /** Where it cannot be chosen, the database. */
  readonly db?: string;
  readonly hint: string;
  create(spec: NewContainerSpec): Promise<void>;
}

export const CONTAINER_KINDS: readonly ContainerKind[] = [
  {
    api: 'nosql',
    name: 'container',
    keyLabel: 'Path',
    keyExample: '/customer',
    levelsMax: 3,
    hint: 'Many values, evenly used, and named by your common queries. It cannot be changed later.',
    create: createContainer,
  },
  {
    api: 'mongo',
    name: 'collection',
    keyLabel: 'Shard key',
    keyExample: 'customer',
    levelsMax: 1,
    hint: 'A field of every document, with many values that are evenly used. Without one there is one partition.',
    create: createCollection,
  },
  {
    api: 'cassandra',
    name: 'table',
    keyLabel: 'Partition column',
    keyExample: 'device',
    levelsMax: 3,
    hint: 'Columns of type text that are the partition key; other columns are added with ALTER TABLE.',
    create: createCqlTable,
  },
  {
    api: 'gremlin',
    name: 'graph',
    keyLabel: 'Path',
    keyExample: '/city',
    levelsMax: 1,
    hint: 'A property of every vertex; an edge lies with the vertex that it leaves.',
    create: createGraph,
  },
  {
    api: 'table',
    name: 'table',
    keyLabel: undefined,
    keyExample: '',
    levelsMax: 0,
    db: 'TablesDB',
    hint: 'The partition key of tables is PartitionKey.',
    create: createTable,
  },
];

export function containerKind(api: ApiId): ContainerKind {
  const kind = CONTAINER_KINDS.find((known) => known.api === api);
  if (kind === undefined) throw new Error(`no containers of ${api}`);
  return kind;
}

async function createContainer(spec: NewContainerSpec): Promise<void> {
  const { db, id, key } = spec;
  await makeDatabase(spec);
  const partitionKey = { paths: key, kind: key.length > 1 ? 'MultiHash' : 'Hash', version: 2 };
  await nosql(['dbs', db, 'colls'], {
    method: 'POST',
    headers: offerHeaders(spec),
    body: JSON.stringify({ id, ...(key.length > 0 && { partitionKey }) }),
  });
}

async function makeDatabase({ db, isNewDatabase }: NewContainerSpec): Promise<void> {
  if (!isNewDatabase) return;
  try {
    await nosql(['dbs'], { method: 'POST', body: JSON.stringify({ id: db }) });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  }
}

function offerHeaders({ mode, throughput }: NewContainerSpec): Readonly<Record<string, string>> {
  if (mode === 'manual') return { 'x-ms-offer-throughput': String(throughput) };
  if (mode === 'shared') return {};
  return {
    'x-ms-cosmos-offer-autopilot-settings': JSON.stringify({ maxThroughput: throughput }),
  };
}

async function createCollection(spec: NewContainerSpec): Promise<void> {
  const { db, id, key, mode, throughput } = spec;
  const command = {
    customAction: 'CreateCollection',
    collection: id,
    ...(mode === 'manual' && { offerThroughput: throughput }),
    ...(mode === 'autoscale' && { autoScaleSettings: { maxThroughput: throughput } }),
    ...(key[0] !== undefined && { shardKey: key[0].replace(/^\//, '') }),
  };
  await runIn('mongo', db, id, `db.runCommand(${JSON.stringify(command)})`);
}

const REPLICATION = "{'class': 'SimpleStrategy', 'replication_factor': 1}";

async function createCqlTable(spec: NewContainerSpec): Promise<void> {
  const { db, id, key, mode, throughput } = spec;
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const names = key.map((name) => quoted(name.replace(/^\//, '')));
  const option =
    mode === 'shared'
      ? ''
      : ` WITH ${mode === 'manual' ? 'cosmosdb_provisioned_throughput' : 'cosmosdb_autoscale_max_throughput'}=${throughput}`;
  await runIn(
    'cassandra',
    'system',
    'local',
    `CREATE KEYSPACE IF NOT EXISTS ${quoted(db)} WITH replication = ${REPLICATION}`,
  );
  const columns = names.map((name) => `${name} text`).join(', ');
  await runIn(
    'cassandra',
    db,
    id,
    `CREATE TABLE ${quoted(db)}.${quoted(id)} (${columns}, PRIMARY KEY ((${names.join(', ')})))${option}`,
  );
}

async function createGraph(spec: NewContainerSpec): Promise<void> {
  const { db, id, key, mode, throughput } = spec;
  await makeDatabase(spec);
  await post('graphs', {
    db,
    graph: id,
    ...(key[0] !== undefined && { partitionKey: key[0] }),
    ...(mode === 'manual' && { throughput }),
    ...(mode === 'autoscale' && { autoscaleMax: throughput }),
  });
}

async function createTable({ id, mode, throughput }: NewContainerSpec): Promise<void> {
  await post('tables', {
    table: id,
    ...(mode === 'manual' && { throughput }),
    ...(mode === 'autoscale' && { autoscaleMax: throughput }),
  });
}

/** What an API refuses is part of the answer. */
async function runIn(api: ApiId, db: string, container: string, text: string): Promise<void> {
  const { error } = await run({ api, db, container, text }).result;
  if (error !== undefined) throw new ApiError(400, error.code, error.message, error.activityId);
}
