/** How many writes of a transaction one command takes. */
import {
  SCRIPT_WRITE_BYTES_MAX,
  TRANSACTION_CHUNK_BYTES,
  TRANSACTION_CHUNK_ITEMS,
} from '../../base/index.ts';
import { COMMAND_KEYS_MAX } from '../../partition/index.ts';
import { bodyOf, type TransactionEntry } from './transaction-entry.ts';

/** Whether a partition takes all of its items at once, without a second phase. */
export function fitsCommand({
  entries,
}: {
  readonly entries: readonly TransactionEntry[];
}): boolean {
  let bytes = 0;
  for (const entry of entries) bytes += bodyOf(entry)?.length ?? 0;
  return entries.length <= COMMAND_KEYS_MAX && bytes <= SCRIPT_WRITE_BYTES_MAX;
}

/** Items that are prepared by one command each. */
export function* chunksOf(
  entries: readonly TransactionEntry[],
): Generator<readonly TransactionEntry[]> {
  let chunk: TransactionEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    chunk.push(entry);
    bytes += bodyOf(entry)?.length ?? 0;
    if (chunk.length < TRANSACTION_CHUNK_ITEMS && bytes < TRANSACTION_CHUNK_BYTES) continue;
    yield chunk;
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield chunk;
}
