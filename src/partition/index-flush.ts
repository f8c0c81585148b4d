/** Writes the index entries kept in memory to their place in the store, in order, then cuts the log behind them. */
import { type Bytes, concatBytes } from '../base/index.ts';
import type { Entry, Store } from '../engine/index.ts';
import { decodeChanges, type IndexChanges, type IndexMemory } from './index-memory.ts';
import { INDEX_LOG_RANGE, indexLogKey } from './indexing.ts';

/** Entries of one commit: short, because the partition's own writes wait behind it. */
const STEP_ENTRIES = 2000;

const EMPTY: Bytes = new Uint8Array(0);

/** `logNumber` is the last log entry whose changes are in memory now. Safe to be cut off anywhere and done again. */
export async function flushIndex(
  store: Store,
  memory: IndexMemory,
  logNumber: number,
): Promise<void> {
  const flush = memory.freeze();
  if (flush === undefined) return;
  const { changes } = flush;
  for (let at = 0; at < changes.length; at += STEP_ENTRIES) {
    if (flush.isAbandoned) return;
    const puts: Entry[] = [];
    const deletes: Bytes[] = [];
    for (const [key, isThere] of changes.slice(at, at + STEP_ENTRIES)) {
      const bytes = Buffer.from(key, 'latin1');
      if (isThere) puts.push({ key: bytes, value: EMPTY });
      else deletes.push(bytes);
    }
    await store.commit({ puts, deletes });
  }
  if (flush.isAbandoned) return;
  await store.commit({
    deleteRanges: [{ start: INDEX_LOG_RANGE.start, end: indexLogKey(logNumber + 1) }],
  });
  memory.thaw(flush);
}

const LOG_PAGE = { limit: 100, bytesMax: 4 * 1024 * 1024 };

/** Changes that were not yet in their place when the partition was last closed. */
export async function readIndexLog(store: Store): Promise<readonly IndexChanges[]> {
  const logged: IndexChanges[] = [];
  for (let start = INDEX_LOG_RANGE.start, more = true; more; ) {
    const page = await store.scan({ ...INDEX_LOG_RANGE, start }, LOG_PAGE);
    for (const { key, value } of page.entries) {
      logged.push(decodeChanges(value));
      start = concatBytes(key, Uint8Array.of(0));
    }
    more = page.more;
  }
  return logged;
}
