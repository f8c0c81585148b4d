/** The token of a row's partition key, as drivers compute it too. */
import type { Bytes } from '../../../base/index.ts';
import { cassandraToken } from '../../../value/index.ts';

/** The bounds of the ring; no key has the least token. */
export const TOKEN_MIN = -(1n << 63n);
export const TOKEN_MAX = (1n << 63n) - 1n;

/** @param columns - the values of the partition key, all of them. */
export function tokenOf(columns: readonly Bytes[]): bigint {
  return cassandraToken(partitionKeyBytes(columns));
}

/** The bytes that are hashed: of one column as they are, of several each with its length and a zero. */
function partitionKeyBytes(columns: readonly Bytes[]): Bytes {
  const [only] = columns;
  if (columns.length === 1 && only !== undefined) return only;
  const parts: Bytes[] = [];
  for (const column of columns)
    parts.push(Uint8Array.of(column.length >> 8, column.length & 0xff), column, ZERO);
  return Buffer.concat(parts);
}

const ZERO = Uint8Array.of(0);
