/** The tables of the system keyspaces: their columns as Cassandra 4.0 has them, and where their rows come from. */

import { createHash } from 'node:crypto';
import { assert, type Bytes } from '../../../base/index.ts';
import type { Value } from '../../../value/index.ts';
import { parseStatement } from '../cql/parser.ts';
import { defineTable } from '../schema/define-table.ts';
import { type PlainRow, TableSchema } from '../schema/table-schema.ts';
import { uuidText } from '../types/text-forms.ts';
import { bytesOfJson } from '../types/values.ts';

/** Rows as column names to JSON; null and absent columns are null. */
export type SystemRow = Readonly<Record<string, Value>>;

export interface SystemTable {
  readonly schema: TableSchema;
  readonly isVirtual: boolean;
}

const TABLE_OPTIONS = `additional_write_policy text, bloom_filter_fp_chance double,
  caching frozen<map<text, text>>, cdc boolean, comment text, compaction frozen<map<text, text>>,
  compression frozen<map<text, text>>, crc_check_chance double, dclocal_read_repair_chance double,
  default_time_to_live int, extensions frozen<map<text, blob>>, gc_grace_seconds int, id uuid, max_index_interval int,
  memtable_flush_period_in_ms int, min_index_interval int, read_repair text, read_repair_chance double,
  speculative_retry text`;

