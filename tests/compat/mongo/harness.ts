/** A separate account for every test file: the protocol on a free port, and stock drivers for it. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CosmosClient } from '@azure/cosmos';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { createMongoProtocol, mongoHome } from '../../../src/api/mongo/index.ts';
import { createNosqlHandler, nosqlHome } from '../../../src/api/nosql/index.ts';
import { type Clock, seededRandom, systemClock } from '../../../src/base/index.ts';
import { asyncEngine } from '../../../src/engine/async-engine.ts';
import type { Engine } from '../../../src/engine/index.ts';
import { memoryEngine } from '../../../src/engine/memory/index.ts';
import { sqliteEngine } from '../../../src/engine/sqlite/index.ts';
import { HttpServer } from '../../../src/http/index.ts';
import { ByteServer, type ConnectionInfo } from '../../../src/net/index.ts';
import {
  DEFAULT_SETTINGS,
  type HomeApi,
  memoryAccessStore,
  type OperationReport,
  openAccessControl,
  openService,
  type Service,
  type Settings,
} from '../../../src/service/index.ts';
import { postgresEngine } from '../postgres-engine.ts';

/** Keys of random bytes, made for these tests. */
export const KEY = Buffer.alloc(64, 'mongo test key').toString('base64');
export const READONLY_KEY = Buffer.alloc(64, 'mongo read-only key').toString('base64');
export const USER = 'localhost';

/** `late` responds some turns of the event loop later, as an engine behind a network would. */
export const ENGINES = ['memory', 'sqlite', 'late'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface AccountOptions {
  readonly engine?: EngineName;
  /** Directory of the sqlite engine, which the account does not remove. */
  readonly directory?: string;
  readonly clock?: Clock;
  readonly settings?: Partial<Settings>;
  readonly retryWaitMs?: number;
  readonly topology?: 'replica-set' | 'standalone' | 'mongos';
  readonly hasTestCommands?: boolean;
  readonly isOpen?: boolean;
  /** Instead of that of this version. */
  readonly home?: HomeApi;
}

export interface Account {
  readonly port: number;
  readonly service: Service;
  /** Failures that are the server's: every test expects none. */
  readonly failures: unknown[];
  readonly reports: OperationReport[];
  readonly refusals: unknown[];
  uri(user?: string, password?: string): string;
  /** A connected driver, closed with the account. */
  connect(options?: MongoClientOptions, password?: string): Promise<MongoClient>;
  /** The NoSQL API over the same service. */
  cosmos(): CosmosClient;
  close(): Promise<void>;
}

export async function startAccount(options: AccountOptions = {}): Promise<Account> {
  const onPostgres = await postgresEngine(options.directory);
  const { engine, removeData } = onPostgres ?? makeEngine(options);
  const service = await openService({
    engine,
    clock: options.clock ?? systemClock,
    random: seededRandom(1),
    // Only tests of throttling want it.
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report', ...options.settings },
    homes: [nosqlHome, options.home ?? mongoHome],
  });
  const access = openAccessControl(
    { keys: { primary: KEY, primaryReadonly: READONLY_KEY } },
    memoryAccessStore(),
    service.clock,
  );
  const failures: unknown[] = [];
  const reports: OperationReport[] = [];
  const refusals: unknown[] = [];
  const onFailure = (error: unknown, info?: ConnectionInfo): void => {
    failures.push({ error, info });
  };
  const protocol = createMongoProtocol({
    service,
    access,
    version: 'test',
    ...protocolOptions(options),
    onRequest: (report) => reports.push(report),
    onFailure: ({ error }) => onFailure(error),
    onRefusal: (refusal) => refusals.push(refusal),
  });
  const server = new ByteServer({ protocol, onFailure });
  const port = await listen(server);
  const nosql = new HttpServer(
    {},
    createNosqlHandler({
      service,
      access,
      version: 'test',
      onFailure: ({ error }) => onFailure(error),
    }),
  );
  const nosqlPort = await listen(nosql);
  const clients: { close(): Promise<void> }[] = [];
  const uri = (user = USER, password = KEY): string =>
    `mongodb://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/?replicaSet=globaldb`;
  return {
    port,
    service,
    failures,
    reports,
    refusals,
    uri,
    async connect(more = {}, password = KEY) {
      const client = new MongoClient(uri(USER, password), {
        serverSelectionTimeoutMS: 5000,
        ...more,
      });
      clients.push(client);
      return client.connect();
    },
    cosmos() {
      const client = new CosmosClient({
        endpoint: `http://127.0.0.1:${nosqlPort}/`,
        key: KEY,
        connectionPolicy: { enableBackgroundEndpointRefreshing: false },
      });
      clients.push({ close: async () => client.dispose() });
      return client;
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
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

function protocolOptions(options: AccountOptions) {
  const { topology = 'replica-set', hasTestCommands = false, isOpen = false } = options;
  const { retryWaitMs } = options;
  const wait = retryWaitMs === undefined ? {} : { retryWaitMs };
  return { topology, hasTestCommands, isOpen, ...wait };
}

function makeEngine({ engine = 'memory', directory }: AccountOptions): {
  readonly engine: Engine;
  removeData(): void;
} {
  if (engine === 'memory') return { engine: memoryEngine(), removeData: () => {} };
  if (engine === 'late') return { engine: asyncEngine(memoryEngine()), removeData: () => {} };
  const path = directory ?? mkdtempSync(join(tmpdir(), 'mesocosm-mongo-'));
  return {
    engine: sqliteEngine({ directory: path }),
    removeData: () => {
      if (directory === undefined) rmSync(path, { recursive: true, force: true });
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
