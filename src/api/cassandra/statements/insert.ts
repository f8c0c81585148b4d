/** INSERT: a row with a mark that it exists, and its columns. */
import { type Bytes, bytesToText } from '../../../base/index.ts';
import type { InsertStatement } from '../cql/ast.ts';
import { CqlError, invalid } from '../errors.ts';
import type { Table } from '../schema/keyspaces.ts';
import type { ColumnSchema, TableSchema } from '../schema/table-schema.ts';
import { native } from '../types/cql-type.ts';
import { JsonNumber, type JsonValue, parseJson } from '../types/json-text.ts';
import { jsonBytes, withPlainNames } from '../types/json-values.ts';
import { type BoundValue, UNSET } from '../wire/body-reader.ts';
import { comparedValue, compileTerm } from './expressions/compile.ts';
import type { ModificationContext, WriteDefaults } from './modification.ts';
import type { Call } from './plan.ts';
import { ChangeBuilder, keyColumns, type RowWrite } from './row-write.ts';
import { columnNamed } from './scope.ts';
import { checkPartitionKey } from './where/key-selection.ts';

/** The value of each column that the statement names. */
type RowValues = (call: Call) => ReadonlyMap<string, BoundValue>;

export function compileInsert(
  { source }: InsertStatement,
  context: ModificationContext,
): (call: Call, table: Table, defaults: WriteDefaults) => readonly RowWrite[] {
  const { schema } = context;
  if (schema.isCounter)
    throw invalid('INSERT statements are not allowed on counter tables, use UPDATE instead');
  const values =
    source.kind === 'values' ? namedValues(source, context) : jsonValues(source, context);
  return (call, table, defaults) => {
    const given = values(call);
    const times = context.times(call, defaults);
    const partition = keysOf(schema.partitionKey, given);
    checkPartitionKey(schema, partition);
    const statics = changedColumns(schema.statics, given);
    const regulars = changedColumns(schema.regulars, given);
    const named = schema.clustering.filter(({ name }) => given.has(name));
    const writes: RowWrite[] = [];
    const partitionKey = keyColumns(schema.partitionKey, partition);
    const common = { table, partition, conditions: 'none' as const, lists: [], hides: undefined };
    // Static columns may be written without naming a row.
    const isRow = named.length > 0 || schema.clustering.length === 0 || schema.statics.length === 0;
    if (isRow) {
      const clustering = keysOf(named, given);
      const builder = new ChangeBuilder(times);
      if (!schema.isCompact || schema.regulars.length === 0) builder.markAlive();
      for (const [column, value] of regulars) builder.set(column, value);
      const change = builder.finish(partitionKey, keyColumns(schema.clustering, clustering));
      writes.push({ ...common, clustering, change });
    }
    if (statics.length > 0) {
      const builder = new ChangeBuilder(times);
      for (const [column, value] of statics) builder.set(column, value);
      writes.push({ ...common, clustering: undefined, change: builder.finish(partitionKey, []) });
    }
    return writes;
  };
}

function namedValues(
  { columns, terms }: Extract<InsertStatement['source'], { kind: 'values' }>,
  context: ModificationContext,
): RowValues {
  const { schema, scope } = context;
  if (columns.length === 0) throw invalid('No columns provided to INSERT');
  if (columns.length !== terms.length) throw invalid('Unmatched column names/values');
  if (new Set(columns).size < columns.length) throw invalid('The column names contains duplicates');
  const compiled = columns.map((name, at) => {
    const column = columnNamed(schema, name);
    const term = terms[at] as (typeof terms)[number];
    if (term.kind === 'bind' && column.kind === 'partition_key')
      scope.keyMarkers.set(name, term.index);
    return [name, compileTerm(term, column, context)] as const;
  });
  checkKeys(schema, columns);
  return (call) => new Map(compiled.map(([name, value]) => [name, value(call)]));
}

