/** ALTER TABLE: columns are added, dropped and renamed, options replaced. */
import type { TableChange } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import { type CqlType, isMultiCell, isNative, isSameType, typeText } from '../types/cql-type.ts';
import type { UserTypes } from '../types/parse-type.ts';
import { valueType } from './define-table.ts';
import { optionsOf } from './table-options.ts';
import type { ColumnSchema, DroppedColumn, TableParts, TableSchema } from './table-schema.ts';

type Of<K extends TableChange['kind']> = Extract<TableChange, { kind: K }>;

/** @param nowMicros - the moment of the change: what was written before to a dropped column is gone. */
export function alterTable(
  schema: TableSchema,
  change: TableChange,
  types: UserTypes,
  nowMicros: bigint,
): TableParts {
  const parts = partsOfSchema(schema);
  switch (change.kind) {
    case 'add':
      return { ...parts, columns: [...schema.columns, ...added(schema, change, types)] };
    case 'drop':
      return dropped(schema, parts, change, nowMicros);
    case 'rename':
      return renamed(schema, parts, change);
    case 'alterColumn':
      throw invalid('Altering column types is no longer supported');
    case 'dropCompact':
      if (!schema.isCompact)
        throw invalid('Cannot DROP COMPACT STORAGE on table without COMPACT STORAGE');
      throw invalid('DROP COMPACT STORAGE is disabled. Enable in cassandra.yaml to use.');
    case 'with': {
      const options = optionsOf(change.options);
      if (schema.isCounter && Number(options.default_time_to_live ?? 0) > 0)
        throw invalid('Cannot set default_time_to_live on a table with counters');
      return { ...parts, options: { ...schema.options, ...options } };
    }
  }
}

export function partsOfSchema(schema: TableSchema): TableParts {
  const { keyspace, name, id, columns, options, indexes, isCompact, view, views } = schema;
  const { dropped: gone } = schema;
  return { keyspace, name, id, columns, options, indexes, dropped: gone, isCompact, view, views };
}

function added(
  schema: TableSchema,
  { columns, ifNotExists }: Of<'add'>,
  types: UserTypes,
): readonly ColumnSchema[] {
  const names = new Set<string>();
  return columns.flatMap(({ name, type: text, isStatic }): readonly ColumnSchema[] => {
    const type = valueType(text, types);
    if (schema.column(name) !== undefined || names.has(name)) {
      if (ifNotExists) return [];
      throw invalid(`Column with name '${name}' already exists`);
    }
    names.add(name);
    if (schema.isCompact) throw invalid('Cannot add new column to a COMPACT STORAGE table');
    if (isStatic && schema.clustering.length === 0)
      throw invalid(
        'Static columns are only useful (and thus allowed) if the table has at least one clustering column',
      );
    const others = [...schema.statics, ...schema.regulars];
    if (others.length > 0 && isNative(type, 'counter') !== schema.isCounter)
      throw invalid('Cannot mix counter and non counter columns in the same table');
    const kind = isStatic ? 'static' : 'regular';
    checkAddedAgain(schema, name, type, kind);
    return [{ name, type, kind, position: -1, isDescending: false }];
  });
}

function checkAddedAgain(
  schema: TableSchema,
  name: string,
  type: CqlType,
  kind: 'static' | 'regular',
): void {
  const before = schema.dropped.find((column) => column.name === name);
  if (before === undefined) return;
  if (!isSameType(before.type, type) || isMultiCell(before.type) !== isMultiCell(type))
    throw invalid(
      `Cannot re-add previously dropped column '${name}' of type ${typeText(type)}, incompatible with previous type ${typeText(before.type)}`,
    );
  if (before.kind !== kind)
    throw invalid(
      `Cannot re-add previously dropped column '${name}' of kind ${kind.toUpperCase()}, incompatible with previous kind ${before.kind.toUpperCase()}`,
    );
  if (isNative(type, 'counter'))
    throw invalid(`Cannot re-add previously dropped counter column ${name}`);
}

function dropped(
  schema: TableSchema,
  parts: TableParts,
  { columns, ifExists, timestamp }: Of<'drop'>,
  nowMicros: bigint,
): TableParts {
  const gone: DroppedColumn[] = [];
  for (const name of columns) {
    const column = schema.column(name);
    if (column === undefined) {
      if (ifExists) continue;
      throw invalid(`Column ${name} was not found in table '${schema.keyspace}.${schema.name}'`);
    }
    const { kind, type } = column;
    if (kind === 'partition_key' || kind === 'clustering')
      throw invalid(`Cannot drop PRIMARY KEY column ${name}`);
    if (schema.isCompact) throw invalid('Cannot drop columns from a COMPACT STORAGE table');
    if (type.kind === 'user' && !type.isFrozen)
      throw invalid(`Cannot drop non-frozen column ${name} of user type ${typeText(type)}`);
    const indexes = indexesOn(schema, name);
    if (indexes !== '')
      throw invalid(
        `Cannot drop column ${name} because it has dependent secondary indexes (${indexes})`,
      );
    gone.push({ name, type, kind, droppedAt: timestamp ?? nowMicros });
  }
  const isGone = (name: string): boolean => gone.some((column) => column.name === name);
  return {
    ...parts,
    columns: schema.columns.filter(({ name }) => !isGone(name)),
    dropped: [...schema.dropped.filter(({ name }) => !isGone(name)), ...gone],
  };
}

function indexesOn({ indexes }: TableSchema, column: string): string {
  return indexes
    .filter((index) => index.column === column)
    .map(({ name }) => name)
    .join(', ');
}

function renamed(schema: TableSchema, parts: TableParts, { names }: Of<'rename'>): TableParts {
  const renames = new Map(names);
  for (const [from, to] of names) {
    const column = schema.column(from);
    const table = `${schema.keyspace}.${schema.name}`;
    if (column === undefined) throw invalid(`Column ${from} was not found in table ${table}`);
    if (column.kind !== 'partition_key' && column.kind !== 'clustering')
      throw invalid(`Cannot rename non PRIMARY KEY column ${from}`);
    if (schema.column(to) !== undefined)
      throw invalid(
        `Cannot rename column ${from} to ${to} in table '${table}'; another column with that name already exists`,
      );
    const indexes = indexesOn(schema, from);
    if (indexes !== '')
      throw invalid(
        `Can't rename column ${from} because it has dependent secondary indexes (${indexes})`,
      );
  }
  return {
    ...parts,
    columns: schema.columns.map((column) => ({
      ...column,
      name: renames.get(column.name) ?? column.name,
    })),
  };
}
