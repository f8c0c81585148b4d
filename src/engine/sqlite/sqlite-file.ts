/**
 * The file of a store: its mark, its version, its creation. Used by the writer thread only.
 *
 * Format 2: a SQLite database with application id `Meso` and user version 2, page size 4,096, in WAL mode, with the
 * tables of sqlite-statements.ts. Format 1 is upgraded to 2 when it is opened (sqlite-upgrade.ts). Do not renumber.
 *
 * While a connection of this process has a file open, the process must not open and close it by other means: closing
 * any descriptor drops all POSIX locks of the process on that file. Hence the header is read before the first
 * connection is opened, and sizes are read with stat.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FormatError } from '../engine.ts';
import { CREATE_TABLES } from './sqlite-statements.ts';
import { upgradeFromFormat1 } from './sqlite-upgrade.ts';

export const FORMAT_VERSION = 2;
/** The previous version, which is still read. */
const FORMAT_VERSION_BEFORE = 1;
/** "Meso" */
export const APPLICATION_ID = 0x4d65736f;
export const PAGE_BYTES = 4096;

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const USER_VERSION_AT = 60;
const APPLICATION_ID_AT = 68;

/** The files of a store, in the order in which they may be removed: a log must not outlive its file. */
export function filesOf(path: string): readonly string[] {
  return [`${path}-wal`, `${path}-shm`, `${path}.new`, `${path}.new-journal`, path];
}

/** Creates the file if there is none. Refuses a file that is not ours before anything is written to it. */
export function prepareFile(path: string, root: string): void {
  if (!existsSync(path)) createFile(path, root);
  else if (formatOf(path) === FORMAT_VERSION_BEFORE) upgradeFromFormat1(path);
}

/** The file appears under its name complete or not at all. */
function createFile(path: string, root: string): void {
  mkdirSync(dirname(path), { recursive: true });
  for (const file of filesOf(path)) rmSync(file, { force: true });
  const fresh = `${path}.new`;
  const database = new DatabaseSync(fresh);
  try {
    // One explicit sync below is enough, since the file has no readers before.
    database.exec(`PRAGMA synchronous = OFF; PRAGMA page_size = ${PAGE_BYTES};`);
    database.exec(`BEGIN; PRAGMA application_id = ${APPLICATION_ID};
      PRAGMA user_version = ${FORMAT_VERSION}; ${CREATE_TABLES} COMMIT;`);
    database.exec('PRAGMA journal_mode = WAL');
  } finally {
    database.close();
  }
  syncPath(fresh);
  renameSync(fresh, path);
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    syncPath(folder);
    if (folder.length <= root.length) break;
  }
}

/** The format of a file; throws for one that this program does not understand. */
function formatOf(path: string): number {
  const header = readHeader(path);
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw new FormatError(`${path} is not a SQLite database`);
  const version = header.readUInt32BE(USER_VERSION_AT);
  checkMarks(path, header.readUInt32BE(APPLICATION_ID_AT), version);
  // A newer program may have been stopped before its marks were copied from the log into the file. A connection for
  // reading changes neither log nor file.
  if (!existsSync(`${path}-wal`)) return version;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const pragma = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
    const logged = pragma('user_version');
    checkMarks(path, pragma('application_id'), logged);
    return logged;
  } finally {
    database.close();
  }
}

function checkMarks(path: string, applicationId: number, version: number): void {
  if (applicationId !== APPLICATION_ID)
    throw new FormatError(
      `${path} is not a Mesocosm store: its application id is ${applicationId}, not ${APPLICATION_ID}`,
    );
  if (version !== FORMAT_VERSION && version !== FORMAT_VERSION_BEFORE)
    throw new FormatError(
      `${path} has format version ${version}; this program understands versions ${FORMAT_VERSION_BEFORE} and ${FORMAT_VERSION}`,
    );
}

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(descriptor);
  }
  return header;
}

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
