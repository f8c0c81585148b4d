/** The rows of the system tables, made from the catalog at every request. */
import type { ClientDescription } from '../connection.ts';
import type { UserFunctions } from '../functions/user-functions.ts';
import type { RoleStore } from '../roles/role-store.ts';
import { DATA_CENTER } from '../schema/keyspace-options.ts';
import type { Keyspace, Keyspaces } from '../schema/keyspaces.ts';
import type { PlainRow, TableSchema } from '../schema/table-schema.ts';
import type { Traces } from '../tracing/traces.ts';
import { TOKEN_MIN } from '../types/token.ts';
import {
  aggregateRows,
  clientRows,
  functionRows,
  permissionRows,
  roleMemberRows,
  roleRows,
  settingRows,
} from './service-rows.ts';
import {
  isVirtual,
  plainRow,
  SYSTEM_KEYSPACES,
  type SystemRow,
  type SystemTable,
  systemTables,
} from './system-tables.ts';
import { columnRows, droppedRows, indexRows, tableRow, typeRows, viewRow } from './table-rows.ts';

const RELEASE_VERSION = '4.0.11';
export const CQL_VERSION = '3.4.5';
const PARTITIONER = 'org.apache.cassandra.dht.Murmur3Partitioner';

/** The server as a client reached it. */
export interface LocalNode {
  readonly address: string;
  readonly port: number;
}

/** Where the rows of the system tables come from. */
interface SystemParts {
  readonly keyspaces: Keyspaces;
  /** A uuid that names this server. */
  readonly hostId: string;
  readonly roles: RoleStore;
  readonly functions: UserFunctions;
  readonly traces: Traces;
  clients(): readonly ClientDescription[];
}

type RowsOf = (node: LocalNode) => readonly SystemRow[];

export class SystemKeyspaces {
  readonly #parts: SystemParts;
  readonly #keyspaces: Keyspaces;
  readonly #tables = systemTables();
  readonly #hostId: string;
  readonly #rows: Readonly<Record<string, RowsOf>>;

  constructor(parts: SystemParts) {
    this.#parts = parts;
    this.#keyspaces = parts.keyspaces;
    this.#hostId = parts.hostId;
    this.#rows = this.#sources();
  }

  names(): readonly string[] {
    return SYSTEM_KEYSPACES;
  }

  tablesOf(keyspace: string): readonly SystemTable[] {
    return [...this.#tables.values()].filter(({ schema }) => schema.keyspace === keyspace);
  }

  has(keyspace: string): boolean {
    return SYSTEM_KEYSPACES.includes(keyspace);
  }

  find(keyspace: string, name: string): SystemTable | undefined {
    return this.#tables.get(`${keyspace}.${name}`);
  }

  /** All rows of a table, in the order of their keys. */
  rows(schema: TableSchema, node: LocalNode): readonly PlainRow[] {
    return this.#rowsOf(`${schema.keyspace}.${schema.name}`, node).map((row) =>
      plainRow(schema, row),
    );
  }

