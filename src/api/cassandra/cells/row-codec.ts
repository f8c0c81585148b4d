/**
 * Rows to bytes and back. Names and types are in the bytes, so that a body can be read without its table.
 *   01 flags · partition key columns · clustering columns · [liveness] · [deletion] · columns · [ranges]
 *   flags   01 liveness, 02 deletion, 04 ranges
 *   key column   name, type, value
 *   column  name, type, flags (01 one cell, 02 deletion, 04 elements), the parts that the flags name
 *   cell    flags (01 tombstone, 02 expiring, 04 addition), timestamp, [ttl, seconds], [value]
 * Texts and values have their length before them; numbers are big-endian. Do not renumber.
 */
import { assert, type Bytes, bufferOf } from '../../../base/index.ts';
import { type CqlType, NATIVE_CODES, type NativeName, native } from '../types/cql-type.ts';
import { readType } from '../types/read-type.ts';
import { writeType } from '../types/wire-type.ts';
import { BodyReader } from '../wire/body-reader.ts';
import { BodyWriter } from '../wire/body-writer.ts';
import type { Cell, Column, Deletion, KeyColumn, Liveness, RangeTombstone, Row } from './row.ts';

const VERSION = 1;
const HAS_LIVENESS = 1;
const HAS_DELETION = 2;
const HAS_RANGES = 4;
const HAS_CELL = 1;
const HAS_ELEMENTS = 4;
const IS_TOMBSTONE = 1;
const IS_EXPIRING = 2;
const IS_ADDITION = 4;
/** Types that are not native follow as on the wire. */
const OTHER_TYPE = 0;
/** The wire form of types that stored rows use. */
const TYPE_VERSION = 5;

const NATIVE_BY_CODE: ReadonlyMap<number, CqlType> = new Map(
  Object.entries(NATIVE_CODES).map(([name, code]) => [code, native(name as NativeName)]),
);

export function encodeRow(row: Row): Bytes {
  const writer = new BodyWriter();
  const { liveness, deletion, ranges } = row;
  writer
    .byte(VERSION)
    .byte(
      (liveness === undefined ? 0 : HAS_LIVENESS) |
        (deletion === undefined ? 0 : HAS_DELETION) |
        (ranges.length === 0 ? 0 : HAS_RANGES),
    );
  writeKeyColumns(writer, row.partitionKey);
  writeKeyColumns(writer, row.clustering);
  if (liveness !== undefined)
    writer.long(liveness.timestamp).int(liveness.ttlSec).int(liveness.expiresAtSec);
  if (deletion !== undefined) writeDeletion(writer, deletion);
  writer.short(row.columns.size);
  for (const [name, column] of row.columns) writeColumn(writer, name, column);
  if (ranges.length > 0) {
    writer.short(ranges.length);
    for (const range of ranges) {
      writer.bytes(range.start).bytes(range.end ?? null);
      writeDeletion(writer, range);
    }
  }
  return writer.finish();
}

function writeKeyColumns(writer: BodyWriter, columns: readonly KeyColumn[]): void {
  writer.byte(columns.length);
  for (const { name, type, value } of columns) {
    writer.string(name);
    writeStoredType(writer, type);
    writer.bytes(value);
  }
}

/** The type of a stored value: one byte for a native one. */
export function writeStoredType(writer: BodyWriter, type: CqlType): void {
  if (type.kind === 'native') {
    writer.byte(NATIVE_CODES[type.name]);
    return;
  }
  writer.byte(OTHER_TYPE);
  writeType(writer, type, TYPE_VERSION);
}

function writeDeletion(writer: BodyWriter, { timestamp, atSec }: Deletion): void {
  writer.long(timestamp).int(atSec);
}

function writeColumn(writer: BodyWriter, name: string, column: Column): void {
  const { type, cell, deletion, elements } = column;
  writer.string(name);
  writeStoredType(writer, type);
  writer.byte(
    (cell === undefined ? 0 : HAS_CELL) |
      (deletion === undefined ? 0 : HAS_DELETION) |
      (elements === undefined ? 0 : HAS_ELEMENTS),
  );
  if (cell !== undefined) writeCell(writer, cell);
  if (deletion !== undefined) writeDeletion(writer, deletion);
  if (elements === undefined) return;
  writer.int(elements.size);
  for (const [path, element] of elements) {
    writer.bytes(Buffer.from(path, 'latin1'));
    writeCell(writer, element);
  }
}

