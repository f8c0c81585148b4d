/** Elements of the schema as statements, in the words and order of Cassandra 4.0. */
import { isReserved } from '../cql/token-cursor.ts';
import type { UserAggregate, UserFunction } from '../functions/user-functions.ts';
import type { Keyspace } from '../schema/keyspaces.ts';
import { quoted } from '../schema/literal-text.ts';
import type {
  ColumnSchema,
  DroppedColumn,
  IndexSchema,
  TableSchema,
} from '../schema/table-schema.ts';
import { indexTarget, tableRow } from '../system/table-rows.ts';
import { type CqlType, typeText, type UserType } from '../types/cql-type.ts';

const INDENT = '    ';
const LOCATOR = 'org.apache.cassandra.locator.';

/** A name as it is written in a statement. */
export function nameText(name: string): string {
  const isPlain = /^[a-z][a-z0-9_]*$/.test(name) && !isReserved(name);
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}

function pathText(keyspace: string, name: string): string {
  return `${nameText(keyspace)}.${nameText(name)}`;
}

function mapText(map: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(map).map(
    ([key, value]) => `${quoted(key)}: ${quoted(String(value))}`,
  );
  return `{${entries.join(', ')}}`;
}

export function keyspaceText({
  name,
  replication,
  durableWrites,
}: Pick<Keyspace, 'name' | 'replication' | 'durableWrites'>): string {
  const { class: strategy = '', ...options } = replication;
  const short = strategy.startsWith(LOCATOR) ? strategy.slice(LOCATOR.length) : strategy;
  const text = mapText({ class: short, ...options });
  return `CREATE KEYSPACE ${nameText(name)} WITH replication = ${text}  AND durable_writes = ${durableWrites};`;
}

export function typeStatement({ keyspace, name, fields }: UserType): string {
  const lines = fields.map((field) => `${INDENT}${nameText(field.name)} ${typeText(field.type)}`);
  return `CREATE TYPE ${pathText(keyspace, name)} (\n${lines.join(',\n')}\n);`;
}

/** Arguments and results are never frozen outside. */
function plainType(type: CqlType): string {
  const text = typeText(type);
  return text.startsWith('frozen<') && type.kind !== 'tuple' ? text.slice(7, -1) : text;
}

export function functionText(one: UserFunction): string {
  const parameters = one.argumentTypes.map(
    (type, at) => `${nameText(one.argumentNames[at] ?? '')} ${plainType(type)}`,
  );
  return [
    `CREATE FUNCTION ${pathText(one.keyspace, one.name)}(${parameters.join(', ')})`,
    `${one.calledOnNull ? 'CALLED' : 'RETURNS NULL'} ON NULL INPUT`,
    `RETURNS ${plainType(one.returnType)}`,
    `LANGUAGE ${one.language}`,
    `AS $$${one.body}$$;`,
  ].join(`\n${INDENT}`);
}

export function aggregateText(one: UserAggregate): string {
  const types = one.argumentTypes.map(plainType).join(', ');
  const lines = [
    `CREATE AGGREGATE ${pathText(one.keyspace, one.name)}(${types})`,
    `SFUNC ${nameText(one.stateFunction.name)}`,
    `STYPE ${plainType(one.stateType)}`,
    ...(one.finalFunction === undefined ? [] : [`FINALFUNC ${nameText(one.finalFunction.name)}`]),
    ...(one.initial === undefined ? [] : [`INITCOND ${one.initial.text}`]),
  ];
  return `${lines.join(`\n${INDENT}`)};`;
}

export function indexText({ keyspace, name: table }: TableSchema, index: IndexSchema): string {
  const { class_name: className, ...options } = index.options;
  const isCustom = index.kind === 'CUSTOM';
  const others = Object.fromEntries(
    Object.entries(options).filter(([option]) => option !== 'target'),
  );
  const using = isCustom ? ` USING ${quoted(className ?? '')}` : '';
  const withOptions =
    isCustom && Object.keys(others).length > 0 ? ` WITH OPTIONS = ${mapText(others)}` : '';
  return `CREATE ${isCustom ? 'CUSTOM ' : ''}INDEX ${nameText(index.name)} ON ${pathText(keyspace, table)} (${indexTarget(index)})${using}${withOptions};`;
}

