/** The servers under test and the load client, each a separate process on the pinned runtime. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadMessage, LoadRequest, LoadResult } from '../load/protocol.ts';
import type { CapturedResponses } from './bare-server.ts';

const READY_MS = 120_000;
/** The kernel's clock ticks, the unit of utime and stime. */
const TICKS_PER_SEC = 100;

export interface BenchServer {
  readonly name: string;
  readonly scheme: 'http' | 'https';
  readonly port: number;
  /** The port of the Table API; ours only. */
  readonly tablePort?: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Any free port for the APIs that are not measured: another server may have the usual ones. */
export const OTHER_PORTS = ['mongo', 'cassandra', 'gremlin', 'portal'].flatMap((api) => [
  `--${api}-port`,
  '0',
]);

/** Our server with the endpoints of its APIs. */
export interface ApiServer extends Pick<BenchServer, 'pid' | 'stop'> {
  readonly endpoints: Readonly<
    Record<'nosql' | 'table' | 'mongo' | 'cassandra' | 'gremlin', string>
  >;
  /** The name that clients of other protocols log in with, and the key. */
  readonly account: string;
  readonly key: string;
}

/** Our server as users start it: built, on SQLite, in `data`. */
export async function startOurs(data: string, more: readonly string[] = []): Promise<BenchServer> {
  const { pid, stop, endpoints } = await startApis(data, more);
  const portOf = (endpoint: string): number => Number(new URL(endpoint).port);
  const [port, tablePort] = [portOf(endpoints.nosql), portOf(endpoints.table)];
  return { name: 'ours', scheme: 'http', port, tablePort, pid, stop };
}

/** The same, with all its APIs. */
export async function startApis(data: string, more: readonly string[] = []): Promise<ApiServer> {
  const folder = mkdtempSync(join(tmpdir(), 'mesocosm-bench-'));
  const readyFile = join(folder, 'ready.json');
  const flags = [
    data.startsWith('postgres://') ? '--engine' : '--data',
    data,
    '--nosql-port',
    '0',
    '--table-port',
    '0',
    ...OTHER_PORTS,
    '--throughput',
    'report',
    '--quiet',
    ...more,
  ];
  const child = spawn(
    process.execPath,
    [here('../../dist/server/main.js'), 'start', ...flags, '--ready-file', readyFile],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const stopBy = Date.now() + READY_MS;
  while (!existsSync(readyFile)) {
    if (child.exitCode !== null || Date.now() > stopBy) throw new Error('our server did not start');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { endpoints, key } = JSON.parse(readFileSync(readyFile, 'utf8')) as Pick<
    ApiServer,
    'endpoints' | 'key'
  >;
  const { pid, stop } = benchServer('ours', child, 0);
  return { pid, stop, endpoints, account: 'localhost', key };
}

export async function startBare(responses: CapturedResponses): Promise<BenchServer> {
  const child = fork(here('./bare-server.ts'));
  child.send(responses);
  return benchServer('bare', child, await portFrom(child));
}

/**
 * The peer as its own command starts it (HTTPS, a new connection for every request), and as fast as it can be had: over
 * plain HTTP with connections kept, an option that only its source knows.
 */
export async function startPeer(mode: 'as shipped' | 'tuned'): Promise<BenchServer> {
  const child = fork(here('./peer-server.ts'), [mode]);
  const server = benchServer(
    mode === 'tuned' ? 'peer tuned' : 'peer',
    child,
    await portFrom(child),
  );
  return { ...server, scheme: mode === 'tuned' ? 'http' : 'https' };
}

function portFrom(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', ({ port }: { port: number }) => resolve(port));
    child.once('exit', (code) => reject(new Error(`server ended with code ${code}`)));
  });
}

function benchServer(name: string, child: ChildProcess, port: number): BenchServer {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    name,
    scheme: 'http',
    port,
    pid: child.pid as number,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export interface Measurement extends LoadResult {
  /** CPU time of all threads of the server, user and system. */
  readonly cpuMs: number;
}

export class LoadClient {
  readonly #child = fork(here('../load/load-client.ts'));

  measure(server: BenchServer, load: Omit<LoadRequest, 'port' | 'scheme'>): Promise<Measurement> {
    return new Promise((resolve, reject) => {
      let beforeMs = 0;
      let cpuMs = 0;
      const onExit = (code: number | null): void => reject(new Error(`load client: code ${code}`));
      const onMessage = (message: LoadMessage): void => {
        if (message.kind === 'started') beforeMs = cpuMsOf(server.pid);
        else if (message.kind === 'stopped') cpuMs = cpuMsOf(server.pid) - beforeMs;
        else {
          this.#child.off('message', onMessage).off('exit', onExit);
          resolve({ ...message, cpuMs });
        }
      };
      this.#child.on('message', onMessage).on('exit', onExit);
      this.#child.send({ ...load, port: server.port, scheme: server.scheme });
    });
  }

  stop(): void {
    this.#child.kill();
  }
}

/** CPU time of a process with all its threads, user and system. */
export function cpuMsOf(pid: number): number {
  // The command name, in brackets, may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SEC;
}