function writeCell(writer: BodyWriter, cell: Cell): void {
  const isTombstone = cell.value === undefined;
  writer.byte(
    (isTombstone ? IS_TOMBSTONE : 0) |
      (cell.ttlSec > 0 ? IS_EXPIRING : 0) |
      (cell.isAddition === true ? IS_ADDITION : 0),
  );
  writer.long(cell.timestamp);
  if (isTombstone || cell.ttlSec > 0) writer.int(cell.ttlSec).int(cell.localSec);
  if (cell.value !== undefined) writer.bytes(cell.value);
}

/** The row shares memory with `bytes`. */
export function decodeRow(bytes: Bytes): Row {
  const reader = new BodyReader(bufferOf(bytes));
  assert(reader.byte() === VERSION, 'a row of this format');
  const flags = reader.byte();
  const partitionKey = readKeyColumns(reader);
  const clustering = readKeyColumns(reader);
  const liveness = (flags & HAS_LIVENESS) !== 0 ? readLiveness(reader) : undefined;
  const deletion = (flags & HAS_DELETION) !== 0 ? readDeletion(reader) : undefined;
  const columns = new Map<string, Column>();
  for (let left = reader.short(); left > 0; left--)
    columns.set(reader.string(), readColumn(reader));
  const ranges: RangeTombstone[] = [];
  if ((flags & HAS_RANGES) !== 0)
    for (let left = reader.short(); left > 0; left--) ranges.push(readRange(reader));
  return {
    partitionKey,
    clustering,
    ...(liveness === undefined ? {} : { liveness }),
    ...(deletion === undefined ? {} : { deletion }),
    columns,
    ranges,
  };
}

function readKeyColumns(reader: BodyReader): readonly KeyColumn[] {
  return Array.from({ length: reader.byte() }, () => ({
    name: reader.string(),
    type: readStoredType(reader),
    value: present(reader.bytes()),
  }));
}

export function readStoredType(reader: BodyReader): CqlType {
  const code = reader.byte();
  return code === OTHER_TYPE ? readType(reader) : present(NATIVE_BY_CODE.get(code));
}

function readLiveness(reader: BodyReader): Liveness {
  return { timestamp: reader.long(), ttlSec: reader.int(), expiresAtSec: reader.int() };
}

function readDeletion(reader: BodyReader): Deletion {
  return { timestamp: reader.long(), atSec: reader.int() };
}

function readRange(reader: BodyReader): RangeTombstone {
  const start = present(reader.bytes());
  const end = reader.bytes() ?? undefined;
  return { start, end, ...readDeletion(reader) };
}

function readColumn(reader: BodyReader): Column {
  const type = readStoredType(reader);
  const flags = reader.byte();
  const cell = (flags & HAS_CELL) !== 0 ? readCell(reader) : undefined;
  const deletion = (flags & HAS_DELETION) !== 0 ? readDeletion(reader) : undefined;
  const elements = (flags & HAS_ELEMENTS) !== 0 ? readElements(reader) : undefined;
  return {
    type,
    ...(cell === undefined ? {} : { cell }),
    ...(deletion === undefined ? {} : { deletion }),
    ...(elements === undefined ? {} : { elements }),
  };
}

function readElements(reader: BodyReader): ReadonlyMap<string, Cell> {
  const elements = new Map<string, Cell>();
  for (let left = reader.int(); left > 0; left--)
    elements.set(bufferOf(present(reader.bytes())).toString('latin1'), readCell(reader));
  return elements;
}

function readCell(reader: BodyReader): Cell {
  const flags = reader.byte();
  const timestamp = reader.long();
  const hasTimes = (flags & (IS_TOMBSTONE | IS_EXPIRING)) !== 0;
  const ttlSec = hasTimes ? reader.int() : 0;
  const localSec = hasTimes ? reader.int() : 0;
  const value = (flags & IS_TOMBSTONE) !== 0 ? undefined : present(reader.bytes());
  const cell = { timestamp, value, ttlSec, localSec };
  return (flags & IS_ADDITION) !== 0 ? { ...cell, isAddition: true } : cell;
}

function present<T>(value: T | null | undefined): T {
  assert(value !== null && value !== undefined, 'a stored row is whole');
  return value;
}
