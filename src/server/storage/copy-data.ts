/** `mesocosm copy-data`: all data, keys and certificates, from a data directory to PostgreSQL or back. No server runs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Engine } from '../../engine/index.ts';
import {
  checkReplicaSet,
  openPostgresEngine,
  type PostgresAddress,
  parsePostgresAddress,
  StartRefusal,
} from '../../engine/postgres/index.ts';
import { sqliteEngine } from '../../engine/sqlite/index.ts';
import { accessFileIn } from '../access-file.ts';
import { openDataDirectory } from '../data-directory.ts';
import { errorText } from '../error-text.ts';
import { ExitError } from '../exit-error.ts';
import { maskNewFiles } from '../private-files.ts';
import { tlsFilesIn } from '../tls/index.ts';
import { type CopyProgress, copyStores } from './copy-stores.ts';
import { savedQueriesIn } from './saved-queries-file.ts';
import {
  ACCESS_KEY,
  SAVED_QUERIES_KEY,
  ServerStore,
  SHARED_TLS_FILES,
  tlsKey,
} from './server-store.ts';

export const COPY_HELP = `Usage: mesocosm copy-data --from DIR|URL --to DIR|URL

Copies an account from a data directory to PostgreSQL, or back: databases, items, keys, certificates. Stop the server
first. The target must be empty. Every store is read again afterwards and compared, by count and checksum.

  --from DIR|URL    a data directory, or postgres://USER@HOST,…/DB; the password may be in PGPASSWORD
  --to DIR|URL      the same
  --quiet           print the result only
`;

const PROGRESS_MS = 500;

/** One side of the copy. */
interface Side {
  readonly engine: Engine;
  readonly where: string;
  /** Keys and certificates, by name of their entry in the server's store. */
  readSettings(): Promise<ReadonlyMap<string, string>>;
  writeSettings(settings: ReadonlyMap<string, string>): Promise<void>;
  close(): Promise<void>;
}

export async function copyData(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const { from, to, quiet, help } = parse(args);
  if (help) {
    process.stdout.write(COPY_HELP);
    return 0;
  }
  if (from === undefined || to === undefined)
    throw new ExitError(2, 'give --from and --to. See mesocosm copy-data --help.');
  maskNewFiles();
  const source = await openSide(from, '--from', environment, true);
  try {
    const target = await openSide(to, '--to', environment, false);
    try {
      const startedMs = performance.now();
      const done = await copyStores(source.engine, target.engine, printer(quiet));
      await target.writeSettings(await source.readSettings());
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      process.stdout.write(
        `copied and verified ${done.stores} stores, ${done.entries} entries, ${megabytes(done)} MB from ${source.where} to ${target.where} in ${seconds} s\n`,
      );
      return 0;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  try {
    const options = { from: text, to: text, quiet: flag, help: flag };
    return parseArgs({ args: [...args], options, allowPositionals: false }).values;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(/\.\s/)[0] : String(error);
    throw new ExitError(2, `${reason}. See mesocosm copy-data --help.`);
  }
}

function printer(quiet: boolean): (progress: CopyProgress) => void {
  let printedMs = 0;
  return (progress) => {
    const nowMs = performance.now();
    if (quiet || nowMs - printedMs < PROGRESS_MS) return;
    printedMs = nowMs;
    const { stores, storesTotal, entries, step } = progress;
    process.stderr.write(
      `${step}: ${stores} of ${storesTotal} stores, ${entries} entries, ${megabytes(progress)} MB\n`,
    );
  };
}

function megabytes({ bytes }: { readonly bytes: number }): string {
  return (bytes / 1e6).toFixed(1);
}

async function openSide(
  text: string,
  flag: string,
  environment: Readonly<Record<string, string | undefined>>,
  mustExist: boolean,
): Promise<Side> {
  if (!/^postgres(ql)?:\/\//.test(text)) return openDirectory(text, flag, mustExist);
  const address = parsePostgresAddress(text, environment.PGPASSWORD);
  if (typeof address === 'string') throw new ExitError(2, `${flag}: allowed is ${address}.`);
  return openPostgresSide(address, flag, mustExist);
}

function openDirectory(path: string, flag: string, mustExist: boolean): Side {
  if (mustExist && !existsSync(join(path, 'format.json')))
    throw new ExitError(1, `${flag} ${path} is no data directory.`);
  const directory = openDataDirectory(path);
  const engine = sqliteEngine({ directory: directory.storesPath });
  const access = accessFileIn(path);
  const tls = join(path, 'tls');
  return {
    engine,
    where: path,
    async readSettings() {
      const settings = new Map<string, string>();
      const state = access.read();
      if (state !== undefined) settings.set(ACCESS_KEY, JSON.stringify(state));
      const saved = savedQueriesIn(path).read();
      if (saved !== undefined) settings.set(SAVED_QUERIES_KEY, saved);
      if (!existsSync(tls)) return settings;
      const files = tlsFilesIn(tls);
      for (const name of SHARED_TLS_FILES) {
        const pem = files.read(name);
        if (pem !== undefined) settings.set(tlsKey(name), pem);
      }
      return settings;
    },
    async writeSettings(settings) {
      const state = settings.get(ACCESS_KEY);
      if (state !== undefined) await access.write(JSON.parse(state));
      const saved = settings.get(SAVED_QUERIES_KEY);
      if (saved !== undefined) await savedQueriesIn(path).write(saved);
      for (const name of SHARED_TLS_FILES) {
        const pem = settings.get(tlsKey(name));
        if (pem !== undefined) tlsFilesIn(tls).write(name, pem);
      }
    },
    async close() {
      await engine.close();
      directory.release();
    },
  };
}

async function openPostgresSide(
  address: PostgresAddress,
  flag: string,
  mustExist: boolean,
): Promise<Side> {
  try {
    await checkReplicaSet({ address, replicas: 'any', takesOver: false, mustExist });
    const engine = await openPostgresEngine({ address, checksQuorum: false });
    const store = await ServerStore.open(engine);
    return {
      engine,
      where: address.text,
      readSettings: async () => store.entries(),
      async writeSettings(settings) {
        for (const [name, text] of settings) await store.write(name, text);
      },
      async close() {
        await store.close();
        await engine.close();
      },
    };
  } catch (error) {
    const reason = error instanceof StartRefusal ? error.message : errorText(error);
    throw new ExitError(1, `cannot use ${address.text} (${flag}): ${reason}`);
  }
}
