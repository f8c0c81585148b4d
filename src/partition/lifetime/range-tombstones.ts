/**
 * The stored form of the range tombstones that are not swept yet. Version 1; do not renumber.
 *
 *   version u8, then per range tombstone: lsn u48, length of start u16, length of end u16, start, end
 */
import { type Bytes, bufferOf, concatBytes, DomainError } from '../../base/index.ts';
import type { RangeTombstone } from './invisible-items.ts';

const VERSION = 1;
const HEADER_BYTES = 10;

export function encodeRangeTombstones(tombstones: readonly RangeTombstone[]): Bytes {
  const parts: Bytes[] = [Uint8Array.of(VERSION)];
  for (const { lsn, start, end } of tombstones) {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUIntBE(lsn, 0, 6);
    header.writeUInt16BE(start.length, 6);
    header.writeUInt16BE(end.length, 8);
    parts.push(header, start, end);
  }
  return concatBytes(...parts);
}

export function decodeRangeTombstones(bytes: Bytes | undefined): readonly RangeTombstone[] {
  if (bytes === undefined) return [];
  if (bytes[0] !== VERSION)
    throw new DomainError(
      'unavailable',
      `Range tombstones of version ${bytes[0]} are not understood.`,
    );
  const view = bufferOf(bytes);
  const tombstones: RangeTombstone[] = [];
  for (let at = 1; at < view.length; ) {
    const startAt = at + HEADER_BYTES;
    const endAt = startAt + view.readUInt16BE(at + 6);
    const next = endAt + view.readUInt16BE(at + 8);
    tombstones.push({
      lsn: view.readUIntBE(at, 6),
      start: Uint8Array.from(view.subarray(startAt, endAt)),
      end: Uint8Array.from(view.subarray(endAt, next)),
    });
    at = next;
  }
  return tombstones;
}
