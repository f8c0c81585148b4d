/** Pages of items in the two orders of a partition: by rid (the order of creation) and by primary key. */
import {
  andThen,
  assert,
  type Bytes,
  compareBytes,
  type MaybePromise,
  prefixEnd,
} from '../../base/index.ts';
import type { KeyRange, ReadView } from '../../engine/index.ts';
import type { Epk } from '../../value/index.ts';
import type { Item } from '../item/item.ts';
import { PREFIX_ITEM, primaryRange, recordsAfter, ridOfRecordKey } from '../item/keyspace.ts';
import { decodeRecord, primaryOfRecord } from '../item/record.ts';

export interface ItemScan {
  /** Where the last page ended; undefined for the first. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly bytesMax: number;
}

export interface ItemPage {
  readonly items: readonly Item[];
  /** The position to continue from, valid in every partition with some of the same items; undefined at the end. */
  readonly next: string | undefined;
}

/** Records read for one page at most, so that a page over few keys of a large partition ends. */
const READ_MAX = 10_000;

/** [min, max) of the hash space. */
export interface EpkRange {
  readonly min: Epk;
  readonly max: Epk;
}

export function scanByRid(
  view: ReadView,
  etagSalt: number,
  scan: ItemScan,
  within: EpkRange | undefined,
): MaybePromise<ItemPage> {
  const after = scan.after === undefined ? undefined : Number.parseInt(scan.after, 36);
  assert(after === undefined || Number.isSafeInteger(after), 'scan: position is a rid');
  const range = recordsAfter(after);
  const primaries = within === undefined ? undefined : primaryRange(within.min, within.max);
  const limit = primaries === undefined ? scan.limit : READ_MAX;
  const page = view.scan(range, { limit, bytesMax: scan.bytesMax });
  return andThen(page, ({ entries, more }) => {
    const items: Item[] = [];
    let last: Bytes | undefined;
    for (const { key, value } of entries) {
      if (items.length === scan.limit) return { items, next: ridPosition(last) };
      last = key;
      if (primaries === undefined || isWithin(primaryOfRecord(value), primaries))
        items.push(decodeRecord(value, etagSalt));
    }
    return { items, next: more ? ridPosition(last) : undefined };
  });
}

function ridPosition(key: Bytes | undefined): string | undefined {
  return key === undefined ? undefined : ridOfRecordKey(key).toString(36);
}

export function scanByKey(
  view: ReadView,
  etagSalt: number,
  scan: ItemScan,
  within: EpkRange | KeyRange | Bytes,
): MaybePromise<ItemPage> {
  const { start, end } = primariesOf(within);
  // The zero byte makes the smallest key after the last one of the page before.
  const resumed = scan.after === undefined ? start : Buffer.from(`${scan.after}00`, 'hex');
  // A position comes from a client, who may have no right to read keys before the range.
  const from = compareBytes(resumed, start) < 0 ? start : resumed;
  if (end !== undefined && compareBytes(from, end) >= 0) return { items: [], next: undefined };
  const page = view.scan(
    { start: from, end },
    { limit: scan.limit, bytesMax: scan.bytesMax, dereference: PREFIX_ITEM },
  );
  return andThen(page, ({ entries, more }) => {
    const last = entries.at(-1);
    return {
      items: entries.map(({ value }) => decodeRecord(value, etagSalt)),
      next: more && last !== undefined ? Buffer.from(last.key).toString('hex') : undefined,
    };
  });
}

function primariesOf(within: EpkRange | KeyRange | Bytes): KeyRange {
  if (within instanceof Uint8Array) return { start: within, end: prefixEnd(within) };
  return 'start' in within ? within : primaryRange(within.min, within.max);
}

export function isWithin(key: Bytes, range: KeyRange): boolean {
  if (compareBytes(key, range.start) < 0) return false;
  return range.end === undefined || compareBytes(key, range.end) < 0;
}
