/** A separate account for every test file: the handler on a free port, and stock clients for it. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CosmosClient,
  type CosmosClientOptions,
  type Plugin,
  PluginOn,
  type RequestContext,
} from '@azure/cosmos';
import {
  createNosqlHandler,
  nosqlHome,
  type RequestRefusal,
} from '../../../src/api/nosql/index.ts';
import { type Clock, seededRandom, systemClock } from '../../../src/base/index.ts';
import type { Engine } from '../../../src/engine/index.ts';
import { memoryEngine } from '../../../src/engine/memory/index.ts';
import { sqliteEngine } from '../../../src/engine/sqlite/index.ts';
import { HttpServer } from '../../../src/http/index.ts';
import {
  type AccessControl,
  type AccessSettings,
  DEFAULT_SETTINGS,
  memoryAccessStore,
  openAccessControl,
  openService,
  type Service,
  type Settings,
} from '../../../src/service/index.ts';
import { postgresEngine } from '../postgres-engine.ts';

/** Two keys of random bytes, made for these tests. */
export const PRIMARY_KEY = Buffer.alloc(64, 'primary test key').toString('base64');
export const READONLY_KEY = Buffer.alloc(64, 'read-only test key').toString('base64');
export const SECONDARY_KEY = Buffer.alloc(64, 'secondary test key').toString('base64');

export type EngineName = 'memory' | 'sqlite';

export interface AccountOptions {
  readonly engine?: EngineName;
  /** Directory of the sqlite engine, which the account does not remove. By default one that is removed with the account. */
  readonly directory?: string;
  readonly clock?: Clock;
  readonly settings?: Partial<Settings>;
  readonly access?: Partial<AccessSettings>;
}

export interface Account {
  readonly endpoint: string;
  readonly port: number;
  readonly service: Service;
  /** Failures that are the server's: every test expects none. */
  readonly failures: unknown[];
  readonly access: AccessControl;
  /** Refusals as the audit log gets them. */
  readonly refusals: RequestRefusal[];
  client(options?: Partial<CosmosClientOptions>): CosmosClient;
  close(): Promise<void>;
}

export async function startAccount(options: AccountOptions = {}): Promise<Account> {
  const onPostgres = await postgresEngine(options.directory);
  const { engine, removeData } = onPostgres ?? makeEngine(options);
  const service = await openService({
    engine,
    clock: options.clock ?? systemClock,
    random: seededRandom(1),
    // A test with its own clock decides when to sweep.
    ...(options.clock === undefined ? {} : { sweepIntervalMs: 0 }),
    // Only tests of throttling want it.
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report', ...options.settings },
    homes: [nosqlHome],
  });
  const failures: unknown[] = [];
  const refusals: RequestRefusal[] = [];
  const access = openAccessControl(
    {
      keys: {
        primary: PRIMARY_KEY,
        secondary: SECONDARY_KEY,
        primaryReadonly: READONLY_KEY,
      },
      ...options.access,
    },
    memoryAccessStore(),
    service.clock,
  );
  const handler = createNosqlHandler({
    service,
    access,
    version: 'test',
    onRefusal: (refusal) => refusals.push(refusal),
    onFailure: ({ error }) => failures.push(error),
  });
  const server = new HttpServer({}, handler);
  const port = await listen(server);
  const endpoint = `http://127.0.0.1:${port}/`;
  const clients: CosmosClient[] = [];
  return {
    endpoint,
    port,
    service,
    failures,
    access,
    refusals,
    client(more = {}) {
      const client = new CosmosClient({
        endpoint,
        key: PRIMARY_KEY,
        connectionPolicy: { enableBackgroundEndpointRefreshing: false },
        ...more,
      });
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) client.dispose();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await service.close();
      await engine.close();
      removeData();
    },
  };
}

/** Options of a client that shows, or lets a test change, every request before it is sent. */
export function onEachRequest(
  look: (context: RequestContext) => void,
): Partial<CosmosClientOptions> {
  const plugin: Plugin<unknown> = (context, _node, next) => {
    look(context);
    return next(context);
  };
  // The option exists, yet only the SDK's own types know it.
  return { plugins: [{ on: PluginOn.request, plugin }] } as Partial<CosmosClientOptions>;
}

/** A folder for the data of a test; the caller removes it. */
export function makeDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'mesocosm-nosql-'));
}

function makeEngine(options: AccountOptions): { engine: Engine; removeData: () => void } {
  if (options.engine !== 'sqlite') return { engine: memoryEngine(), removeData: () => undefined };
  if (options.directory !== undefined)
    return { engine: sqliteEngine({ directory: options.directory }), removeData: () => undefined };
  const directory = makeDirectory();
  return {
    engine: sqliteEngine({ directory }),
    removeData: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
