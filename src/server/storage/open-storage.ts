/** Opens the storage that the configuration names. Only this folder knows the engines. */
import { type Engine, type EngineReport, FormatError } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import {
  checkReplicaSet,
  openPostgresEngine,
  type StartFindings,
  StartRefusal,
} from '../../engine/postgres/index.ts';
import { sqliteEngine } from '../../engine/sqlite/index.ts';
import { type AccessStore, memoryAccessStore, type RoleSettings } from '../../service/index.ts';
import { accessFileIn } from '../access-file.ts';
import type { ServerConfig } from '../config.ts';
import { openDataDirectory } from '../data-directory.ts';
import { errorText } from '../error-text.ts';
import { ExitError } from '../exit-error.ts';
import type { Log } from '../log.ts';
import { parseRoles, readRolesFile, readRolesText } from '../roles-file.ts';
import type { TlsFiles } from '../tls/index.ts';
import { memoryText, savedQueriesIn, type TextStore } from './saved-queries-file.ts';
import { ROLES_KEY, SAVED_QUERIES_KEY, ServerStore } from './server-store.ts';
import type { StorageConfig } from './storage-config.ts';

export interface Storage {
  readonly engine: Engine;
  readonly access: AccessStore;
  readonly roles: RoleSettings | undefined;
  /** Where certificates are kept, if not in a folder of the data directory. */
  readonly tlsFiles: TlsFiles | undefined;
  /** The queries that people saved. */
  readonly savedQueries: TextStore;
  /** Where it is, for messages. */
  readonly where: string;
  /** Engine, replicas and quorum, now. */
  report(): EngineReport;
  /** Resolves when keys and certificates that were made at the start are durable. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface StorageEnvironment {
  readonly log: Log;
  /** Called when another node has taken the data over. */
  readonly onTakenOver: () => void;
}

type PostgresConfig = Extract<StorageConfig, { readonly kind: 'postgres' }>;

/** Throws ExitError. */
export async function openStorage(
  { storage, access: { rolesFile } }: ServerConfig,
  environment: StorageEnvironment,
): Promise<Storage> {
  if (storage.kind === 'postgres') return openPostgres(storage, rolesFile, environment);
  const roles = rolesFile === undefined ? undefined : readRolesFile(rolesFile);
  if (storage.kind === 'memory') {
    const engine = memoryEngine();
    return {
      engine,
      roles,
      access: memoryAccessStore(),
      tlsFiles: undefined,
      savedQueries: memoryText(),
      where: 'memory',
      report: () => localReport('memory'),
      flush: async () => undefined,
      close: () => engine.close(),
    };
  }
  const directory = openDataDirectory(storage.path);
  const engine = sqliteEngine({ directory: directory.storesPath });
  return {
    engine,
    roles,
    access: accessFileIn(storage.path),
    tlsFiles: undefined,
    savedQueries: savedQueriesIn(storage.path),
    where: storage.path,
    report: () => localReport('sqlite'),
    flush: async () => undefined,
    async close() {
      await engine.close();
      directory.release();
    },
  };
}

/** One copy, in this process: it is the quorum. */
function localReport(engine: string): EngineReport {
  return {
    engine,
    instance: 'local',
    replicas: [{ name: 'local', role: 'primary', state: 'online', lagMs: 0 }],
    quorum: { needed: 1, healthy: 1 },
  };
}

async function openPostgres(
  config: PostgresConfig,
  rolesFile: string | undefined,
  { log, onTakenOver }: StorageEnvironment,
): Promise<Storage> {
  const { address, replicas } = config;
  const rolesText = rolesFile === undefined ? undefined : readRolesText(rolesFile);
  try {
    announce(await checkReplicaSet(config), log);
    const engine = await openPostgresEngine({
      address,
      checksQuorum: replicas === 'quorum',
      onFenced: onTakenOver,
    });
    const store = await ServerStore.open(engine);
    if (rolesText !== undefined && rolesText !== store.read(ROLES_KEY)) {
      parseRoles(rolesFile as string, rolesText);
      await store.write(ROLES_KEY, rolesText);
    }
    const stored = store.read(ROLES_KEY);
    return {
      engine,
      roles: stored === undefined ? undefined : parseRoles(rolesFile ?? 'the stored roles', stored),
      access: await store.accessStore(),
      tlsFiles: store.tlsFiles(),
      savedQueries: {
        read: () => store.read(SAVED_QUERIES_KEY),
        write: (text) => store.write(SAVED_QUERIES_KEY, text),
      },
      where: address.text,
      report: () => engine.report(),
      flush: () => store.flush(),
      async close() {
        await store.close();
        await engine.close();
      },
    };
  } catch (error) {
    if (error instanceof ExitError) throw error;
    const isKnown = error instanceof StartRefusal || error instanceof FormatError;
    const reason = isKnown ? error.message : errorText(error);
    throw new ExitError(1, `cannot use ${address.text} (--engine): ${reason}`);
  }
}

function announce({ warnings, ...findings }: StartFindings, log: Log): void {
  log.info('replicaSet', { ...findings, standbys: findings.standbys.join(' ') });
  for (const warning of warnings) log.error('fewerReplicas', { warning });
}
