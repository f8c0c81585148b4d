/** A separate account for every test file: the handler on a free port, and stock clients for it in both modes. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  AzureNamedKeyCredential,
  TableClient,
  TableServiceClient,
  type TableServiceClientOptions,
} from '@azure/data-tables';
import { createNosqlHandler, nosqlHome } from '../../../src/api/nosql/index.ts';
import { createTableHandler, SharedKeys, tableHome } from '../../../src/api/table/index.ts';
import { type Clock, seededRandom, systemClock } from '../../../src/base/index.ts';
import { memoryEngine } from '../../../src/engine/memory/index.ts';
import { HttpServer } from '../../../src/http/index.ts';
import {
  DEFAULT_SETTINGS,
  memoryAccessStore,
  openAccessControl,
  openService,
  type Service,
  type Settings,
} from '../../../src/service/index.ts';
import { postgresEngine } from '../postgres-engine.ts';

export const ACCOUNT = 'devstoreaccount1';
/** Random bytes, made for these tests. */
export const KEY = Buffer.alloc(64, 'table test key').toString('base64');

/** How the stock client talks: by what its endpoint looks like. */
export const MODES = ['storage', 'cosmos'] as const;
export type Mode = (typeof MODES)[number];

export interface AccountOptions {
  readonly clock?: Clock;
  readonly settings?: Partial<Settings>;
  readonly retryWaitMs?: number;
}

export interface Account {
  readonly port: number;
  /** The endpoint of the NoSQL API over the same service. */
  readonly nosqlEndpoint: string;
  readonly service: Service;
  /** Failures that are the server's: every test expects none. */
  readonly failures: unknown[];
  endpoint(mode: Mode): string;
  tables(mode: Mode, options?: TableServiceClientOptions): TableServiceClient;
  table(mode: Mode, name: string, options?: TableServiceClientOptions): TableClient;
  close(): Promise<void>;
}

export async function startAccount(options: AccountOptions = {}): Promise<Account> {
  const engine = (await postgresEngine())?.engine ?? memoryEngine();
  const service = await openService({
    engine,
    clock: options.clock ?? systemClock,
    random: seededRandom(1),
    // Only tests of throttling want it.
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report', ...options.settings },
    homes: [nosqlHome, tableHome],
  });
  const failures: unknown[] = [];
  const onFailure = ({ error }: { readonly error: unknown }): void => {
    failures.push(error);
  };
  const { retryWaitMs } = options;
  const keys = new SharedKeys([KEY]);
  const access = openAccessControl({ keys: { primary: KEY } }, memoryAccessStore(), service.clock);
  const servers = [
    new HttpServer({}, createTableHandler({ service, keys, retryWaitMs, onFailure })),
    new HttpServer({}, createNosqlHandler({ service, access, version: 'test', onFailure })),
  ] as const;
  const port = await listen(servers[0]);
  const nosqlPort = await listen(servers[1]);
  const credential = new AzureNamedKeyCredential(ACCOUNT, KEY);
  const endpoint = (mode: Mode): string =>
    mode === 'storage' ? `http://127.0.0.1:${port}/${ACCOUNT}` : `http://localhost:${port}`;
  const common = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  return {
    port,
    nosqlEndpoint: `http://127.0.0.1:${nosqlPort}/`,
    service,
    failures,
    endpoint,
    tables: (mode, more = {}) =>
      new TableServiceClient(endpoint(mode), credential, { ...common, ...more }),
    table: (mode, name, more = {}) =>
      new TableClient(endpoint(mode), name, credential, { ...common, ...more }),
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      await service.close();
      await engine.close();
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