/** Which key columns an INSERT must name. */
function checkKeys(schema: TableSchema, names: readonly string[]): void {
  const missing = schema.partitionKey.filter(({ name }) => !names.includes(name));
  if (missing.length > 0)
    throw invalid(
      `Some partition key parts are missing: ${missing.map(({ name }) => name).join(', ')}`,
    );
  const kinds = names.map((name) => schema.column(name)?.kind);
  const isStaticOnly =
    kinds.includes('static') && !kinds.includes('regular') && !kinds.includes('clustering');
  const [firstAbsent] = schema.clustering.filter(({ name }) => !names.includes(name));
  const skipping =
    schema.isCompact && firstAbsent
      ? schema.clustering.find(
          ({ name, position }) => position > firstAbsent.position && names.includes(name),
        )
      : undefined;
  if (skipping !== undefined && firstAbsent !== undefined)
    throw invalid(
      `PRIMARY KEY column "${skipping.name}" cannot be restricted as preceding column "${firstAbsent.name}" is not restricted`,
    );
  const absent = schema.clustering.filter(({ name }) => !names.includes(name));
  const isPrefix = schema.isCompact && absent.length < schema.clustering.length;
  if (absent.length > 0 && !isStaticOnly && !isPrefix)
    throw invalid(`Some clustering keys are missing: ${absent.map(({ name }) => name).join(', ')}`);
  const [only] = schema.regulars;
  if (schema.isCompact && schema.clustering.length > 0 && only && !names.includes(only.name))
    throw invalid(`Column ${only.name} is mandatory for this COMPACT STORAGE table`);
}

function jsonValues(
  { term, keepsUnset }: Extract<InsertStatement['source'], { kind: 'json' }>,
  context: ModificationContext,
): RowValues {
  const { schema } = context;
  const text = compileTerm(term, { name: '[json]', type: native('text') }, context);
  return (call) => {
    const bytes = text(call);
    if (bytes === null || bytes === UNSET) throw invalid('Got null for INSERT JSON values');
    const document = documentOf(bytesToText(bytes));
    const unknown = [...document.keys()].find((name) => schema.column(name) === undefined);
    if (unknown !== undefined)
      throw invalid(`JSON values map contains unrecognized column: ${unknown}`);
    const values = new Map<string, BoundValue>();
    for (const column of schema.columns) {
      const value = document.get(column.name);
      const isAbsent = value === undefined;
      if (isAbsent && keepsUnset && !isKey(column)) continue;
      values.set(
        column.name,
        value === null || value === undefined ? null : columnBytes(column, value),
      );
    }
    return values;
  };
}

function columnBytes({ name, type }: ColumnSchema, value: JsonValue): Bytes {
  try {
    return jsonBytes(type, value);
  } catch (error) {
    if (!(error instanceof CqlError)) throw error;
    throw invalid(`Error decoding JSON value for ${name}: ${error.message}`);
  }
}

function documentOf(text: string): ReadonlyMap<string, JsonValue> {
  const refuse = (why: string) =>
    invalid(`Could not decode JSON string as a map: ${why}. (String was: ${text})`);
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof CqlError)) throw error;
    throw refuse(error.message);
  }
  if (value === null) throw invalid('Got null for INSERT JSON values');
  if (typeof value !== 'object' || Array.isArray(value) || value instanceof JsonNumber)
    throw refuse('it is no map');
  return withPlainNames(value as { readonly [name: string]: JsonValue });
}

function isKey({ kind }: ColumnSchema): boolean {
  return kind === 'partition_key' || kind === 'clustering';
}

function keysOf(
  columns: readonly ColumnSchema[],
  given: ReadonlyMap<string, BoundValue>,
): readonly Bytes[] {
  return columns.map(({ name }) => comparedValue(given.get(name) ?? null, name));
}

/** Columns that are set or deleted; unset ones stay as they are. */
function changedColumns(
  columns: readonly ColumnSchema[],
  given: ReadonlyMap<string, BoundValue>,
): readonly (readonly [ColumnSchema, Bytes | null])[] {
  return columns.flatMap((column) => {
    const value = given.get(column.name);
    return value === undefined || value === UNSET ? [] : [[column, value] as const];
  });
}
