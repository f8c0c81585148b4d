/**
 * The argument bytes of the updaters: a change of one row or header, and the conditions under which it is made.
 *   02 · change (a row) · encoded row key · grace seconds · conditions · changes of lists
 *   conditions   0 none, 1 the row exists, 2 it does not, 3 a list of comparisons
 *   change of a list   column, kind (0 set at, 1 delete at, 2 discard, 3 put), index, values, cell times
 * A decision may be made again or elsewhere: everything it needs is in these bytes and in the rows.
 */
import { assert, type Bytes, bufferOf } from '../../../base/index.ts';
import type { Comparison } from '../cql/ast.ts';
import type { CqlType } from '../types/cql-type.ts';
import { BodyReader } from '../wire/body-reader.ts';
import { BodyWriter } from '../wire/body-writer.ts';
import type { Row } from './row.ts';
import { decodeRow, encodeRow, readStoredType, writeStoredType } from './row-codec.ts';

export interface Mutation {
  readonly change: Row;
  /** The encoded row key, which ranges of deletions are compared with; empty for a header. */
  readonly rowKey: Bytes;
  readonly graceSec: number;
  readonly conditions: RowConditions;
  readonly lists: readonly ListChange[];
}

/** A change of a list that depends on what is in it: by index, or of all elements with some values. */
export interface ListChange {
  readonly column: string;
  readonly type: CqlType;
  readonly kind: 'setAt' | 'deleteAt' | 'discard' | 'put';
  readonly index: number;
  /** The new element, or those that are taken out; for `put` place and value of each, alternating. */
  readonly values: readonly Bytes[];
  readonly timestamp: bigint;
  readonly ttlSec: number;
  readonly nowSec: number;
}

const LIST_KINDS: readonly ListChange['kind'][] = ['setAt', 'deleteAt', 'discard', 'put'];

export type RowConditions = 'none' | 'exists' | 'notExists' | readonly RowCondition[];

export interface RowCondition {
  readonly column: string;
  readonly type: CqlType;
  readonly isStatic: boolean;
  /** A collection with a cell for each element: it is null where it is empty. */
  readonly isMultiCell: boolean;
  /** The key of a map or the index of a list, whose element is compared. */
  readonly element: Bytes | undefined;
  /** The place of a field of a type of a client. */
  readonly field: number | undefined;
  readonly operator: Comparison | 'IN' | 'CONTAINS' | 'CONTAINS KEY';
  /** One, or several for IN. */
  readonly operands: readonly (Bytes | null)[];
}

const VERSION = 2;
const NO_FIELD = 0xffff;
const OPERATORS: readonly RowCondition['operator'][] = [
  '=',
  '<',
  '<=',
  '>',
  '>=',
  '!=',
  'IN',
  'CONTAINS',
  'CONTAINS KEY',
];

export function encodeMutation(mutation: Mutation): Bytes {
  const { change, rowKey, graceSec, conditions, lists } = mutation;
  const writer = new BodyWriter();
  writer.byte(VERSION).bytes(encodeRow(change)).bytes(rowKey).int(graceSec);
  writeConditions(writer, conditions);
  writer.short(lists.length);
  for (const list of lists) {
    writer.string(list.column);
    writeStoredType(writer, list.type);
    writer.byte(LIST_KINDS.indexOf(list.kind)).int(list.index).short(list.values.length);
    for (const value of list.values) writer.bytes(value);
    writer.long(list.timestamp).int(list.ttlSec).int(list.nowSec);
  }
  return writer.finish();
}

function writeConditions(writer: BodyWriter, conditions: RowConditions): void {
  if (typeof conditions === 'string') {
    writer.byte(conditions === 'none' ? 0 : conditions === 'exists' ? 1 : 2);
    return;
  }
  writer.byte(3).short(conditions.length);
  for (const condition of conditions) {
    writer.string(condition.column);
    writeStoredType(writer, condition.type);
    writer
      .byte((condition.isStatic ? 1 : 0) | (condition.isMultiCell ? 2 : 0))
      .byte(OPERATORS.indexOf(condition.operator));
    writer.bytes(condition.element ?? null).short(condition.field ?? NO_FIELD);
    writer.short(condition.operands.length);
    for (const operand of condition.operands) writer.bytes(operand);
  }
}

export function decodeMutation(args: Bytes): Mutation {
  const reader = new BodyReader(bufferOf(args));
  assert(reader.byte() === VERSION, 'arguments of this format');
  const change = decodeRow(reader.bytes() as Bytes);
  const rowKey = reader.bytes() as Bytes;
  const graceSec = reader.int();
  const conditions = readConditions(reader);
  const lists = Array.from({ length: reader.short() }, (): ListChange => {
    const column = reader.string();
    const type = readStoredType(reader);
    const kind = LIST_KINDS[reader.byte()] ?? 'discard';
    const index = reader.int();
    const values = Array.from({ length: reader.short() }, () => reader.bytes() as Bytes);
    const [timestamp, ttlSec, nowSec] = [reader.long(), reader.int(), reader.int()];
    return { column, type, kind, index, values, timestamp, ttlSec, nowSec };
  });
  return { change, rowKey, graceSec, conditions, lists };
}

function readConditions(reader: BodyReader): RowConditions {
  const kind = reader.byte();
  if (kind < 3) return (['none', 'exists', 'notExists'] as const)[kind] ?? 'none';
  return Array.from({ length: reader.short() }, () => {
    const column = reader.string();
    const type = readStoredType(reader);
    const flags = reader.byte();
    const operator = OPERATORS[reader.byte()] ?? '=';
    const element = reader.bytes() ?? undefined;
    const field = reader.short();
    const operands = Array.from({ length: reader.short() }, () => reader.bytes());
    return {
      column,
      type,
      isStatic: (flags & 1) !== 0,
      isMultiCell: (flags & 2) !== 0,
      element,
      field: field === NO_FIELD ? undefined : field,
      operator,
      operands,
    };
  });
}
