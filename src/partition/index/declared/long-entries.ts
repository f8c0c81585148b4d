/**
 * Entries of declared indexes whose values are too long together for a key: they end with a digest of all of them
 * behind the first 2,560 bytes. Eight texts of 512 bytes would have 4,112.
 *
 * No entry that is not cut has more bytes before its rid, so a cut one is recognized by its length. Entries with the
 * same first bytes are neighbours, in the order of their digests. Ranges whose bounds have no more bytes than are kept
 * find them all.
 */
import { type Bytes, concatBytes, ENTRY_KEPT_BYTES } from '../../../base/index.ts';
import { digestOf } from '../../../value/index.ts';

const RID_BYTES = 8;

/** An entry without its rid, cut where it is too long. */
export function boundedEntry(entry: string): string {
  if (entry.length <= ENTRY_KEPT_BYTES) return entry;
  const digest = Buffer.from(digestOf(Buffer.from(entry, 'latin1')));
  return entry.slice(0, ENTRY_KEPT_BYTES) + digest.toString('latin1');
}

/** Whether an entry, with or without its rid, is cut. */
export function isCutEntry(entry: string): boolean {
  return entry.length > ENTRY_KEPT_BYTES + RID_BYTES;
}

/** The values behind the prefix of an index, as its entries have them. */
export function boundedValues(prefix: Bytes, values: Bytes): Bytes {
  if (prefix.length + values.length <= ENTRY_KEPT_BYTES) return values;
  const whole = concatBytes(prefix, values);
  const kept = whole.subarray(prefix.length, ENTRY_KEPT_BYTES);
  return concatBytes(kept, digestOf(whole));
}
