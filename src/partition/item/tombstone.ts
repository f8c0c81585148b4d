/** The log entry of a deleted item. Stored as timestamp u32, primary key. */
import { type Bytes, bufferOf } from '../../base/index.ts';

interface Tombstone {
  readonly timestampSec: number;
  readonly primary: Bytes;
}

export function encodeTombstone(tombstone: Tombstone): Bytes {
  const bytes = Buffer.allocUnsafe(4 + tombstone.primary.length);
  bytes.writeUInt32BE(tombstone.timestampSec, 0);
  bytes.set(tombstone.primary, 4);
  return bytes;
}

export function decodeTombstone(bytes: Bytes): Tombstone {
  const view = bufferOf(bytes);
  return { timestampSec: view.readUInt32BE(0), primary: view.subarray(4) };
}
