/**
 * What is stored of transactions over partitions. Format version 1; do not renumber.
 *
 *   prepared 0     version1 · deadline8 · coordinator                 the transaction, where others find its outcome
 *   prepared n     version1 · kind1 · length2 · primary key           kind 0: read, 1: create, 2: delete, 3: replace
 *                  create, replace: length1 · encoding · ttl4 · flags1 · body
 *   outcome        version1 · kind1 · deadline8 · length2 · epk       kind 1: committed, 2: aborted
 *                  count2 · (length2 · participant) …
 *
 * The partition does not interpret coordinators and participants: the layer above finds partitions by them.
 */
import { assert, type Bytes, readU16, readU64 } from '../../base/index.ts';
import type { Encoding, Epk } from '../../value/index.ts';
import type { Put } from '../commit/command/write-command.ts';
import type { ItemKey } from '../item/item.ts';
import { itemKeyOf } from '../item/keyspace.ts';

const VERSION = 1;
const KINDS = ['read', 'create', 'delete', 'replace'] as const;
const COMMITTED = 1;
const ABORTED = 2;

/** One item of a prepared transaction. */
export type PreparedOp =
  | { readonly kind: 'read' | 'delete'; readonly key: ItemKey }
  | { readonly kind: 'create' | 'replace'; readonly key: ItemKey; readonly put: Put };

export interface PreparedHeader {
  /** Names the partition that has the outcome. */
  readonly coordinator: Bytes;
  /** The transaction is not committed after this time. */
  readonly deadlineMs: number;
}

export interface Outcome {
  readonly isCommitted: boolean;
  readonly deadlineMs: number;
  /** The place of the outcome in the hash space: splits move it as they move items. */
  readonly epk: Epk;
  /** Names of the partitions that may still have the transaction prepared. */
  readonly participants: readonly Bytes[];
}

export function encodeHeader({ coordinator, deadlineMs }: PreparedHeader): Bytes {
  const bytes = Buffer.alloc(9 + coordinator.length);
  bytes[0] = VERSION;
  writeU64(bytes, deadlineMs, 1);
  bytes.set(coordinator, 9);
  return bytes;
}

export function decodeHeader(bytes: Bytes): PreparedHeader {
  checkVersion(bytes);
  return { deadlineMs: readU64(bytes, 1), coordinator: bytes.slice(9) };
}

export function encodeOp(op: PreparedOp): Bytes {
  const { primary } = op.key;
  const head = Buffer.alloc(4);
  head[0] = VERSION;
  head[1] = KINDS.indexOf(op.kind);
  head.writeUInt16BE(primary.length, 2);
  if (!('put' in op)) return Buffer.concat([head, primary]);
  const { encoding, ttlSec, flags = 0, body } = op.put;
  const options = Buffer.alloc(6 + encoding.length);
  options[0] = encoding.length;
  options.write(encoding, 1, 'latin1');
  options.writeInt32BE(ttlSec, 1 + encoding.length);
  options[5 + encoding.length] = flags;
  return Buffer.concat([head, primary, options, body]);
}

export function decodeOp(bytes: Bytes): PreparedOp {
  checkVersion(bytes);
  const kind = KINDS[bytes[1] as number];
  assert(kind !== undefined, 'prepared: unknown kind');
  const end = 4 + readU16(bytes, 2);
  const key = itemKeyOf(bytes.slice(4, end));
  if (kind === 'read' || kind === 'delete') return { kind, key };
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const optionsAt = end + 1 + (bytes[end] as number);
  const encoding = view.toString('latin1', end + 1, optionsAt) as Encoding;
  const ttlSec = view.readInt32BE(optionsAt);
  const flags = view[optionsAt + 4] as number;
  const body = bytes.slice(optionsAt + 5);
  return { kind, key, put: { kind: 'put', key, encoding, ttlSec, flags, body } };
}

export function encodeOutcome({ isCommitted, deadlineMs, epk, participants }: Outcome): Bytes {
  const head = Buffer.alloc(12);
  head[0] = VERSION;
  head[1] = isCommitted ? COMMITTED : ABORTED;
  writeU64(head, deadlineMs, 2);
  head.writeUInt16BE(epk.length, 10);
  const parts: Bytes[] = [head, epk, u16(participants.length)];
  for (const participant of participants) parts.push(u16(participant.length), participant);
  return Buffer.concat(parts);
}

export function decodeOutcome(bytes: Bytes): Outcome {
  checkVersion(bytes);
  let at = 12 + readU16(bytes, 10);
  const epk = bytes.slice(12, at);
  const count = readU16(bytes, at);
  at += 2;
  const participants = Array.from({ length: count }, () => {
    const start = at + 2;
    at = start + readU16(bytes, at);
    return bytes.slice(start, at);
  });
  const isCommitted = bytes[1] === COMMITTED;
  return { isCommitted, deadlineMs: readU64(bytes, 2), epk, participants };
}

function checkVersion(bytes: Bytes): void {
  assert(bytes[0] === VERSION, 'prepared: unknown version');
}

function u16(value: number): Bytes {
  return Uint8Array.of(value >>> 8, value & 0xff);
}

function writeU64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), at);
  bytes.writeUInt32BE(value >>> 0, at + 4);
}
