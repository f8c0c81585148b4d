/**
 * Rows of the table `scattered`: what groups of commits did to scattered keys, in the order in which they did it.
 *
 * row := u8 turn, entry*    entry := u16 length of the key, u8 length of the value, key, value
 *
 * Numbers are big endian; ff for the length of a value says that the key is deleted. The format is part of the file's: do
 * not renumber.
 */
import type { Bytes } from '../../base/index.ts';

/** What a group wrote under a scattered key; null if it deleted it. */
export interface GatheredEntry {
  readonly key: Bytes;
  readonly value: Bytes | null;
}

/**
 * What has become, with this row's group, of the rows before it. `none`: nothing. `frozen`: they are on their way to the
 * tree. `settled`: those that were frozen are in the tree. `cleared`: all of them are.
 */
export type Turn = 'none' | 'frozen' | 'settled' | 'cleared';

const TURNS: readonly Turn[] = ['none', 'frozen', 'settled', 'cleared'];

/** Longer values are not gathered. What is, are numbers. */
export const GATHERED_VALUE_BYTES_MAX = 64;
const DELETED = 0xff;
const HEAD_BYTES = 3;
const BEGINNING_BYTES = 3;

export function packRow(turn: Turn, entries: readonly GatheredEntry[]): Bytes {
  let size = 1;
  for (const { key, value } of entries) size += HEAD_BYTES + key.length + (value?.length ?? 0);
  const row = Buffer.allocUnsafe(size);
  let at = row.writeUInt8(TURNS.indexOf(turn), 0);
  for (const { key, value } of entries) {
    at = row.writeUInt16BE(key.length, at);
    at = row.writeUInt8(value === null ? DELETED : value.length, at);
    row.set(key, at);
    at += key.length;
    if (value === null) continue;
    row.set(value, at);
    at += value.length;
  }
  return row;
}

export function turnOf(row: Bytes): Turn {
  return TURNS[row[0] as number] ?? 'none';
}

/** The bytes of the entries are views into the row. */
export function unpackRow(row: Bytes, add: (key: Bytes, value: Bytes | null) => void): void {
  visitEntries(row, (at) => {
    const { key, value } = entryAt(row, at);
    add(key, value);
  });
}

/** Where the entries of a row begin. */
export function visitEntries(row: Bytes, visit: (at: number) => void): void {
  for (let at = 1; at < row.length; ) {
    visit(at);
    const valueBytes = row[at + 2] as number;
    at += HEAD_BYTES + keyBytesAt(row, at) + (valueBytes === DELETED ? 0 : valueBytes);
  }
}

/** The entry that begins there, as views into the bytes. */
export function entryAt(bytes: Bytes, at: number): GatheredEntry {
  const start = at + HEAD_BYTES;
  const keyEnd = start + keyBytesAt(bytes, at);
  const valueBytes = bytes[at + 2] as number;
  const value = valueBytes === DELETED ? null : bytes.subarray(keyEnd, keyEnd + valueBytes);
  return { key: bytes.subarray(start, keyEnd), value };
}

/** A number below 2^24 of the key of the entry that begins there: its bytes behind the first. Ascends with the keys. */
export function beginningAt(bytes: Bytes, at: number): number {
  const keyBytes = keyBytesAt(bytes, at);
  let beginning = 0;
  for (let byte = 1; byte <= BEGINNING_BYTES; byte++) {
    const next = byte < keyBytes ? (bytes[at + HEAD_BYTES + byte] as number) : 0;
    beginning = (beginning << 8) | next;
  }
  return beginning;
}

/** A number that keys seldom have in common. */
export function hashOf(key: Bytes): number {
  return hashWithin(key, 0, key.length);
}

/** Of the key of the entry that begins there. */
export function hashAt(bytes: Bytes, at: number): number {
  const start = at + HEAD_BYTES;
  return hashWithin(bytes, start, start + keyBytesAt(bytes, at));
}

/** FNV-1a. */
function hashWithin(bytes: Bytes, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash;
}

function keyBytesAt(bytes: Bytes, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}
