/** Shared by the tests of this folder: a flush of the memtable, and a store that counts what is read. */
import { assert } from '../../../base/index.ts';
import type { ReadView, Store } from '../../../engine/index.ts';
import type { IndexMemtable } from '../memory/index-memtable.ts';
import { writeEntries } from './index-flush.ts';

/** Writes all entries in memory to the store. */
export async function flushTo(store: Store, memtable: IndexMemtable): Promise<void> {
  const flush = memtable.beginFlush();
  assert(flush !== undefined, 'no flush is running');
  await writeEntries(store, flush);
  memtable.endFlush(flush);
}

interface CountingView extends ReadView {
  /** Scans of keys alone, and of keys with values. */
  readonly counts: { scanKeys: number; scan: number };
}

/** Reads from the store and counts the scans. */
export function countingView(store: Store): CountingView {
  const counts = { scanKeys: 0, scan: 0 };
  return {
    counts,
    get: (key) => store.get(key),
    getMany: (keys) => store.getMany(keys),
    dereference: (key, prefix) => store.dereference(key, prefix),
    dereferenceMany: (keys, prefix) => store.dereferenceMany(keys, prefix),
    scanKeys(range, options) {
      counts.scanKeys++;
      return store.scanKeys(range, options);
    },
    scan(range, options) {
      counts.scan++;
      return store.scan(range, options);
    },
  };
}
