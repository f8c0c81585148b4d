/** Stores as SQLite files below one folder: `<directory>/<name>.sqlite`. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { assert } from '../../base/index.ts';
import { checkStoreName } from '../checks.ts';
import type { Engine, Store } from '../engine.ts';
import { filesOf } from './sqlite-file.ts';
import { SqliteStore } from './sqlite-store.ts';
import { SqliteWriters } from './write/sqlite-writers.ts';

interface SqliteEngineOptions {
  /** The folder of the stores; created if it does not exist. */
  readonly directory: string;
  /** Writer threads; stores are assigned to them round-robin. 1 to 64, default 2. */
  readonly writerThreads?: number;
  /**
   * A store that would grow beyond this refuses the commit, as on a full disk. By default the disk is the only bound.
   */
  readonly storeBytesMax?: number;
}

const SUFFIX = '.sqlite';
const WRITER_THREADS_DEFAULT = 2;
const WRITER_THREADS_MAX = 64;

export function sqliteEngine(options: SqliteEngineOptions): Engine {
  return new SqliteEngine(options);
}

class SqliteEngine implements Engine {
  readonly #directory: string;
  readonly #storeBytesMax: number | undefined;
  readonly #writers: SqliteWriters;
  readonly #stores = new Map<string, SqliteStore>();
  /** Names of stores that are open, or being opened or dropped. */
  readonly #taken = new Set<string>();
  readonly #opening = new Set<Promise<Store>>();

  constructor({ directory, writerThreads, storeBytesMax }: SqliteEngineOptions) {
    const threads = writerThreads ?? WRITER_THREADS_DEFAULT;
    assert(
      Number.isInteger(threads) && threads >= 1 && threads <= WRITER_THREADS_MAX,
      'there are 1 to 64 writer threads',
    );
    this.#directory = resolve(directory);
    this.#storeBytesMax = storeBytesMax;
    this.#writers = new SqliteWriters({ threads });
  }

  open(name: string): Promise<Store> {
    const opening = this.#openOnce(name);
    this.#opening.add(opening);
    const forget = () => this.#opening.delete(opening);
    opening.then(forget, forget);
    return opening;
  }

  async #openOnce(name: string): Promise<Store> {
    checkStoreName(name);
    assert(!this.#taken.has(name), `store ${name} is already open`);
    this.#taken.add(name);
    try {
      return await this.#openFile(name, this.#pathOf(name));
    } catch (error) {
      this.#taken.delete(name);
      throw error;
    }
  }

  async #openFile(name: string, path: string): Promise<Store> {
    await mkdir(this.#directory, { recursive: true });
    const settings = { path, root: this.#directory, bytesMax: this.#storeBytesMax };
    const writer = await this.#writers.open(name, settings);
    const onClose = () => {
      this.#stores.delete(name);
      this.#taken.delete(name);
    };
    try {
      const store = new SqliteStore({ name, path, writer, onClose });
      this.#stores.set(name, store);
      return store;
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  async list(): Promise<readonly string[]> {
    const names: string[] = [];
    const entries = await readdir(this.#directory, { recursive: true, withFileTypes: true }).catch(
      noneIfMissing,
    );
    for (const entry of entries) {
      if (!entry.isFile() || !entry.name.endsWith(SUFFIX)) continue;
      const path = relative(this.#directory, join(entry.parentPath, entry.name));
      names.push(path.slice(0, -SUFFIX.length).split(sep).join('/'));
    }
    return names.sort();
  }

  async drop(name: string): Promise<void> {
    checkStoreName(name);
    assert(!this.#taken.has(name), `store ${name} is open and cannot be dropped`);
    this.#taken.add(name);
    try {
      const path = this.#pathOf(name);
      for (const file of filesOf(path)) await rm(file, { force: true });
    } finally {
      this.#taken.delete(name);
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#opening);
    await Promise.all([...this.#stores.values()].map((store) => store.close()));
    await this.#writers.close();
  }

  #pathOf(name: string): string {
    return join(this.#directory, ...name.split('/')) + SUFFIX;
  }
}

function noneIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
