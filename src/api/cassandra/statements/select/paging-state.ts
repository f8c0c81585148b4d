/**
 * Where the next page of a SELECT begins. It names keys and counts, never partitions, so it stays valid over splits and
 * restarts.
 *   01 · fingerprint of the statement · partition · slice · flags · left · left in the partition · continuation · key
 *   and, with GROUP BY, the last group
 */
import { type Bytes, bufferOf, murmur3x86_32, textToBytes } from '../../../../base/index.ts';
import { CqlError, protocolError } from '../../errors.ts';
import { BodyReader } from '../../wire/body-reader.ts';
import { BodyWriter } from '../../wire/body-writer.ts';

export interface Position {
  /** Among the partitions that the statement names; 0 for a scan. */
  readonly partition: number;
  readonly slice: number;
  /** Where the scan of the core goes on. */
  readonly continuation: string | undefined;
  /** The partition in which a scan is, if it is in one. */
  readonly key: readonly Bytes[] | undefined;
  /** Whether a row of this partition was found before. */
  readonly hasRows: boolean;
}

export interface PagingState extends Position {
  /** Rows, or groups, that LIMIT still allows; undefined: any number. */
  readonly left: number | undefined;
  /** Rows, or groups, that PER PARTITION LIMIT still allows in this partition. */
  readonly leftInPartition: number | undefined;
  /** The clustering columns of the last group of this partition that was returned. */
  readonly group?: readonly Bytes[] | undefined;
}

export const BEGINNING: Position = {
  partition: 0,
  slice: 0,
  continuation: undefined,
  key: undefined,
  hasRows: false,
};

/** Behind the last row. */
export const END: Position = { ...BEGINNING, partition: 0x7fffffff };

const VERSION = 1;
const NONE = -1;

export function encodePagingState(state: PagingState, statement: string): Bytes {
  const writer = new BodyWriter().byte(VERSION).int(murmur3x86_32(textToBytes(statement)));
  writer
    .int(state.partition)
    .int(state.slice)
    .byte(state.hasRows ? 1 : 0);
  writer.int(state.left ?? NONE).int(state.leftInPartition ?? NONE);
  writer.bytes(state.continuation === undefined ? null : textToBytes(state.continuation));
  writer.short(state.key?.length ?? 0);
  for (const column of state.key ?? []) writer.bytes(column);
  if (state.group !== undefined) {
    writer.short(state.group.length);
    for (const column of state.group) writer.bytes(column);
  }
  return writer.finish();
}

/** Clients may send anything: what is no state of this statement is refused. */
export function decodePagingState(bytes: Bytes, statement: string): PagingState {
  try {
    const reader = new BodyReader(bufferOf(bytes));
    if (reader.byte() !== VERSION || reader.int() !== (murmur3x86_32(textToBytes(statement)) | 0))
      throw invalidState();
    const partition = reader.int();
    const slice = reader.int();
    const hasRows = reader.byte() === 1;
    const left = reader.int();
    const leftInPartition = reader.int();
    const continuation = reader.bytes();
    const columns = () => Array.from({ length: reader.short() }, () => columnOf(reader));
    const key = columns();
    const group = reader.isAtEnd ? undefined : columns();
    if (partition < 0 || slice < 0 || !reader.isAtEnd) throw invalidState();
    return {
      partition,
      slice,
      hasRows,
      left: left < 0 ? undefined : left,
      leftInPartition: leftInPartition < 0 ? undefined : leftInPartition,
      continuation: continuation === null ? undefined : bufferOf(continuation).toString('utf8'),
      key: key.length === 0 ? undefined : key,
      group,
    };
  } catch (error) {
    if (error instanceof CqlError || error instanceof RangeError) throw invalidState();
    throw error;
  }
}

function columnOf(reader: BodyReader): Bytes {
  const column = reader.bytes();
  if (column === null) throw invalidState();
  return column;
}

function invalidState(): CqlError {
  return protocolError('Invalid value for the paging state');
}
