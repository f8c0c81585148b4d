/** Names a partition in what is stored of transactions: by a key of its container, which splits and merges keep. */
import { type Bytes, readU32 } from '../../base/index.ts';
import type { Epk } from '../../value/index.ts';
import type { ContainerName } from '../container/container-name.ts';

export interface PartitionLocator {
  readonly container: ContainerName;
  readonly epk: Epk;
}

export function encodeLocator({ container: { databaseRid, rid }, epk }: PartitionLocator): Bytes {
  const bytes = Buffer.alloc(8 + epk.length);
  bytes.writeUInt32BE(databaseRid, 0);
  bytes.writeUInt32BE(rid, 4);
  bytes.set(epk, 8);
  return bytes;
}

export function decodeLocator(bytes: Bytes): PartitionLocator {
  const container = { databaseRid: readU32(bytes, 0), rid: readU32(bytes, 4) };
  return { container, epk: bytes.slice(8) };
}
