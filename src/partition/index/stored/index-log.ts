/**
 * The log of index changes that cannot be derived from the items: removed entries, and entries of items that were moved
 * or reindexed. Entries that a write adds are not logged: every item written since the last flush is in the change log,
 * and its entries follow from it.
 */
import { type Bytes, bytesToLatin1 } from '../../../base/index.ts';

export interface IndexChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Approximate bytes of one log entry: recovery applies each in one step of a millisecond or two. */
export const LOG_ENTRY_BYTES = 64 * 1024;

/** Stored form of a group's changes, in log entries: for each change u8 flag (1 added, 0 removed), u16 length, key. */
export function encodeChanges({ added, removed }: IndexChanges): readonly Bytes[] {
  const entries: Bytes[] = [];
  let text = '';
  const add = (flag: string, key: string): void => {
    text += flag + lengthText(key.length) + key;
    if (text.length < LOG_ENTRY_BYTES) return;
    entries.push(Buffer.from(text, 'latin1'));
    text = '';
  };
  for (const key of removed) add('\u0000', key);
  for (const key of added) add('\u0001', key);
  if (text.length > 0) entries.push(Buffer.from(text, 'latin1'));
  return entries;
}

export function lengthText(length: number): string {
  return String.fromCharCode(length >>> 8, length & 0xff);
}

/** The same changes with every removal turned into an addition. */
export function asAdditions(bytes: Bytes): Bytes {
  const added = Buffer.from(bytes);
  for (let at = 0; at < added.length; at += 3 + added.readUInt16BE(at + 1)) added[at] = 1;
  return added;
}

export function decodeChanges(bytes: Bytes): IndexChanges {
  const text = bytesToLatin1(bytes);
  const added: string[] = [];
  const removed: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = (text.charCodeAt(at + 1) << 8) | text.charCodeAt(at + 2);
    const key = text.slice(at + 3, at + 3 + length);
    (text.charCodeAt(at) === 1 ? added : removed).push(key);
    at += 3 + length;
  }
  return { added, removed };
}
