/**
 * The change feed of one partition: pages of writes in the order of their LSNs, of the whole partition or of a part of
 * its keys. A page never ends inside an LSN, so a position is an LSN, and it stays valid in every partition that later
 * holds the same keys.
 */
import { type Bytes, prefixEnd } from '../../base/index.ts';
import type { KeyRange, ReadView } from '../../engine/index.ts';
import type { Item, Lsn, Rid } from '../item/item.ts';
import {
  logAfter,
  lsnAndRidOfLogKey,
  lsnOfLogKey,
  PREFIX_ITEM,
  PREFIX_LOG,
  PREFIX_VERSION,
  primaryRange,
  recordKey,
} from '../item/keyspace.ts';
import { decodeRecord, primaryOfRecord } from '../item/record.ts';
import {
  decodeVersion,
  primaryOfVersion,
  timestampOfVersion,
  type Version,
} from '../item/version.ts';
import { type EpkRange, isWithin } from '../read/scan.ts';
import { readChanges } from './change-log.ts';
import { scanLog } from './log-scan.ts';

/**
 * latest: every item that was written, in its present state. latestAndDeleted: the same, and the keys of deleted items.
 * all: every write and deletion with its item, where the container keeps versions.
 */
export type FeedMode = 'latest' | 'latestAndDeleted' | 'all';

export interface FeedRead {
  readonly mode: FeedMode;
  readonly after: Lsn;
  readonly limit: number;
  readonly bytesMax: number;
  /** A part of the hash space, or a prefix of the primary keys; undefined for the whole partition. */
  readonly within: EpkRange | Bytes | undefined;
  /** Writes before this time are left out. */
  readonly sinceSec: number | undefined;
}

export type FeedChange =
  | { readonly kind: 'write'; readonly lsn: Lsn; readonly item: Item }
  | { readonly kind: 'deletion'; readonly lsn: Lsn; readonly rid: Rid; readonly primary: Bytes }
  | { readonly kind: 'version'; readonly lsn: Lsn; readonly version: Version };

export interface FeedSlice {
  readonly changes: readonly FeedChange[];
  /** Everything up to here is in this slice or before it. */
  readonly upTo: Lsn;
  /** Whether there is more to read; a slice with more may have no changes. */
  readonly more: boolean;
}

/** A consistent view of a partition that a feed is read from. */
interface FeedSource {
  readonly view: ReadView;
  readonly etagSalt: number;
  /** LSN of the last published write. */
  readonly published: Lsn;
  /** True for items that are left out, where the feed shows items in their present state. */
  readonly isInvisible: (item: Item) => boolean;
}

type LogSource = Omit<FeedSource, 'isInvisible'>;

/** Log entries read in one slice at most, so that a slice over few keys of a large partition ends. */
const READ_MAX = 20_000;

/** A logical partition of up to this many items is read and sorted by LSN, instead of the log. */
const KEY_ITEMS_MAX = 1000;

/** Entries of the first step; later steps follow the size of the records. */
const STEP_FIRST = 32;
const STEP_MAX = 1000;

/** Keys are short; the number of entries is the bound. */
const KEYS_BYTES_MAX = 1024 * 1024;
const ONE_ENTRY = { limit: 1, bytesMax: 1 };

export async function readFeed(source: FeedSource, read: FeedRead): Promise<FeedSlice> {
  if (read.mode === 'all') return readVersions(source, read);
  if (read.mode === 'latestAndDeleted') return readWithDeletions(source, read);
  if (read.within instanceof Uint8Array) {
    const slice = await readLogicalPartition(source, read, read.within);
    if (slice !== undefined) return slice;
  }
  return readLatest(source, read);
}

