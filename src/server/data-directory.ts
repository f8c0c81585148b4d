/**
 * The directory that holds everything: one server at a time, one format version.
 *
 *   DATA/format.json    {"product":"mesocosm","format":1}
 *   DATA/lock.sqlite    locked exclusively for as long as a server uses the directory
 *   DATA/server.pid     who holds the lock, only for messages
 *   DATA/stores/        the engine's files
 *   DATA/access.json    the server's secret, rotated keys (see access-file.ts)
 *   DATA/tls/           certificates (see tls/README.md)
 *
 * The lock is SQLite's own, held by an open transaction: the operating system releases it whenever the process ends,
 * so there is no stale lock to take over and no race in doing so. Folders have the mode 0700 and files 0600.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ExitError } from './exit-error.ts';
import { makePrivate } from './private-files.ts';
import { writeFileAtomically } from './write-file.ts';

const FORMAT_VERSION = 1;
const FORMATS_UNDERSTOOD: readonly number[] = [FORMAT_VERSION];
const FORMAT_FILE = 'format.json';
const LOCK_FILE = 'lock.sqlite';
const PID_FILE = 'server.pid';

interface DataDirectory {
  /** The folder of the engine's stores. */
  readonly storesPath: string;
  /** Releases the lock. Idempotent. */
  release(): void;
}

/** Creates the directory where there is none, and locks it. Throws ExitError 1. */
export function openDataDirectory(data: string): DataDirectory {
  const path = resolve(data);
  const isNew = prepare(path);
  const lock = acquireLock(path);
  try {
    if (isNew && readFormat(path) === undefined)
      writeFileAtomically(
        join(path, FORMAT_FILE),
        `${JSON.stringify({ product: 'mesocosm', format: FORMAT_VERSION })}\n`,
      );
    else checkFormat(path, readFormat(path));
    const storesPath = join(path, 'stores');
    mkdirSync(storesPath, { recursive: true, mode: 0o700 });
    closeToOthers(path);
    return { storesPath, release: () => release(path, lock) };
  } catch (error) {
    release(path, lock);
    throw unusable(path, error);
  }
}

/** True for an empty directory, which becomes ours. One with foreign files is refused: it was surely named by mistake. */
function prepare(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const names = readdirSync(path).filter((name) => !isOurs(name));
    if (names.includes(FORMAT_FILE)) return false;
    if (names.length === 0) return true;
  } catch (error) {
    throw unusable(path, error);
  }
  throw new ExitError(
    1,
    `${path} is not empty and holds no mesocosm data. Give an empty or new directory with --data.`,
  );
}

/** Entries of a directory whose creation was interrupted, or of the root of a file system. */
function isOurs(name: string): boolean {
  return (
    name.startsWith(LOCK_FILE) ||
    name === PID_FILE ||
    name.endsWith('.tmp') ||
    name.startsWith('.') ||
    name === 'lost+found'
  );
}

function acquireLock(path: string): DatabaseSync {
  let lock: DatabaseSync;
  try {
    lock = new DatabaseSync(join(path, LOCK_FILE), { timeout: 0 });
  } catch (error) {
    throw unusable(path, error);
  }
  try {
    lock.exec('BEGIN EXCLUSIVE');
    writeFileSync(join(path, PID_FILE), `${process.pid}\n`, { mode: 0o600 });
    return lock;
  } catch (error) {
    lock.close();
    if (isBusy(error)) throw inUse(path);
    throw unusable(path, error);
  }
}

/** Makes the directory and our entries in it private; the root of a file system has folders that are not ours. */
function closeToOthers(path: string): void {
  makePrivate(path, (name) => !name.startsWith('.') && name !== 'lost+found');
}

function release(path: string, lock: DatabaseSync): void {
  if (!lock.isOpen) return;
  rmSync(join(path, PID_FILE), { force: true });
  lock.close();
}

function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5;
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

function inUse(path: string): ExitError {
  return new ExitError(
    1,
    `${path} is in use by ${holder(path)}. Stop that server, or give another directory with --data.`,
  );
}

function holder(path: string): string {
  try {
    const pid = readFileSync(join(path, PID_FILE), 'utf8').trim();
    if (/^\d+$/.test(pid)) return `process ${pid}`;
  } catch {
    // The holder has not written its pid file yet, or runs as another user.
  }
  return 'another process';
}

function readFormat(path: string): string | undefined {
  try {
    return readFileSync(join(path, FORMAT_FILE), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function checkFormat(path: string, text: string | undefined): void {
  const understood = FORMATS_UNDERSTOOD.join(', ');
  const found = parseFormat(text ?? '');
  if (found === undefined)
    throw new ExitError(
      1,
      `${join(path, FORMAT_FILE)} is not readable as a format version; understood: ${understood}. Restore the file from a copy, or give another directory with --data.`,
    );
  if (!FORMATS_UNDERSTOOD.includes(found))
    throw new ExitError(
      1,
      `${path} has data format version ${found}; this program understands: ${understood}. Use the program version that wrote it, or give another directory with --data.`,
    );
}

function parseFormat(text: string): number | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const format =
      typeof parsed === 'object' && parsed !== null && 'format' in parsed
        ? parsed.format
        : undefined;
    return typeof format === 'number' ? format : undefined;
  } catch {
    return undefined;
  }
}

function unusable(path: string, error: unknown): ExitError {
  if (error instanceof ExitError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ExitError(1, `cannot use the data directory ${path} (--data): ${reason}`);
}