const DEFINITIONS: readonly string[] = [
  `system.local (key text PRIMARY KEY, bootstrapped text, broadcast_address inet, broadcast_port int,
    cluster_name text, cql_version text, data_center text, gossip_generation int, host_id uuid, listen_address inet,
    listen_port int, native_protocol_version text, partitioner text, rack text, release_version text,
    rpc_address inet, rpc_port int, schema_version uuid, tokens set<text>, truncated_at map<uuid, blob>)`,
  `system.peers (peer inet PRIMARY KEY, data_center text, host_id uuid, preferred_ip inet, rack text,
    release_version text, rpc_address inet, schema_version uuid, tokens set<text>)`,
  `system."IndexInfo" (table_name text, index_name text, value blob, PRIMARY KEY (table_name, index_name))`,
  `system.peers_v2 (peer inet, peer_port int, data_center text, host_id uuid, native_address inet, native_port int,
    preferred_ip inet, preferred_port int, rack text, release_version text, schema_version uuid, tokens set<text>,
    PRIMARY KEY (peer, peer_port))`,
  `system.size_estimates (keyspace_name text, table_name text, range_start text, range_end text,
    mean_partition_size bigint, partitions_count bigint, PRIMARY KEY (keyspace_name, table_name, range_start, range_end))`,
  `system_schema.keyspaces (keyspace_name text PRIMARY KEY, durable_writes boolean,
    replication frozen<map<text, text>>)`,
  `system_schema.tables (keyspace_name text, table_name text, flags frozen<set<text>>, ${TABLE_OPTIONS},
    PRIMARY KEY (keyspace_name, table_name))`,
  `system_schema.columns (keyspace_name text, table_name text, column_name text, clustering_order text,
    column_name_bytes blob, kind text, position int, type text,
    PRIMARY KEY (keyspace_name, table_name, column_name))`,
  `system_schema.dropped_columns (keyspace_name text, table_name text, column_name text, dropped_time timestamp,
    kind text, type text, PRIMARY KEY (keyspace_name, table_name, column_name))`,
  `system_schema.types (keyspace_name text, type_name text, field_names frozen<list<text>>,
    field_types frozen<list<text>>, PRIMARY KEY (keyspace_name, type_name))`,
  `system_schema.functions (keyspace_name text, function_name text, argument_types frozen<list<text>>,
    argument_names frozen<list<text>>, body text, called_on_null_input boolean, language text, return_type text,
    PRIMARY KEY (keyspace_name, function_name, argument_types))`,
  `system_schema.aggregates (keyspace_name text, aggregate_name text, argument_types frozen<list<text>>,
    final_func text, initcond text, return_type text, state_func text, state_type text,
    PRIMARY KEY (keyspace_name, aggregate_name, argument_types))`,
  `system_schema.triggers (keyspace_name text, table_name text, trigger_name text,
    options frozen<map<text, text>>, PRIMARY KEY (keyspace_name, table_name, trigger_name))`,
  `system_schema.indexes (keyspace_name text, table_name text, index_name text, kind text,
    options frozen<map<text, text>>, PRIMARY KEY (keyspace_name, table_name, index_name))`,
  `system_schema.views (keyspace_name text, view_name text, base_table_id uuid, base_table_name text,
    include_all_columns boolean, where_clause text, ${TABLE_OPTIONS}, PRIMARY KEY (keyspace_name, view_name))`,
  `system_traces.sessions (session_id uuid PRIMARY KEY, client inet, command text, coordinator inet,
    coordinator_port int, duration int, parameters map<text, text>, request text, started_at timestamp)`,
  `system_traces.events (session_id uuid, event_id timeuuid, activity text, source inet, source_elapsed int,
    source_port int, thread text, PRIMARY KEY (session_id, event_id))`,
  'system_virtual_schema.keyspaces (keyspace_name text PRIMARY KEY)',
  `system_virtual_schema.tables (keyspace_name text, table_name text, comment text,
    PRIMARY KEY (keyspace_name, table_name))`,
  `system_virtual_schema.columns (keyspace_name text, table_name text, column_name text, clustering_order text,
    column_name_bytes blob, kind text, position int, type text,
    PRIMARY KEY (keyspace_name, table_name, column_name))`,
  `system_auth.roles (role text PRIMARY KEY, can_login boolean, is_superuser boolean, member_of set<text>,
    salted_hash text)`,
  'system_auth.role_members (role text, member text, PRIMARY KEY (role, member))',
  'system_auth.role_permissions (role text, resource text, permissions set<text>, PRIMARY KEY (role, resource))',
  'system_auth.resource_role_permissons_index (resource text, role text, PRIMARY KEY (resource, role))',
  'system_auth.network_permissions (role text PRIMARY KEY, dcs set<text>)',
  `system_distributed.parent_repair_history (parent_id timeuuid PRIMARY KEY, columnfamily_names set<text>,
    exception_message text, exception_stacktrace text, finished_at timestamp, keyspace_name text,
    options map<text, text>, requested_ranges set<text>, started_at timestamp, successful_ranges set<text>)`,
  `system_distributed.repair_history (keyspace_name text, columnfamily_name text, id timeuuid, coordinator inet,
    coordinator_port int, exception_message text, exception_stacktrace text, finished_at timestamp,
    parent_id timeuuid, participants set<inet>, participants_v2 set<text>, range_begin text, range_end text,
    started_at timestamp, status text, PRIMARY KEY ((keyspace_name, columnfamily_name), id))`,
  `system_distributed.view_build_status (keyspace_name text, view_name text, host_id uuid, status text,
    PRIMARY KEY ((keyspace_name, view_name), host_id))`,
  `system."IndexInfo" (table_name text, index_name text, value blob, PRIMARY KEY (table_name, index_name))`,
  `system.available_ranges_v2 (keyspace_name text PRIMARY KEY, full_ranges set<blob>, transient_ranges set<blob>)`,
  'system.batches (id timeuuid PRIMARY KEY, mutations list<blob>, version int)',
  'system.built_views (keyspace_name text, view_name text, status_replicated boolean, PRIMARY KEY (keyspace_name, view_name))',
  `system.compaction_history (id uuid PRIMARY KEY, bytes_in bigint, bytes_out bigint, columnfamily_name text,
    compacted_at timestamp, keyspace_name text, rows_merged map<int, bigint>)`,
  `system.paxos (row_key blob, cf_id uuid, in_progress_ballot timeuuid, most_recent_commit blob,
    most_recent_commit_at timeuuid, most_recent_commit_version int, proposal blob, proposal_ballot timeuuid,
    proposal_version int, PRIMARY KEY (row_key, cf_id))`,
  `system.peer_events_v2 (peer inet, peer_port int, hints_dropped map<uuid, int>, PRIMARY KEY (peer, peer_port))`,
  `system.prepared_statements (prepared_id blob PRIMARY KEY, logged_keyspace text, query_string text)`,
  'system.repairs (parent_id timeuuid PRIMARY KEY, state int, started_at timestamp)',
  `system.sstable_activity (keyspace_name text, columnfamily_name text, generation int, rate_120m double,
    rate_15m double, PRIMARY KEY ((keyspace_name, columnfamily_name, generation)))`,
  `system.table_estimates (keyspace_name text, table_name text, range_type text, range_start text, range_end text,
    mean_partition_size bigint, partitions_count bigint,
    PRIMARY KEY (keyspace_name, table_name, range_type, range_start, range_end))`,
  'system.transferred_ranges_v2 (operation text, keyspace_name text, peer inet, peer_port int, ranges set<blob>, PRIMARY KEY ((operation, keyspace_name), peer, peer_port))',
  `system.view_builds_in_progress (keyspace_name text, view_name text, start_token text, end_token text,
    keys_built bigint, last_token text, PRIMARY KEY (keyspace_name, view_name, start_token, end_token))`,
  `system_views.clients (address inet, port int, connection_stage text, driver_name text, driver_version text,
    hostname text, protocol_version int, request_count bigint, ssl_cipher_suite text, ssl_enabled boolean,
    ssl_protocol text, username text, PRIMARY KEY (address, port))`,
  'system_views.caches (name text PRIMARY KEY, capacity_bytes bigint, entry_count int, hit_count bigint, hit_ratio double, recent_hit_rate_per_second bigint, recent_request_rate_per_second bigint, request_count bigint, size_bytes bigint)',
  `system_views.internode_inbound (address inet, port int, dc text, rack text, received_bytes bigint,
    received_count bigint, PRIMARY KEY ((address, port), dc, rack))`,
  `system_views.internode_outbound (address inet, port int, dc text, rack text, sent_bytes bigint, sent_count bigint,
    PRIMARY KEY ((address, port), dc, rack))`,
  'system_views.settings (name text PRIMARY KEY, value text)',
  `system_views.sstable_tasks (keyspace_name text, table_name text, task_id uuid, kind text, progress bigint,
    total bigint, unit text, PRIMARY KEY (keyspace_name, table_name, task_id))`,
  'system_views.system_properties (name text PRIMARY KEY, value text)',
  `system_views.thread_pools (name text PRIMARY KEY, active_tasks int, active_tasks_limit int, blocked_tasks bigint,
    blocked_tasks_all_time bigint, completed_tasks bigint, pending_tasks int)`,
];

