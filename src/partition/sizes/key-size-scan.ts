/** One pass over the keys of a partition in the order of the hash space, with the bytes of each. */
import { type Bytes, keyAfter } from '../../base/index.ts';
import type { ReadView, Store } from '../../engine/index.ts';
import { EPK_MAX, EPK_MIN, type Epk } from '../../value/index.ts';
import { epkEnd, epkOfPrimary, PREFIX_ITEM, primaryRange, STATE_KEY } from '../item/keyspace.ts';
import { decodeState } from '../state.ts';
import type { KeySizes } from './key-sizes.ts';

/** Records read in one turn of the event loop. */
const PAGE = { limit: 500, bytesMax: 4 * 1024 * 1024 };

/** Primary entries read for an estimate of the number of keys. */
const COUNT_ENTRIES_MAX = 20_000;

export interface KeySize {
  readonly epk: Epk;
  /** Primary key of one of its items. */
  readonly primary: Bytes;
  /** Bytes of all its records. */
  readonly bytes: number;
}

interface KeySizeScan {
  readonly onKey: (key: KeySize) => void;
  readonly signal: AbortSignal;
  /** Gets the keys of the scan, and counts later writes itself. */
  readonly sizes: KeySizes | undefined;
}

/** Reads every record of one snapshot. */
export async function scanKeySizes(
  store: Store,
  { onKey, signal, sizes }: KeySizeScan,
): Promise<void> {
  const snapshot = await store.snapshot();
  try {
    const stored = await snapshot.get(STATE_KEY);
    sizes?.begin(stored === undefined ? 0 : decodeState(stored).lsn);
    await scanAll(
      snapshot,
      (key) => {
        sizes?.found(key);
        onKey(key);
      },
      signal,
    );
    sizes?.end();
  } finally {
    snapshot.release();
  }
}

/** Yields to the event loop after every page. */
async function scanAll(
  view: ReadView,
  onKey: (key: KeySize) => void,
  signal: AbortSignal,
): Promise<void> {
  let current: { primary: Bytes; end: number; bytes: number } | undefined;
  const finish = (): void => {
    if (current === undefined) return;
    const { primary, bytes } = current;
    onKey({ epk: epkOfPrimary(primary), primary, bytes });
  };
  let { start, end } = primaryRange(EPK_MIN, EPK_MAX);
  for (let more = true; more; ) {
    signal.throwIfAborted();
    const page = await view.scan({ start, end }, { ...PAGE, dereference: PREFIX_ITEM });
    for (const { key, value } of page.entries) {
      if (current !== undefined && isSamePrefix(current.primary, key, current.end)) {
        current.bytes += value.length;
        continue;
      }
      finish();
      current = { primary: Uint8Array.from(key), end: epkEnd(key), bytes: value.length };
    }
    const last = page.entries.at(-1);
    more = page.more && last !== undefined;
    if (last !== undefined) start = keyAfter(last.key);
    await new Promise((resolve) => setImmediate(resolve));
  }
  finish();
}

export interface KeyCount {
  readonly keys: number;
  /** False where it is estimated from the first entries, since hashes spread keys evenly. */
  readonly isExact: boolean;
}

/** The number of keys, from primary entries alone. */
export async function countKeys(view: ReadView, itemCount: number): Promise<KeyCount> {
  let keys = 0;
  let entries = 0;
  let current: { primary: Bytes; end: number } | undefined;
  let { start, end } = primaryRange(EPK_MIN, EPK_MAX);
  for (;;) {
    const page = await view.scanKeys({ start, end }, { limit: 2000, bytesMax: 1e6 });
    for (const text of page.keys) {
      const key = Buffer.from(text, 'latin1');
      if (current !== undefined && isSamePrefix(current.primary, key, current.end)) continue;
      current = { primary: Uint8Array.from(key), end: epkEnd(key) };
      keys++;
    }
    entries += page.keys.length;
    const last = page.keys.at(-1);
    if (!page.more || last === undefined) return { keys, isExact: true };
    if (entries >= COUNT_ENTRIES_MAX)
      return { keys: Math.round((keys * Math.max(itemCount, entries)) / entries), isExact: false };
    start = keyAfter(Buffer.from(last, 'latin1'));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function isSamePrefix(a: Bytes, b: Bytes, length: number): boolean {
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return false;
  return true;
}
