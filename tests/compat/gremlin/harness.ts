/** A separate account for every test file: the API on a free port, a graph, and stock clients for it. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Container, CosmosClient } from '@azure/cosmos';
import gremlin, { type Client, type ClientOptions, type Traversal } from 'gremlin';
import { createGremlinPort, gremlinHome } from '../../../src/api/gremlin/index.ts';
import { createNosqlHandler, nosqlHome } from '../../../src/api/nosql/index.ts';
import { assert, type Clock, seededRandom, systemClock } from '../../../src/base/index.ts';
import type { ContainerRecord } from '../../../src/catalog/index.ts';
import { asyncEngine } from '../../../src/engine/async-engine.ts';
import type { Engine } from '../../../src/engine/index.ts';
import { memoryEngine } from '../../../src/engine/memory/index.ts';
import { sqliteEngine } from '../../../src/engine/sqlite/index.ts';
import { HttpServer } from '../../../src/http/index.ts';
import {
  DEFAULT_SETTINGS,
  memoryAccessStore,
  type OperationReport,
  openAccessControl,
  openService,
  type Service,
  type Settings,
} from '../../../src/service/index.ts';
import { postgresEngine } from '../postgres-engine.ts';

/** Keys of random bytes, made for these tests. */
export const KEY = Buffer.alloc(64, 'gremlin test key').toString('base64');
export const READONLY_KEY = Buffer.alloc(64, 'gremlin read-only key').toString('base64');

/** `late` responds some turns of the event loop later, as an engine behind a network would. */
export const ENGINES = ['memory', 'sqlite', 'late'] as const;
export type EngineName = (typeof ENGINES)[number];

export const MIMES = {
  graphson2: 'application/vnd.gremlin-v2.0+json',
  graphson3: 'application/vnd.gremlin-v3.0+json',
  graphbinary: 'application/vnd.graphbinary-v1.0',
} as const;

export interface AccountOptions {
  readonly engine?: EngineName;
  readonly settings?: Partial<Settings>;
  readonly clock?: Clock;
  /** Physical partitions of the graph. */
  readonly partitions?: number;
}

export interface Account {
  readonly port: number;
  readonly service: Service;
  /** Failures that are the server's: every test expects none. */
  readonly failures: unknown[];
  readonly reports: OperationReport[];
  readonly refusals: unknown[];
  /** A client of the graph, closed with the account. */
  client(options?: ClientOptions, login?: Partial<Credentials>): Client;
  /** A source of traversals in bytecode. */
  source(mimeType?: string): Traversal;
  /** The graph as a container of the NoSQL API. */
  readonly container: Container;
  close(): Promise<void>;
}

interface Credentials {
  readonly user: string;
  readonly password: string;
}

export const GRAPH_PATH = '/dbs/graphs/colls/people';

export async function startAccount(options: AccountOptions = {}): Promise<Account> {
  const onPostgres = await postgresEngine();
  const { engine, removeData } = onPostgres ?? makeEngine(options.engine ?? 'memory');
  const service = await open(engine, options);
  const access = openAccessControl(
    { keys: { primary: KEY, primaryReadonly: READONLY_KEY } },
    memoryAccessStore(),
    service.clock,
  );
  const failures: unknown[] = [];
  const reports: OperationReport[] = [];
  const refusals: unknown[] = [];
  const { handler, upgrade } = createGremlinPort({
    service,
    access,
    onRequest: (report) => void reports.push(report),
    onFailure: ({ error }) => void failures.push(error),
    onRefusal: (refusal) => void refusals.push(refusal),
  });
  const onUpgradeFailure = (error: unknown): void => void failures.push(error);
  const server = new HttpServer({ upgrade, onUpgradeFailure }, handler);
  const nosql = new HttpServer(
    {},
    createNosqlHandler({
      service,
      access,
      version: 'test',
      onFailure: ({ error }) => void failures.push(error),
    }),
  );
  const [port, nosqlPort] = [await listen(server), await listen(nosql)];
  const cosmos = new CosmosClient({
    endpoint: `http://127.0.0.1:${nosqlPort}/`,
    key: KEY,
    connectionPolicy: { enableBackgroundEndpointRefreshing: false },
  });
  const container = await createGraph(cosmos, service, options.partitions ?? 1);
  const opened: { close(): Promise<void> }[] = [];
  const url = `ws://127.0.0.1:${port}/gremlin`;
  const authenticator = ({
    user = GRAPH_PATH,
    password = KEY,
  }: Partial<Credentials> = {}): unknown =>
    new gremlin.driver.auth.PlainTextSaslAuthenticator(user, password);
  return {
    port,
    service,
    failures,
    reports,
    refusals,
    container,
    client(more = {}, login = {}) {
      const client = new gremlin.driver.Client(url, {
        authenticator: authenticator(login),
        traversalSource: 'g',
        ...more,
      });
      opened.push(client);
      return client;
    },
    source(mimeType = MIMES.graphbinary) {
      const connection = new gremlin.driver.DriverRemoteConnection(url, {
        authenticator: authenticator(),
        mimeType,
      });
      opened.push(connection);
      return gremlin.process.AnonymousTraversalSource.traversal().with_(connection);
    },
    async close() {
      for (const each of opened) await each.close();
      cosmos.dispose();
      for (const each of [server, nosql]) {
        each.closeAllConnections();
        await new Promise((resolve) => each.close(resolve));
      }
      await service.close();
      await engine.close();
      removeData();
    },
  };
}

function open(engine: Engine, { settings, clock = systemClock }: AccountOptions): Promise<Service> {
  return openService({
    engine,
    clock,
    random: seededRandom(1),
    // Only tests of throttling want it.
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report', ...settings },
    homes: [nosqlHome, gremlinHome],
  });
}

/** The container of the graph. */
export function recordOf({ databases, containers }: Service): ContainerRecord {
  const database = databases.find('graphs');
  const container = database && containers.find(database, 'people');
  assert(container !== undefined, 'the graph exists');
  return container;
}

/** A graph with the partition key `pk`, in as many partitions. */
async function createGraph(
  cosmos: CosmosClient,
  service: Service,
  partitions: number,
): Promise<Container> {
  const { database } = await cosmos.databases.create({ id: 'graphs' });
  const { container } = await database.containers.create({
    id: 'people',
    partitionKey: { paths: ['/pk'], version: 2 },
    throughput: 1000,
  });
  for (let count = 1; count < partitions; count++) {
    const [first] = service.containers.routes(recordOf(service));
    assert(first !== undefined, 'a container has partitions');
    await service.resizer.split(recordOf(service), first.partition.id, 'anywhere');
  }
  return container;
}

function makeEngine(name: EngineName): { readonly engine: Engine; removeData(): void } {
  if (name === 'memory') return { engine: memoryEngine(), removeData: () => {} };
  if (name === 'late') return { engine: asyncEngine(memoryEngine()), removeData: () => {} };
  const path = mkdtempSync(join(tmpdir(), 'mesocosm-gremlin-'));
  return {
    engine: sqliteEngine({ directory: path }),
    removeData: () => rmSync(path, { recursive: true, force: true }),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
