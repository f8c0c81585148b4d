/** One pass over the keys of a partition in the order of the hash space: how many bytes each of them has. */
import type { Bytes } from '../../base/index.ts';
import type { ReadView, Store } from '../../engine/index.ts';
import { EPK_MAX, EPK_MIN, type Epk } from '../../value/index.ts';
import { epkEnd, epkOfPrimary, PREFIX_ITEM, primaryRange, STATE_KEY } from '../item/keyspace.ts';
import { decodeState } from '../state.ts';
import type { KeySizes } from './key-sizes.ts';

/** What is looked at in one turn of the event loop. */
const PAGE = { limit: 500, bytesMax: 4 * 1024 * 1024 };

/** Primary entries looked at to tell how many keys there are. */
const COUNT_ENTRIES_MAX = 20_000;

export interface KeySize {
  readonly epk: Epk;
  /** Of one of its items. */
  readonly primary: Bytes;
  /** Of all its records. */
  readonly bytes: number;
}

interface KeySizeScan {
  readonly onKey: (key: KeySize) => void;
  readonly signal: AbortSignal;
  /** Told what the pass sees, so that it can go on from there. */
  readonly sizes: KeySizes | undefined;
}

/** Reads every record, as of one moment. */
export async function scanKeySizes(
  store: Store,
  { onKey, signal, sizes }: KeySizeScan,
): Promise<void> {
  const snapshot = await store.snapshot();
  try {
    const stored = await snapshot.get(STATE_KEY);
    sizes?.begin(stored === undefined ? 0 : decodeState(stored).lsn);
    await pass(
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

/** Other work goes on between pages. */
async function pass(
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
      if (current !== undefined && beginsAlike(current.primary, key, current.end)) {
        current.bytes += value.length;
        continue;
      }
      finish();
      current = { primary: Uint8Array.from(key), end: epkEnd(key), bytes: value.length };
    }
    const last = page.entries.at(-1);
    more = page.more && last !== undefined;
    if (last !== undefined) start = behind(last.key);
    await new Promise((resolve) => setImmediate(resolve));
  }
  finish();
}

export interface KeyCount {
  readonly keys: number;
  /** False where it is reckoned from the first ones: hashes spread keys evenly. */
  readonly isExact: boolean;
}

/** How many keys there are, from primary entries alone. */
export async function countKeys(view: ReadView, itemCount: number): Promise<KeyCount> {
  let keys = 0;
  let entries = 0;
  let current: { primary: Bytes; end: number } | undefined;
  let { start, end } = primaryRange(EPK_MIN, EPK_MAX);
  for (;;) {
    const page = await view.scanKeys({ start, end }, { limit: 2000, bytesMax: 1e6 });
    for (const text of page.keys) {
      const key = Buffer.from(text, 'latin1');
      if (current !== undefined && beginsAlike(current.primary, key, current.end)) continue;
      current = { primary: Uint8Array.from(key), end: epkEnd(key) };
      keys++;
    }
    entries += page.keys.length;
    const last = page.keys.at(-1);
    if (!page.more || last === undefined) return { keys, isExact: true };
    if (entries >= COUNT_ENTRIES_MAX)
      return { keys: Math.round((keys * Math.max(itemCount, entries)) / entries), isExact: false };
    start = behind(Buffer.from(last, 'latin1'));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function beginsAlike(a: Bytes, b: Bytes, length: number): boolean {
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** The smallest key behind this one. */
function behind(key: Bytes): Bytes {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
