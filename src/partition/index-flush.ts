/** Writes the index entries kept in memory to their place in the store, in order, then cuts the log behind them. */
import type { Bytes } from '../base/index.ts';
import type { Entry, Store } from '../engine/index.ts';
import type { IndexMemory } from './index-memory.ts';
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