const VIRTUAL_KEYSPACES = new Set(['system_views', 'system_virtual_schema']);

export const SYSTEM_KEYSPACES: readonly string[] = [
  'system',
  'system_auth',
  'system_distributed',
  'system_schema',
  'system_traces',
  'system_views',
  'system_virtual_schema',
];

export function isVirtual(keyspace: string): boolean {
  return VIRTUAL_KEYSPACES.has(keyspace);
}

/** By keyspace and name, with a dot between. */
export function systemTables(): ReadonlyMap<string, SystemTable> {
  return new Map(
    DEFINITIONS.map((definition) => {
      const { statement } = parseStatement(`CREATE TABLE ${definition}`);
      assert(statement.kind === 'createTable', 'a definition of a table');
      const keyspace = statement.table.keyspace as string;
      const path = `${keyspace}.${statement.table.name}`;
      const id = uuidText(createHash('md5').update(path).digest());
      const schema = new TableSchema(
        defineTable(statement, { keyspace, find: () => undefined }, id),
      );
      return [path, { schema, isVirtual: isVirtual(keyspace) }];
    }),
  );
}

/** The bytes of a row. */
export function plainRow(schema: TableSchema, row: SystemRow): PlainRow {
  const bytes = new Map<string, Bytes>();
  for (const { name, type } of schema.columns) {
    const value = row[name];
    if (value !== undefined && value !== null) bytes.set(name, bytesOfJson(type, value));
  }
  return bytes;
}