export function tableText(schema: TableSchema, hasInternals: boolean, isVirtual: boolean): string {
  const { keyspace, name, partitionKey, clustering } = schema;
  const isSingle = partitionKey.length === 1 && clustering.length === 0;
  const gone = hasInternals ? schema.dropped : [];
  const missing = gone.filter((column) => schema.column(column.name) === undefined);
  const columns = [
    ...schema.columns.map(
      (column) =>
        `${INDENT}${columnText(column)}${isSingle && column.kind === 'partition_key' ? ' PRIMARY KEY' : ''}`,
    ),
    ...missing.map((column) => `${INDENT}${columnText(column)}`),
  ];
  const key = isSingle ? [] : [`${INDENT}${keyText(schema)}`];
  const text = `CREATE TABLE ${pathText(keyspace, name)} (\n${[...columns, ...key].join(',\n')}\n) WITH ${optionsText(schema, hasInternals, isVirtual)};${gone.map((column) => droppedText(schema, column)).join('')}`;
  // cqlsh reads the schema of virtual tables, which no statement makes.
  return isVirtual
    ? `/*\nWarning: Table ${pathText(keyspace, name)} is a virtual table and cannot be recreated with CQL.\nStructure, for reference:\nVIRTUAL ${text.slice(7)}\n*/`
    : text;
}

export function viewText(schema: TableSchema, hasInternals: boolean): string {
  const { keyspace, name, view } = schema;
  const columns = view?.includesAll
    ? '*'
    : schema.columns.map((column) => nameText(column.name)).join(', ');
  return [
    `CREATE MATERIALIZED VIEW ${pathText(keyspace, name)} AS`,
    `${INDENT}SELECT ${columns}`,
    `${INDENT}FROM ${pathText(keyspace, view?.base ?? '')}`,
    `${INDENT}WHERE ${view?.where ?? ''}`,
    `${INDENT}${keyText(schema)}`,
    ` WITH ${optionsText(schema, hasInternals, false)};`,
  ].join('\n');
}

/** A column that was dropped, and perhaps added again. */
function droppedText(schema: TableSchema, column: DroppedColumn): string {
  const table = `ALTER TABLE ${pathText(schema.keyspace, schema.name)}`;
  const now = schema.column(column.name);
  const drop = `\n${table} DROP ${nameText(column.name)} USING TIMESTAMP ${column.droppedAt};`;
  return now === undefined ? drop : `${drop}\n${table} ADD ${columnText(now)};`;
}

function columnText({ name, type, kind }: Pick<ColumnSchema, 'name' | 'type' | 'kind'>): string {
  return `${nameText(name)} ${typeText(type)}${kind === 'static' ? ' static' : ''}`;
}

function keyText({ partitionKey, clustering }: TableSchema): string {
  const names = (columns: readonly ColumnSchema[]) =>
    columns.map(({ name }) => nameText(name)).join(', ');
  const partition = partitionKey.length > 1 ? `(${names(partitionKey)})` : names(partitionKey);
  const rest = clustering.length === 0 ? '' : `, ${names(clustering)}`;
  return `PRIMARY KEY (${partition}${rest})`;
}

function sortedKeys(map: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const TEXT_OPTIONS = ['additional_write_policy', 'comment', 'read_repair', 'speculative_retry'];

function optionsText(schema: TableSchema, hasInternals: boolean, isVirtual: boolean): string {
  const { clustering, id } = schema;
  const order = clustering.map(
    ({ name, isDescending }) => `${nameText(name)} ${isDescending ? 'DESC' : 'ASC'}`,
  );
  const first = [
    ...(schema.isCompact ? ['COMPACT STORAGE'] : []),
    ...(hasInternals ? [`ID = ${id}`] : []),
    ...(order.length === 0 ? [] : [`CLUSTERING ORDER BY (${order.join(', ')})`]),
  ];
  const options = isVirtual ? [`comment = ''`] : parameterTexts(schema);
  return [...first, ...options].join(`\n${INDENT}AND `);
}

function parameterTexts(schema: TableSchema): readonly string[] {
  const row = tableRow(schema);
  return PARAMETERS.filter(
    (name) => name !== 'default_time_to_live' || schema.view === undefined,
  ).map((name) => {
    const value = name === 'cdc' ? schema.options.cdc === 'true' : row[name];
    if (TEXT_OPTIONS.includes(name)) return `${name} = ${quoted(String(value ?? ''))}`;
    if (typeof value === 'object' && value !== null)
      return `${name} = ${mapText(sortedKeys(value as Readonly<Record<string, unknown>>))}`;
    const isWholeFloat = name === 'crc_check_chance' && Number.isInteger(Number(value));
    return `${name} = ${isWholeFloat ? Number(value).toFixed(1) : String(value)}`;
  });
}

const PARAMETERS = [
  'additional_write_policy',
  'bloom_filter_fp_chance',
  'caching',
  'cdc',
  'comment',
  'compaction',
  'compression',
  'crc_check_chance',
  'default_time_to_live',
  'extensions',
  'gc_grace_seconds',
  'max_index_interval',
  'memtable_flush_period_in_ms',
  'min_index_interval',
  'read_repair',
  'speculative_retry',
] as const;
