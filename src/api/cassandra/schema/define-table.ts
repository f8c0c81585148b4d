/** From CREATE TABLE to a schema, with Cassandra's checks. */
import type { ColumnDefinition, Options, SchemaStatement } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import { COLUMNS_MAX, NAME_CHARACTERS_MAX } from '../limits.ts';
import { type CqlType, hasDuration, isMultiCell, isNative, typeText } from '../types/cql-type.ts';
import { checkNesting, parseType, type UserTypes } from '../types/parse-type.ts';
import { optionsOf } from './table-options.ts';
import type { ColumnKind, ColumnSchema, TableParts } from './table-schema.ts';

type CreateTable = Extract<SchemaStatement, { kind: 'createTable' }>;

/** @param id - of the new table, a uuid. */
export function defineTable(statement: CreateTable, types: UserTypes, id: string): TableParts {
  const { table, partitionKey } = statement;
  checkName(table.name, 'table');
  if (partitionKey.length === 0)
    throw invalid(`No PRIMARY KEY specifed for table '${table.name}' (exactly one required)`);
  checkColumns(statement);
  const columns = statement.columns.map((definition) => columnOf(definition, statement, types));
  checkCounters(columns, statement.options);
  checkClusteringOrder(statement);
  const parts = {
    keyspace: types.keyspace,
    name: table.name,
    id,
    columns,
    options: optionsOf(statement.options),
    isCompact: statement.isCompact,
  };
  if (statement.isCompact) checkCompact(parts);
  return parts;
}

function columnOf(
  definition: ColumnDefinition,
  statement: CreateTable,
  types: UserTypes,
): ColumnSchema {
  const { name, isStatic } = definition;
  const partitionAt = statement.partitionKey.indexOf(name);
  const clusteringAt = statement.clustering.indexOf(name);
  const isKey = partitionAt >= 0 || clusteringAt >= 0;
  const type = columnType(name, valueType(definition.type, types), isKey);
  const kind: ColumnKind =
    partitionAt >= 0
      ? 'partition_key'
      : clusteringAt >= 0
        ? 'clustering'
        : isStatic
          ? 'static'
          : 'regular';
  if (isStatic && isKey) throw invalid(`Static column '${name}' cannot be part of the PRIMARY KEY`);
  if (isStatic && statement.clustering.length === 0)
    throw invalid(
      'Static columns are only useful (and thus allowed) if the table has at least one clustering column',
    );
  return {
    name,
    type,
    kind,
    position: partitionAt >= 0 ? partitionAt : clusteringAt,
    isDescending: clusteringAt >= 0 && statement.clusteringOrder.get(name) === 'desc',
  };
}

/** The type that a text names, where a column or a field may have it. */
export function valueType(text: string, types: UserTypes): CqlType {
  const type = checkNesting(parseType(text, types), text);
  if (type.kind === 'user' && !type.isFrozen)
    for (const { type: inner } of type.fields)
      if (isMultiCell(inner))
        throw invalid('Non-frozen UDTs with nested non-frozen collections are not supported');
  return type;
}

/** The type of a column, or a refusal where such a column cannot have it. */
function columnType(name: string, type: CqlType, isKey: boolean): CqlType {
  if (!isKey) return type;
  if (isMultiCell(type))
    throw invalid(
      `Invalid non-frozen ${type.kind === 'user' ? 'user-defined' : 'collection'} type ${typeText(type)} for PRIMARY KEY column '${name}'`,
    );
  if (isNative(type, 'counter'))
    throw invalid(`counter type is not supported for PRIMARY KEY column '${name}'`);
  if (hasDuration(type))
    throw invalid(`duration type is not supported for PRIMARY KEY column '${name}'`);
  return type;
}

function checkColumns({ table, columns, partitionKey, clustering }: CreateTable): void {
  if (columns.length > COLUMNS_MAX) throw invalid(`A table has at most ${COLUMNS_MAX} columns`);
  const names = new Set<string>();
  for (const { name } of columns) {
    if (names.has(name))
      throw invalid(`Duplicate column '${name}' declaration for table '${table.name}'`);
    names.add(name);
  }
  const keys = new Set<string>();
  for (const name of [...partitionKey, ...clustering]) {
    if (!names.has(name))
      throw invalid(`Unknown column '${name}' referenced in PRIMARY KEY for table '${table.name}'`);
    if (keys.has(name))
      throw invalid(`Duplicate column '${name}' in PRIMARY KEY clause for table '${table.name}'`);
    keys.add(name);
  }
}

/** COMPACT STORAGE has one value for each row, or one row for each partition. */
function checkCompact({ columns }: TableParts): void {
  const others = columns.filter(({ kind }) => kind === 'regular' || kind === 'static');
  if (others.some(({ type }) => isMultiCell(type)))
    throw invalid('Non-frozen collections and UDTs are not supported with COMPACT STORAGE');
  if (others.some(({ kind }) => kind === 'static'))
    throw invalid('Static columns are not supported in COMPACT STORAGE tables');
  const hasClustering = columns.some(({ kind }) => kind === 'clustering');
  if (!hasClustering && others.length === 0)
    throw invalid('No definition found that is not part of the PRIMARY KEY');
  if (hasClustering && others.length > 1)
    throw invalid(
      `COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the PRIMARY KEY (got: ${others.map(({ name }) => name).join(', ')})`,
    );
}

function checkCounters(columns: readonly ColumnSchema[], options: Options): void {
  const others = columns.filter(({ kind }) => kind === 'regular' || kind === 'static');
  const counters = others.filter(({ type }) => isNative(type, 'counter'));
  if (counters.length === 0) return;
  if (counters.length < others.length)
    throw invalid('Cannot mix counter and non counter columns in the same table');
  if (Number(options.get('default_time_to_live') ?? 0) > 0)
    throw invalid('Cannot set default_time_to_live on a table with counters');
}

function checkClusteringOrder({ clustering, clusteringOrder }: CreateTable): void {
  const named = [...clusteringOrder.keys()];
  if (named.length > clustering.length)
    throw invalid('Only clustering columns can be defined in CLUSTERING ORDER directive');
  named.forEach((name, at) => {
    const expected = clustering[at] as string;
    if (name === expected) return;
    if (!clustering.includes(name))
      throw invalid('Only clustering columns can be defined in CLUSTERING ORDER directive');
    throw invalid(
      named.includes(expected)
        ? `The order of columns in the CLUSTERING ORDER directive must match that of the clustering columns (${expected} must appear before ${name})`
        : `Missing CLUSTERING ORDER for column ${expected}`,
    );
  });
}

export function checkName(name: string, what: 'keyspace' | 'table'): void {
  if (name.length > NAME_CHARACTERS_MAX || !/^\w+$/.test(name))
    throw invalid(
      `${what === 'keyspace' ? 'Keyspace' : 'Table'} name must not be empty, more than ${NAME_CHARACTERS_MAX} characters long, or contain non-alphanumeric-underscore characters (got "${name}")`,
    );
}
