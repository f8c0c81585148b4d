/** The size of a batch over partitions, which Cassandra warns of and then refuses. */
import { bytesToLatin1 } from '../../../base/index.ts';
import type { Cell, Row } from '../cells/row.ts';
import { invalid } from '../errors.ts';
import { BATCH_FAIL_BYTES, BATCH_WARN_BYTES, UNLOGGED_BATCH_WARN_PARTITIONS } from '../limits.ts';
import type { RowWrite } from './row-write.ts';

/**
 * Warnings for the client. A batch of one partition is one write, whatever its size.
 * @param isLogged - all writes are made or none.
 */
export function batchWarnings(writes: readonly RowWrite[], isLogged: boolean): readonly string[] {
  const partitions = new Set(writes.map(partitionText));
  if (partitions.size < 2) return [];
  let bytes = 0;
  for (const { change } of writes) bytes += changeBytes(change);
  if (bytes > BATCH_FAIL_BYTES) throw invalid('Batch too large');
  const names = [
    ...new Set(writes.map(({ table: { schema } }) => `${schema.keyspace}.${schema.name}`)),
  ];
  const tables = `[${names.join(', ')}]`;
  const warnings: string[] = [];
  if (bytes > BATCH_WARN_BYTES)
    warnings.push(
      `Batch for ${tables} is of size ${bytes}, exceeding specified threshold of ${BATCH_WARN_BYTES} by ${bytes - BATCH_WARN_BYTES}.`,
    );
  if (!isLogged && partitions.size > UNLOGGED_BATCH_WARN_PARTITIONS)
    warnings.push(
      `Unlogged batch covering ${partitions.size} partitions detected against table${names.length === 1 ? '' : 's'} ${tables}. You should use a logged batch for atomicity, or asynchronous writes for performance.`,
    );
  return warnings;
}

/** Tables of one keyspace share a write where their partition keys have the same bytes. */
function partitionText({ table: { schema }, partition }: RowWrite): string {
  return `${schema.keyspace}/${partition.map(bytesToLatin1).join('\u0100')}`;
}

const TIMESTAMP_BYTES = 8;
/** The end of a cell, or when it was deleted, and how long it lives. */
const SECONDS_BYTES = 4;

/** As Cassandra counts: values and their times, without the partition key. */
function changeBytes({ clustering, liveness, columns }: Row): number {
  let bytes = liveness === undefined ? 0 : TIMESTAMP_BYTES;
  for (const { value } of clustering) bytes += value.length;
  for (const { cell, elements } of columns.values()) {
    if (cell !== undefined) bytes += cellBytes(cell);
    for (const [path, element] of elements ?? []) bytes += path.length + cellBytes(element);
  }
  return bytes;
}

function cellBytes({ value, ttlSec }: Cell): number {
  if (value === undefined) return TIMESTAMP_BYTES + SECONDS_BYTES;
  return TIMESTAMP_BYTES + value.length + (ttlSec === 0 ? 0 : 2 * SECONDS_BYTES);
}
