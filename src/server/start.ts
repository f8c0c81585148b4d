/** `mesocosm start`: from flags to a server that is ready, and stopped again on a signal. */
import { boundRegularExpressions, systemClock } from '../base/index.ts';
import { rotatedKeysIn } from './access-file.ts';
import { type ComposedServer, compose } from './compose.ts';
import { API_NAMES, type ApiName, parseConfig, type ServerConfig } from './config.ts';
import { startHelp } from './flags.ts';
import { surviveFailures } from './last-resort.ts';
import { stopOnSignals } from './listen/index.ts';
import { createLog, type Log } from './log.ts';
import { maskNewFiles } from './private-files.ts';
import { removeReadyFile, writeReadyFile } from './ready-file.ts';
import { printStartTable } from './start-table.ts';
import { programVersion } from './version.ts';

/** A service manager must not start this node again by itself: it would take the data back. */
const TAKEN_OVER = 3;

/** Returns an exit code, or undefined when the server runs. Throws ExitError. */
export async function start(args: readonly string[]): Promise<number | undefined> {
  const config = parseConfig(args, process.env, rotatedKeysIn);
  if (config === 'help') {
    process.stdout.write(startHelp());
    return 0;
  }
  boundRegularExpressions();
  maskNewFiles();
  const version = programVersion();
  const log = createLog({
    format: config.log,
    isQuiet: config.isQuiet,
    clock: systemClock,
    write: (line) => process.stderr.write(line),
  });
  const { readyFile } = config;
  if (readyFile !== undefined) removeReadyFile(readyFile);
  const server = await compose(config, {
    version,
    clock: systemClock,
    log,
    onTakenOver: () => {
      log.error('takenOver', {
        reason: 'another node has taken over the data; this one can no longer write and ends',
      });
      if (readyFile !== undefined) removeReadyFile(readyFile);
      process.exit(TAKEN_OVER);
    },
  });
  surviveFailures(process, log);
  stopOnSignals({
    listeners: server.listeners,
    close: () => server.close(),
    onStopping: (signal) => {
      if (readyFile !== undefined) removeReadyFile(readyFile);
      server.stopping();
      log.info('stopping', { signal });
    },
    exit: (code) => {
      log.info('stopped', { code });
      process.exit(code);
    },
  });
  if (readyFile !== undefined)
    writeReadyFile(readyFile, {
      pid: process.pid,
      endpoints: readyEndpoints(server.endpoints),
      key: server.key,
    });
  announce(config, server, log, version);
  return undefined;
}

function readyEndpoints(
  endpoints: Readonly<Partial<Record<ApiName, string>>>,
): Readonly<Record<ApiName, string | null>> {
  const all = API_NAMES.map((api): [ApiName, string | null] => [api, endpoints[api] ?? null]);
  return Object.fromEntries(all) as Record<ApiName, string | null>;
}

function describe(storage: ServerConfig['storage']): string {
  if (storage.kind === 'memory') return 'in memory, nothing is kept';
  return storage.kind === 'directory' ? storage.path : storage.address.text;
}

function announce(
  config: ServerConfig,
  { endpoints, key }: ComposedServer,
  log: Log,
  version: string,
): void {
  const { storage, ports } = config;
  const isTerminal = process.stdout.isTTY === true;
  const readyMs = Math.round(performance.now());
  const data = describe(storage);
  if (config.log === 'json') {
    log.info('ready', { version, pid: process.pid, data, readyMs, ...endpoints });
    return;
  }
  if (config.isQuiet) return;
  process.stdout.write(
    `mesocosm ${version}, data ${data}, ready in ${readyMs} ms\n\n${printStartTable({ endpoints, ports, key: isTerminal ? key : undefined })}\n`,
  );
}