async function readLatest(source: FeedSource, read: FeedRead): Promise<FeedSlice> {
  const { view, published, etagSalt, isInvisible } = source;
  const budget = new Budget(read);
  const found: Item[] = [];
  let upTo = read.after;
  for (let readCount = 0; ; ) {
    const limit = budget.nextStep();
    const scan = { after: upTo, published, limit, bytesMax: KEYS_BYTES_MAX };
    const page = await scanLog(view, PREFIX_LOG, scan);
    const places = page.entries.map(({ key }) => lsnAndRidOfLogKey(key));
    const records = await view.getMany(places.map(({ rid }) => recordKey(rid)));
    for (const [at, record] of records.entries()) {
      const lsn = places[at]?.lsn ?? upTo;
      if (budget.isSpent && lsn !== upTo) return { changes: writesOf(found), upTo, more: true };
      upTo = lsn;
      if (record === undefined || !budget.takes(primaryOfRecord(record), record)) continue;
      const item = decodeRecord(record, etagSalt);
      if (item.timestampSec < (read.sinceSec ?? 0) || isInvisible(item)) continue;
      found.push(item);
      budget.spend(item.body.length);
    }
    readCount += records.length;
    upTo = page.upTo;
    if (!page.more || budget.isSpent || readCount >= READ_MAX)
      return { changes: writesOf(found), upTo, more: page.more };
    // Other requests run between long steps.
    if (readCount > STEP_MAX) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Reads and sorts the items of a small logical partition, since the log may be long. */
async function readLogicalPartition(
  { view, etagSalt, published, isInvisible }: FeedSource,
  read: FeedRead,
  prefix: Bytes,
): Promise<FeedSlice | undefined> {
  const page = await view.scan(
    { start: prefix, end: prefixEnd(prefix) },
    { limit: KEY_ITEMS_MAX, bytesMax: 2 * read.bytesMax, dereference: PREFIX_ITEM },
  );
  if (page.more) return undefined;
  const items: Item[] = [];
  for (const { value } of page.entries) {
    const item = decodeRecord(value, etagSalt);
    if (isInvisible(item)) continue;
    const isNew = item.lsn > read.after && item.lsn <= published;
    if (isNew && item.timestampSec >= (read.sinceSec ?? 0)) items.push(item);
  }
  items.sort(byLsn);
  const budget = new Budget(read);
  let count = 0;
  for (const item of items) {
    if (budget.isSpent && item.lsn !== items[count - 1]?.lsn)
      return {
        changes: writesOf(items.slice(0, count)),
        upTo: items[count - 1]?.lsn ?? read.after,
        more: true,
      };
    budget.spend(item.body.length);
    count++;
  }
  return { changes: writesOf(items), upTo: published, more: false };
}

async function readWithDeletions(source: FeedSource, read: FeedRead): Promise<FeedSlice> {
  const { view, etagSalt, published, isInvisible } = source;
  const budget = new Budget(read);
  const page = await readChanges(view, read.after, published, Math.min(read.limit, STEP_MAX));
  const records = await view.getMany(page.changes.map(({ rid }) => recordKey(rid)));
  const changes: FeedChange[] = [];
  page.changes.forEach((change, at) => {
    const { lsn, rid } = change;
    const record = records[at];
    if (change.kind === 'delete') {
      const { primary } = change;
      if (budget.takes(primary, primary)) changes.push({ kind: 'deletion', lsn, rid, primary });
    } else if (record !== undefined && budget.takes(primaryOfRecord(record), record)) {
      const item = decodeRecord(record, etagSalt);
      // An internal item may have replaced a visible one, which for readers is deleted.
      if (item.isInternal) changes.push({ kind: 'deletion', lsn, rid, primary: item.primary });
      else if (!isInvisible(item)) changes.push({ kind: 'write', lsn, item });
    }
  });
  return { changes, upTo: page.upTo, more: page.more };
}

async function readVersions(source: FeedSource, read: FeedRead): Promise<FeedSlice> {
  const { view, etagSalt, published } = source;
  const budget = new Budget(read);
  const changes: FeedChange[] = [];
  let upTo = read.after;
  for (let readCount = 0; ; ) {
    const scan = { after: upTo, published, limit: STEP_MAX, bytesMax: read.bytesMax };
    const page = await scanLog(view, PREFIX_VERSION, scan);
    for (const entry of page.entries) {
      const lsn = lsnOfLogKey(entry.key);
      if (budget.isSpent && lsn !== upTo) return { changes, upTo, more: true };
      upTo = lsn;
      if (!budget.takes(primaryOfVersion(entry.value), entry.value)) continue;
      const version = decodeVersion(entry, etagSalt);
      if (version.timestampSec < (read.sinceSec ?? 0)) continue;
      changes.push({ kind: 'version', lsn, version });
      budget.spend(version.item.body.length);
    }
    readCount += page.entries.length;
    upTo = page.upTo;
    if (!page.more || budget.isSpent || readCount >= READ_MAX)
      return { changes, upTo, more: page.more };
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function writesOf(items: Item[]): readonly FeedChange[] {
  return items.sort(byLsn).map((item) => ({ kind: 'write', lsn: item.lsn, item }));
}

function byLsn(a: Item, b: Item): number {
  return a.lsn - b.lsn || a.version.operation - b.version.operation;
}

/** The items and bytes left for a slice, and the keys that it covers. */
class Budget {
  readonly #primaries: KeyRange | undefined;
  #itemsLeft: number;
  #bytesLeft: number;
  #readCount = 0;
  #readBytes = 0;

  constructor({ limit, bytesMax, within }: FeedRead) {
    this.#itemsLeft = limit;
    this.#bytesLeft = bytesMax;
    if (within instanceof Uint8Array) this.#primaries = { start: within, end: prefixEnd(within) };
    else this.#primaries = within && primaryRange(within.min, within.max);
  }

  takes(primary: Bytes, record: Bytes): boolean {
    this.#readCount++;
    this.#readBytes += record.length;
    return this.#primaries === undefined || isWithin(primary, this.#primaries);
  }

  spend(bodyBytes: number): void {
    this.#itemsLeft--;
    this.#bytesLeft -= bodyBytes;
  }

  get isSpent(): boolean {
    return this.#itemsLeft <= 0 || this.#bytesLeft <= 0;
  }

  /** Entries of the next step: as many as are needed, and as fit into memory by the average so far. */
  nextStep(): number {
    const average = this.#readBytes / Math.max(1, this.#readCount);
    const most = this.#readCount === 0 ? STEP_FIRST : Math.ceil(this.#bytesLeft / average);
    const wanted = this.#primaries === undefined ? this.#itemsLeft : STEP_MAX;
    return Math.max(1, Math.min(most, wanted, STEP_MAX));
  }
}

/**
 * The LSN after which all writes of a time and later are. It is found by binary search, because LSNs and times grow
 * together after `orderedFrom`. Before it, partitions with different LSNs were merged, and the feed starts at 0.
 */
export async function lsnBefore(
  source: LogSource,
  { mode, sinceSec, orderedFrom }: { mode: FeedMode; sinceSec: number; orderedFrom: Lsn },
): Promise<Lsn> {
  const { published } = source;
  let low = Math.min(orderedFrom, published);
  let high = published;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const first = await firstAfter(source, mode, middle);
    if (first === undefined || first.timestampSec >= sinceSec) high = middle;
    else low = first.lsn;
  }
  return low <= orderedFrom ? 0 : low;
}

async function firstAfter(
  { view, published, etagSalt }: LogSource,
  mode: FeedMode,
  after: Lsn,
): Promise<{ readonly lsn: Lsn; readonly timestampSec: number } | undefined> {
  const prefix = mode === 'all' ? PREFIX_VERSION : PREFIX_LOG;
  const [entry] = (await view.scan(logAfter(prefix, after), ONE_ENTRY)).entries;
  if (entry === undefined || lsnOfLogKey(entry.key) > published) return undefined;
  const { lsn, rid } = lsnAndRidOfLogKey(entry.key);
  if (mode === 'all') return { lsn, timestampSec: timestampOfVersion(entry.value) };
  const record = await view.get(recordKey(rid));
  return record && { lsn, timestampSec: decodeRecord(record, etagSalt).timestampSec };
}
