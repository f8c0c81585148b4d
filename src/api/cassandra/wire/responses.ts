/** The bodies of responses. */
import { type Bytes, EMPTY_BYTES } from '../../../base/index.ts';
import { CQL_CODES, type CqlError } from '../errors.ts';
import type { Cells, ResultColumn, SchemaChange, Variable } from '../statements/plan.ts';
import type { LocalNode } from '../system/system-rows.ts';
import { native } from '../types/cql-type.ts';
import { bytesOfJson } from '../types/values.ts';
import { writeType } from '../types/wire-type.ts';
import { BodyWriter } from './body-writer.ts';
import { OPCODES, type Response } from './envelope.ts';

const RESULT = { void: 1, rows: 2, keyspace: 3, prepared: 4, schemaChange: 5 } as const;
const GLOBAL_TABLE = 0x01;
const HAS_MORE_PAGES = 0x02;
const NO_METADATA = 0x04;
const METADATA_CHANGED = 0x08;

export const READY: Response = { opcode: OPCODES.ready, body: EMPTY_BYTES };

/** @param version - failures have a map of nodes and reasons since protocol 5, which is empty here. */
export function errorResponse({ cqlCode, message, detail }: CqlError, version: number): Response {
  const writer = new BodyWriter().int(CQL_CODES[cqlCode]).message(message);
  // Consistency ONE, one node needed; what was received and the kind of write.
  if (cqlCode === 'unavailable') writer.short(1).int(1).int(0);
  if (cqlCode === 'writeTimeout') writer.short(1).int(0).int(1).string('SIMPLE');
  if (cqlCode === 'readTimeout') writer.short(1).int(0).int(1).byte(0);
  if (cqlCode === 'writeFailure')
    writer
      .short(1)
      .int(0)
      .int(1)
      .int(version >= 5 ? 0 : 1)
      .string('SIMPLE');
  if (detail?.kind === 'existing') writer.string(detail.keyspace).string(detail.table);
  if (detail?.kind === 'unprepared') writer.shortBytes(detail.id);
  if (detail?.kind === 'function') {
    writer.string(detail.keyspace).string(detail.name).short(detail.types.length);
    for (const type of detail.types) writer.string(type);
  }
  return { opcode: OPCODES.error, body: writer.finish() };
}

export function authenticateResponse(authenticator: string): Response {
  return { opcode: OPCODES.authenticate, body: new BodyWriter().string(authenticator).finish() };
}

export const AUTH_SUCCESS: Response = {
  opcode: OPCODES.authSuccess,
  body: new BodyWriter().bytes(null).finish(),
};

export function supportedResponse(options: Readonly<Record<string, readonly string[]>>): Response {
  const entries = Object.entries(options);
  const writer = new BodyWriter().short(entries.length);
  for (const [name, values] of entries) writer.string(name).stringList(values);
  return { opcode: OPCODES.supported, body: writer.finish() };
}

export const VOID_RESPONSE: Response = {
  opcode: OPCODES.result,
  body: new BodyWriter().int(RESULT.void).finish(),
};

export function keyspaceResponse(name: string): Response {
  return result(new BodyWriter().int(RESULT.keyspace).string(name));
}

export function schemaChangeResponse(change: SchemaChange): Response {
  const writer = new BodyWriter().int(RESULT.schemaChange);
  return result(writeSchemaChange(writer, change));
}

export function schemaChangeEvent(change: SchemaChange): Response {
  const writer = new BodyWriter().string('SCHEMA_CHANGE');
  return { opcode: OPCODES.event, body: writeSchemaChange(writer, change).finish() };
}

/** @param change - UP or DOWN. */
export function statusChangeEvent(change: 'UP' | 'DOWN', { address, port }: LocalNode): Response {
  const writer = new BodyWriter().string('STATUS_CHANGE').string(change);
  const inet = bytesOfJson(native('inet'), address);
  writer.byte(inet.length).raw(inet).int(port);
  return { opcode: OPCODES.event, body: writer.finish() };
}

function writeSchemaChange(writer: BodyWriter, change: SchemaChange): BodyWriter {
  writer.string(change.change).string(change.target).string(change.keyspace);
  if (change.target === 'KEYSPACE') return writer;
  writer.string(change.name);
  const isFunction = change.target === 'FUNCTION' || change.target === 'AGGREGATE';
  return isFunction ? writer.stringList(change.argumentTypes ?? []) : writer;
}

interface RowsOptions {
  readonly version: number;
  readonly skipsMetadata: boolean;
  readonly pagingState: Bytes | undefined;
  /** Sent where the client has another; protocol 5. */
  readonly newMetadataId: Bytes | undefined;
}

export function rowsResponse(
  columns: readonly ResultColumn[],
  rows: readonly Cells[],
  options: RowsOptions,
): Response {
  const writer = new BodyWriter(1024).int(RESULT.rows);
  writeRowsMetadata(writer, columns, options);
  writer.int(rows.length);
  for (const row of rows) for (const cell of row) writer.bytes(cell);
  return result(writer);
}

function writeRowsMetadata(
  writer: BodyWriter,
  columns: readonly ResultColumn[],
  { version, skipsMetadata, pagingState, newMetadataId }: RowsOptions,
): void {
  const isLeftOut = skipsMetadata && newMetadataId === undefined;
  const hasGlobalTable = !isLeftOut && columns.length > 0;
  writer.int(
    (hasGlobalTable ? GLOBAL_TABLE : 0) |
      (pagingState === undefined ? 0 : HAS_MORE_PAGES) |
      (isLeftOut ? NO_METADATA : 0) |
      (newMetadataId === undefined ? 0 : METADATA_CHANGED),
  );
  writer.int(columns.length);
  if (pagingState !== undefined) writer.bytes(pagingState);
  if (newMetadataId !== undefined) writer.shortBytes(newMetadataId);
  if (!isLeftOut) writeColumns(writer, columns, version);
}

/** All columns are of one table. */
function writeColumns(
  writer: BodyWriter,
  columns: readonly (ResultColumn | Variable)[],
  version: number,
): void {
  const [first] = columns;
  if (first === undefined) return;
  writer.string(first.keyspace).string(first.table);
  for (const { name, type } of columns) {
    writer.string(name);
    writeType(writer, type, version);
  }
}

interface PreparedDescription {
  readonly id: Bytes;
  readonly metadataId: Bytes;
  readonly variables: readonly Variable[];
  readonly keyIndexes: readonly number[];
  readonly columns: readonly ResultColumn[] | undefined;
}

export function preparedResponse(prepared: PreparedDescription, version: number): Response {
  const { id, metadataId, variables, keyIndexes, columns } = prepared;
  const writer = new BodyWriter().int(RESULT.prepared).shortBytes(id);
  if (version >= 5) writer.shortBytes(metadataId);
  writer.int(variables.length > 0 ? GLOBAL_TABLE : 0).int(variables.length);
  if (version >= 4) {
    writer.int(keyIndexes.length);
    for (const index of keyIndexes) writer.short(index);
  }
  writeColumns(writer, variables, version);
  if (columns === undefined) writer.int(NO_METADATA).int(0);
  else {
    const options = {
      version,
      skipsMetadata: false,
      pagingState: undefined,
      newMetadataId: undefined,
    };
    writeRowsMetadata(writer, columns, options);
  }
  return result(writer);
}

function result(writer: BodyWriter): Response {
  return { opcode: OPCODES.result, body: writer.finish() };
}
