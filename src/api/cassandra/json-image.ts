/**
 * Rows as documents of the NoSQL API: columns by name with their JSON, and an id. The id is the clustering key: the text
 * of one column, a JSON array of several, and where there is none the same of the partition key.
 */
import type { Bytes, Clock } from '../../base/index.ts';
import type { HomeApi } from '../../service/index.ts';
import type { Value, ValueMap } from '../../value/index.ts';
import { encodeRow } from './cells/row-codec.ts';
import { invalid } from './errors.ts';
import { addressValues } from './schema/table-keys.ts';
import type { ColumnSchema, TableSchema } from './schema/table-schema.ts';
import { ChangeBuilder, keyColumns } from './statements/row-write.ts';
import { isNative } from './types/cql-type.ts';
import { bytesOfJson } from './types/values.ts';

type JsonImage = NonNullable<HomeApi['image']>;
type SchemaOf = (container: Parameters<JsonImage['view']>[2]) => TableSchema;

export function jsonImage(schemaOf: SchemaOf, clock: Clock): JsonImage {
  return {
    added: ['id'],
    view(_, value, container) {
      const columns = value as ValueMap;
      return { ...columns, id: idOf(schemaOf(container), columns) };
    },
    take(document, container) {
      const schema = schemaOf(container);
      if (schema.view !== undefined) throw invalid('Cannot directly modify a materialized view');
      if (schema.views.length > 0)
        throw invalid('A table with materialized views is written by CQL alone');
      if (schema.isCounter) throw invalid('Counters are changed by UPDATE of CQL alone');
      return taken(document, schema, clock.nowMs());
    },
    partitionKeyOf: (shown, container) => {
      const { partitionKey } = schemaOf(container);
      const values = partitionKey.map(({ type }, at) => bytesOfJson(type, shown[at]));
      return addressValues(partitionKey, values);
    },
    rowKeyOf(id, container) {
      const { clustering } = schemaOf(container);
      const values = keyOfId(id, clustering).map((value, at) =>
        bytesOfJson((clustering[at] as ColumnSchema).type, value),
      );
      return addressValues(clustering, values);
    },
  };
}

function idColumns({ clustering, partitionKey }: TableSchema): readonly ColumnSchema[] {
  return clustering.length > 0 ? clustering : partitionKey;
}

function idOf(schema: TableSchema, columns: ValueMap): string {
  const values = idColumns(schema).map(({ name }) => columns[name]);
  const [only] = values;
  if (values.length > 1) return JSON.stringify(values);
  return typeof only === 'string' ? only : JSON.stringify(only ?? null);
}

/** The values of the columns whose text an id is. */
function keyOfId(id: string, columns: readonly ColumnSchema[]): readonly Value[] {
  if (columns.length === 0) return [];
  if (columns.length === 1) return [id];
  const parts = parsed(id);
  if (!Array.isArray(parts) || parts.length !== columns.length)
    throw invalid(`The id must be a JSON array of ${columns.map(({ name }) => name).join(', ')}`);
  return parts as readonly Value[];
}

function parsed(id: string): unknown {
  try {
    return JSON.parse(id);
  } catch {
    return undefined;
  }
}

/** The row of a document: all of its columns are written now; those that it lacks are null. */
function taken(
  document: ValueMap,
  schema: TableSchema,
  nowMs: number,
): ReturnType<JsonImage['take']> {
  const known = new Set(['id', ...schema.columns.map(({ name }) => name)]);
  const unknown = Object.keys(document).find((name) => !known.has(name));
  if (unknown !== undefined) throw invalid(`The table ${schema.name} has no column ${unknown}`);
  const fixed = schema.statics.find(({ name }) => isThere(document[name]));
  if (fixed !== undefined)
    throw invalid(`The static column ${fixed.name} belongs to the partition: write it by CQL`);
  const id = document.id;
  const columns = { ...columnsOfId(id, schema), ...withoutNulls(document) };
  const partition = keyValues(schema.partitionKey, columns);
  const clustering = keyValues(schema.clustering, columns);
  if (typeof id === 'string' && schema.column('id') === undefined && idOf(schema, columns) !== id)
    throw invalid(`The id must be that of the key columns: ${idOf(schema, columns)}`);
  const builder = new ChangeBuilder({
    timestamp: BigInt(nowMs) * 1000n,
    ttlSec: schema.defaultTtlSec,
    nowSec: Math.floor(nowMs / 1000),
  });
  builder.markAlive();
  for (const column of schema.regulars) {
    const value = columns[column.name];
    if (isThere(value)) builder.set(column, bytesOfJson(column.type, value));
  }
  const row = builder.finish(
    keyColumns(schema.partitionKey, partition),
    keyColumns(schema.clustering, clustering),
  );
  return {
    partitionKey: addressValues(schema.partitionKey, partition),
    rowKey: addressValues(schema.clustering, clustering),
    body: encodeRow(row),
    ttlSec: schema.defaultTtlSec === 0 ? -1 : schema.defaultTtlSec,
  };
}

function isThere(value: Value): boolean {
  return value !== undefined && value !== null;
}

function withoutNulls(document: ValueMap): ValueMap {
  return Object.fromEntries(Object.entries(document).filter(([, value]) => isThere(value)));
}

/** A document may leave out columns that its id has. */
function columnsOfId(id: Value, schema: TableSchema): ValueMap {
  if (typeof id !== 'string') return {};
  const columns = idColumns(schema);
  const values = columns.length === 1 ? [id] : parsed(id);
  if (!Array.isArray(values) || values.length !== columns.length) return {};
  return Object.fromEntries(
    columns.map(({ name, type }, at) => [name, shownValue(type, values[at] as Value)]),
  );
}

/** The id of one column is its text: numbers and booleans are read from it. */
function shownValue(type: ColumnSchema['type'], value: Value): Value {
  const isText =
    type.kind !== 'native' ||
    !isNative(type, 'int', 'bigint', 'smallint', 'tinyint', 'double', 'float', 'boolean');
  return isText || typeof value !== 'string'
    ? value
    : ((parsed(value) as Value | undefined) ?? value);
}

function keyValues(columns: readonly ColumnSchema[], document: ValueMap): readonly Bytes[] {
  return columns.map(({ name, type }) => {
    const value = document[name];
    if (!isThere(value)) throw invalid(`The document has no key column ${name}`);
    return bytesOfJson(type, value);
  });
}
