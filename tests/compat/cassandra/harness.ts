/** A server of its own for every test file: this API and the NoSQL API over one service, and stock clients for both. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CosmosClient } from '@azure/cosmos';
import cassandra, { type Client, type ClientOptions } from 'cassandra-driver';
import { cassandraHome, createCassandraProtocol } from '../../../src/api/cassandra/index.ts';
import { createNosqlHandler, nosqlHome } from '../../../src/api/nosql/index.ts';
import { type Clock, seededRandom, systemClock } from '../../../src/base/index.ts';
import { asyncEngine } from '../../../src/engine/async-engine.ts';
import type { Engine } from '../../../src/engine/index.ts';
import { memoryEngine } from '../../../src/engine/memory/index.ts';
import { sqliteEngine } from '../../../src/engine/sqlite/index.ts';
import { HttpServer } from '../../../src/http/index.ts';
import { ByteServer } from '../../../src/net/index.ts';
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

export const ACCOUNT = 'localhost';
/** Random bytes, made for these tests. */
export const KEY = Buffer.alloc(64, 'cassandra test key').toString('base64');
export const READ_KEY = Buffer.alloc(64, 'a key for reading').toString('base64');

/** The engines that every behaviour is shown on: in memory, on disk, and one that answers late. */
export const ENGINES = ['memory', 'sqlite', 'async'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface ServerOptions {
  readonly engine?: EngineName;
  readonly clock?: Clock;
  readonly settings?: Partial<Settings>;
  readonly loginMode?: 'keys' | 'cassandra' | 'none';
  readonly retryWaitMs?: number;
}

export interface TestServer {
  readonly port: number;
  readonly service: Service;
  /** Failures that are the server's: every test expects none. */
  readonly failures: unknown[];
  readonly reports: OperationReport[];
  /** A stock client, which the server shuts down. */
  connect(options?: Partial<ClientOptions>): Promise<Client>;
  /** A client of another server over the same data, which knows nothing of what this one is doing. */
  connectAnother(): Promise<Client>;
  cosmos(): CosmosClient;
  close(): Promise<void>;
}

export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const onPostgres = await postgresEngine();
  const { engine, discard } = onPostgres
    ? { engine: onPostgres.engine, discard: onPostgres.removeData }
    : openEngine(options.engine ?? 'memory');
  const clock = options.clock ?? systemClock;
  const service = await openService({
    engine,
    clock,
    random: seededRandom(1),
    // Only tests of throttling want it.
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report', ...options.settings },
    homes: [nosqlHome, cassandraHome(clock)],
  });
  const keys = { primary: KEY, primaryReadonly: READ_KEY };
  const access = openAccessControl({ keys }, memoryAccessStore(), clock);
  const failures: unknown[] = [];
  const reports: OperationReport[] = [];
  const onFailure = ({ error }: { readonly error: unknown }): void => {
    failures.push(error);
  };
  const newServer = () =>
    new ByteServer({
      protocol: createCassandraProtocol({
        service,
        access,
        loginMode: options.loginMode ?? 'keys',
        retryWaitMs: options.retryWaitMs ?? 0,
        onRequest: (report) => void reports.push(report),
        onFailure,
      }),
      onFailure: (error) => void failures.push(error),
    });
  const server = newServer();
  const nosql = new HttpServer(
    {},
    createNosqlHandler({ service, access, version: 'test', onFailure }),
  );
  const port = await listen(server);
  const nosqlPort = await listen(nosql);
  const servers = [server, nosql];
  const clients: Client[] = [];
  const connectTo = async (at: number, more: Partial<ClientOptions>): Promise<Client> => {
    const client = new cassandra.Client({
      contactPoints: [`127.0.0.1:${at}`],
      localDataCenter: 'datacenter1',
      credentials: { username: ACCOUNT, password: KEY },
      ...more,
    });
    clients.push(client);
    await client.connect();
    return client;
  };
  return {
    port,
    service,
    failures,
    reports,
    connect: (more = {}) => connectTo(port, more),
    async connectAnother() {
      const another = newServer();
      servers.push(another);
      return connectTo(await listen(another), {});
    },
    cosmos: () => new CosmosClient({ endpoint: `http://127.0.0.1:${nosqlPort}/`, key: KEY }),
    async close() {
      for (const client of clients) await client.shutdown();
      for (const one of servers) {
        one.closeAllConnections();
        await new Promise((resolve) => one.close(resolve));
      }
      await service.close();
      await engine.close();
      discard();
    },
  };
}

function openEngine(name: EngineName): { engine: Engine; discard(): void } {
  if (name === 'memory') return { engine: memoryEngine(), discard() {} };
  if (name === 'async') return { engine: asyncEngine(memoryEngine()), discard() {} };
  const directory = mkdtempSync(join(tmpdir(), 'mesocosm-cassandra-'));
  return {
    engine: sqliteEngine({ directory }),
    discard: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
