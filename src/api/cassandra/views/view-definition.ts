/** What CREATE MATERIALIZED VIEW may say, and the table that it makes. */
import { invalid } from '../errors.ts';
import { optionsOf } from '../schema/table-options.ts';
import type { ColumnKind, ColumnSchema, TableParts, TableSchema } from '../schema/table-schema.ts';
import { frozen, isMultiCell, isNative, typeText } from '../types/cql-type.ts';
import type { ViewStatement } from './view-ast.ts';
import { orderMismatch } from './view-parser.ts';

type CreateView = Extract<ViewStatement, { kind: 'createView' }>;

/** Throws CqlError for what cannot be a view. */
export function defineView(statement: CreateView, base: TableSchema, id: string): TableParts {
  const { view, partitionKey, clustering, whereText, columns } = statement;
  checkBase(statement, base);
  const selected = selectedColumns(statement, base);
  checkKey(statement, base);
  checkWhere(statement, base);
  const options = optionsOf(statement.options);
  if (Number(options.default_time_to_live ?? 0) > 0)
    throw invalid(
      'Cannot set default_time_to_live for a materialized view. Data in a materialized view always expire at the same time than the corresponding data in the parent table.',
    );
  return {
    keyspace: base.keyspace,
    name: view.name,
    id,
    columns: selected.map((column) => viewColumn(column, partitionKey, clustering, statement)),
    options,
    view: {
      base: base.name,
      baseId: base.id,
      where: whereText,
      includesAll: columns === undefined,
      isBuilding: true,
    },
  };
}

function checkBase({ view }: CreateView, base: TableSchema): void {
  if (base.isCounter) throw invalid('Materialized views are not supported on counter tables');
  if (base.view !== undefined)
    throw invalid('Materialized views cannot be created against other materialized views');
  if (base.graceSec === 0)
    throw invalid(
      `Cannot create materialized view '${view.name}' for base table '${base.name}' with gc_grace_seconds of 0, since this value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to expire before being replayed.`,
    );
}

function selectedColumns(
  { view, columns, partitionKey, clustering }: CreateView,
  base: TableSchema,
): readonly ColumnSchema[] {
  const names = columns ?? base.columns.map(({ name }) => name);
  const wanted = new Set([...names, ...partitionKey, ...clustering]);
  const unknown = names.find((name) => base.column(name) === undefined);
  if (unknown !== undefined)
    throw invalid(`Undefined column name ${unknown} in table ${base.keyspace}.${base.name}`);
  const selected = base.columns.filter(({ name }) => wanted.has(name));
  const fixed = selected.find(({ kind }) => kind === 'static');
  if (fixed !== undefined)
    throw invalid(
      `Cannot include static column '${fixed.name}' in materialized view '${view.name}'`,
    );
  return selected;
}

function checkKey(statement: CreateView, base: TableSchema): void {
  const { view, partitionKey, clustering } = statement;
  if (partitionKey.length === 0)
    throw invalid(
      `Must provide at least one partition key column for materialized view '${view.name}'`,
    );
  const key = [...partitionKey, ...clustering];
  key.forEach((name, at) => {
    const column = base.column(name);
    if (column === undefined)
      throw invalid(
        `Unknown column '${name}' referenced in PRIMARY KEY for materialized view '${view.name}'`,
      );
    if (key.indexOf(name) < at)
      throw invalid(
        `Duplicate column '${name}' in PRIMARY KEY clause for materialized view '${view.name}'`,
      );
    checkKeyType(column);
  });
  const order = [...statement.clusteringOrder.keys()];
  if (order.length > 0 && order.join() !== clustering.join()) throw orderMismatch();
  const missing = [...base.partitionKey, ...base.clustering].filter(
    ({ name }) => !key.includes(name),
  );
  if (missing.length > 0)
    throw invalid(
      `Cannot create materialized view '${view.name}' without primary key columns ${missing.map(({ name }) => name).join(', ')} from base table '${base.name}'`,
    );
  const others = key.filter((name) => base.column(name)?.kind === 'regular');
  if (others.length > 1)
    throw invalid(
      `Cannot include more than one non-primary key column in materialized view primary key (got ${others.join(', ')})`,
    );
}

function checkKeyType({ name, type }: ColumnSchema): void {
  if (isMultiCell(type))
    throw invalid(
      `Invalid non-frozen ${type.kind === 'user' ? 'user-defined' : 'collection'} type '${typeText(type)}' for PRIMARY KEY column '${name}'`,
    );
  if (isNative(type, 'counter'))
    throw invalid(`counter type is not supported for PRIMARY KEY column '${name}'`);
  if (isNative(type, 'duration'))
    throw invalid(`duration type is not supported for PRIMARY KEY column '${name}'`);
}

function checkWhere({ where, partitionKey, clustering }: CreateView, base: TableSchema): void {
  if (where.some(({ kind }) => kind === 'token'))
    throw invalid('Cannot use token relation when defining a materialized view');
  const restricted = new Set<string>();
  const illegal: string[] = [];
  for (const relation of where) {
    const names =
      'columns' in relation ? relation.columns : 'column' in relation ? [relation.column] : [];
    for (const name of names) {
      const column = base.column(name);
      if (column === undefined)
        throw invalid(`Undefined column name ${name} in table ${base.keyspace}.${base.name}`);
      restricted.add(name);
      const isKey = [...partitionKey, ...clustering].includes(name);
      if (!isKey && relation.kind !== 'notNull') illegal.push(name);
    }
  }
  const free = [...partitionKey, ...clustering].filter((name) => !restricted.has(name));
  if (free.length > 0)
    throw invalid(
      `Primary key columns ${free.join(', ')} must be restricted with 'IS NOT NULL' or otherwise`,
    );
  if (illegal.length > 0)
    throw invalid(
      `Non-primary key columns can only be restricted with 'IS NOT NULL' (got: ${illegal.join(',')} restricted illegally)`,
    );
}

function viewColumn(
  column: ColumnSchema,
  partitionKey: readonly string[],
  clustering: readonly string[],
  { clusteringOrder }: CreateView,
): ColumnSchema {
  const { name, type } = column;
  const partitionAt = partitionKey.indexOf(name);
  const clusteringAt = clustering.indexOf(name);
  const kind: ColumnKind =
    partitionAt >= 0 ? 'partition_key' : clusteringAt >= 0 ? 'clustering' : 'regular';
  // Without an order of its own, a column keeps the one that it has in the base table.
  const isDescending =
    clusteringAt >= 0 &&
    (clusteringOrder.has(name) ? clusteringOrder.get(name) === 'desc' : column.isDescending);
  return {
    name,
    type: kind === 'regular' ? type : frozen(type),
    kind,
    position: partitionAt >= 0 ? partitionAt : clusteringAt,
    isDescending,
  };
}