  #rowsOf(path: string, node: LocalNode): readonly SystemRow[] {
    return this.#rows[path]?.(node) ?? [];
  }

  /** Tables that are not named have no rows. */
  #sources(): Readonly<Record<string, RowsOf>> {
    const { roles, traces, clients } = this.#parts;
    return {
      'system.IndexInfo': () =>
        this.#schemas(false).flatMap(({ keyspace, indexes }) =>
          indexes.map(({ name }) => ({ table_name: keyspace, index_name: name })),
        ),
      'system.local': (node) => [this.#local(node)],
      'system.built_views': () =>
        this.#views()
          .filter(({ view }) => view?.isBuilding !== true)
          .map(({ keyspace, name }) => ({
            keyspace_name: keyspace,
            view_name: name,
            status_replicated: true,
          })),
      'system_auth.role_members': () => roleMemberRows(roles),
      'system_auth.role_permissions': () => permissionRows(roles),
      'system_auth.roles': () => roleRows(roles),
      'system_distributed.view_build_status': () =>
        this.#views().map(({ keyspace, name, view }) => ({
          keyspace_name: keyspace,
          view_name: name,
          host_id: this.#hostId,
          status: view?.isBuilding === true ? 'STARTED' : 'SUCCESS',
        })),
      'system_schema.aggregates': () => this.#ofKeyspaces(aggregateRows),
      'system_schema.columns': () => this.#schemas(false).flatMap(columnRows),
      'system_schema.dropped_columns': () => this.#schemas(false).flatMap(droppedRows),
      'system_schema.functions': () => this.#ofKeyspaces(functionRows),
      'system_schema.indexes': () => this.#schemas(false).flatMap(indexRows),
      'system_schema.keyspaces': () => this.#keyspaceRows(),
      'system_schema.tables': () =>
        this.#schemas(false)
          .filter(({ view }) => view === undefined)
          .map(tableRow),
      'system_schema.types': () => this.#ofKeyspaces(typeRows),
      'system_schema.views': () => this.#views().map(viewRow),
      'system_traces.events': () => traces.events(),
      'system_traces.sessions': () => traces.sessions(),
      'system_views.clients': () => clientRows(clients()),
      'system_views.settings': () => settingRows(),
      'system_virtual_schema.columns': () => this.#schemas(true).flatMap(columnRows),
      'system_virtual_schema.keyspaces': () =>
        SYSTEM_KEYSPACES.filter(isVirtual).map((name) => ({ keyspace_name: name })),
      'system_virtual_schema.tables': () =>
        this.#schemas(true).map(({ keyspace, name }) => ({
          keyspace_name: keyspace,
          table_name: name,
          comment: '',
        })),
    };
  }

  #views(): readonly TableSchema[] {
    return this.#schemas(false).filter(({ view }) => view !== undefined);
  }

  #ofKeyspaces(
    rows: (keyspace: Keyspace, functions: UserFunctions) => readonly SystemRow[],
  ): readonly SystemRow[] {
    return this.#keyspaces.list().flatMap((keyspace) => rows(keyspace, this.#parts.functions));
  }

  #local({ address, port }: LocalNode): SystemRow {
    return {
      key: 'local',
      bootstrapped: 'COMPLETED',
      broadcast_address: address,
      broadcast_port: 7000,
      cluster_name: 'Mesocosm',
      cql_version: CQL_VERSION,
      data_center: DATA_CENTER,
      gossip_generation: 1,
      host_id: this.#hostId,
      listen_address: address,
      listen_port: 7000,
      native_protocol_version: '5',
      partitioner: PARTITIONER,
      rack: 'rack1',
      release_version: RELEASE_VERSION,
      rpc_address: address,
      rpc_port: port,
      schema_version: this.#keyspaces.version(),
      tokens: [TOKEN_MIN.toString()],
    };
  }

  #keyspaceRows(): readonly SystemRow[] {
    const own = SYSTEM_KEYSPACES.filter((name) => !isVirtual(name)).map((name) => ({
      keyspace_name: name,
      durable_writes: true,
      replication: { class: 'org.apache.cassandra.locator.LocalStrategy' },
    }));
    const others = this.#keyspaces.list().map(({ name, durableWrites, replication }) => ({
      keyspace_name: name,
      durable_writes: durableWrites,
      replication,
    }));
    return [...own, ...others];
  }

  #schemas(areVirtual: boolean): readonly TableSchema[] {
    const own = [...this.#tables.values()].filter((table) => table.isVirtual === areVirtual);
    const schemas = own.map(({ schema }) => schema);
    if (areVirtual) return schemas;
    const others = this.#keyspaces
      .list()
      .flatMap((keyspace) => this.#keyspaces.tables(keyspace).map(({ schema }) => schema));
    return [...schemas, ...others];
  }
}
