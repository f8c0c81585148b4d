/** Rows of system_schema about tables, views, columns, types and indexes. */
import type { Value } from '../../../value/index.ts';
import type { Keyspace } from '../schema/keyspaces.ts';
import type { ColumnSchema, IndexSchema, TableSchema } from '../schema/table-schema.ts';
import { quotedName, typeText } from '../types/cql-type.ts';
import type { SystemRow } from './system-tables.ts';

export function tableRow(schema: TableSchema): SystemRow {
  const { keyspace, name, id, options, isCounter } = schema;
  const numbers = (option: string, fallback: Value): Value => options[option] ?? fallback;
  return {
    keyspace_name: keyspace,
    table_name: name,
    id,
    flags: ['compound', ...(isCounter ? ['counter'] : [])],
    comment: options.comment ?? '',
    additional_write_policy: options.additional_write_policy ?? '99p',
    bloom_filter_fp_chance: numbers('bloom_filter_fp_chance', 0.01),
    caching: options.caching ?? { keys: 'ALL', rows_per_partition: 'NONE' },
    cdc: null,
    compaction: options.compaction ?? {
      class: 'org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy',
      max_threshold: '32',
      min_threshold: '4',
    },
    compression: options.compression ?? {
      chunk_length_in_kb: '16',
      class: 'org.apache.cassandra.io.compress.LZ4Compressor',
    },
    crc_check_chance: numbers('crc_check_chance', 1),
    dclocal_read_repair_chance: 0,
    default_time_to_live: schema.defaultTtlSec,
    extensions: {},
    gc_grace_seconds: schema.graceSec,
    max_index_interval: numbers('max_index_interval', 2048),
    memtable_flush_period_in_ms: numbers('memtable_flush_period_in_ms', 0),
    min_index_interval: numbers('min_index_interval', 128),
    read_repair: options.read_repair ?? 'BLOCKING',
    read_repair_chance: 0,
    speculative_retry: options.speculative_retry ?? '99p',
  };
}

export function viewRow(schema: TableSchema): SystemRow {
  const { flags: _, table_name: name, ...options } = tableRow(schema);
  return {
    ...options,
    view_name: name,
    base_table_id: schema.view?.baseId ?? '',
    base_table_name: schema.view?.base ?? '',
    include_all_columns: schema.view?.includesAll ?? true,
    where_clause: schema.view?.where ?? '',
  };
}

export function columnRows(schema: TableSchema): readonly SystemRow[] {
  const columns = [...schema.columns].sort((a, b) => (a.name < b.name ? -1 : 1));
  return columns.map((column) => columnRow(schema, column));
}

function columnRow({ keyspace, name: table }: TableSchema, column: ColumnSchema): SystemRow {
  const { name, type, kind, position, isDescending } = column;
  return {
    keyspace_name: keyspace,
    table_name: table,
    column_name: name,
    clustering_order: kind === 'clustering' ? (isDescending ? 'desc' : 'asc') : 'none',
    column_name_bytes: `0x${Buffer.from(name).toString('hex')}`,
    kind,
    position,
    type: typeText(type),
  };
}

export function typeRows(keyspace: Keyspace): readonly SystemRow[] {
  return [...keyspace.types].map(({ name, fields }) => ({
    keyspace_name: keyspace.name,
    type_name: name,
    field_names: fields.map((field) => field.name),
    field_types: fields.map((field) => typeText(field.type)),
  }));
}

export function indexRows({ keyspace, name, indexes }: TableSchema): readonly SystemRow[] {
  return indexes.map((index) => ({
    keyspace_name: keyspace,
    table_name: name,
    index_name: index.name,
    kind: index.kind,
    options: { target: indexTarget(index), ...index.options },
  }));
}

/** What an index is on, as CREATE INDEX says it. */
export function indexTarget({ column, part }: IndexSchema): string {
  const name = quotedName(column);
  return part === 'simple' ? name : `${part}(${name})`;
}

export function droppedRows({ keyspace, name, dropped }: TableSchema): readonly SystemRow[] {
  return dropped.map((column) => ({
    keyspace_name: keyspace,
    table_name: name,
    column_name: column.name,
    dropped_time: Number(column.droppedAt / 1000n),
    kind: column.kind,
    type: typeText(column.type),
  }));
}
