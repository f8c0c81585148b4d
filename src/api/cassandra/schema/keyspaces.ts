/** Keyspaces and tables as the catalog has them: a keyspace is a database, a table a container of this home. */
import { createHash } from 'node:crypto';
import type { ContainerRecord, DatabaseRecord } from '../../../catalog/index.ts';
import type { Service } from '../../../service/index.ts';
import type { ValueMap } from '../../../value/index.ts';
import { invalid } from '../errors.ts';
import type { UserType } from '../types/cql-type.ts';
import type { UserTypes } from '../types/parse-type.ts';
import { uuidText } from '../types/text-forms.ts';
import { schemaOfPolicy, type TableSchema, typesOfValue } from './table-schema.ts';

export interface Keyspace {
  readonly name: string;
  readonly replication: Readonly<Record<string, string>>;
  readonly durableWrites: boolean;
  readonly types: UserTypes & Iterable<UserType>;
  readonly database: DatabaseRecord;
}

export interface Table {
  readonly schema: TableSchema;
  readonly container: ContainerRecord;
}

/** Ends the name of an empty table until it takes the place of one that is truncated. No name of CQL can have it. */
export const EMPTY_SUFFIX = '~empty';

export class Keyspaces {
  readonly #service: Service;
  /** Policies never change in place, so a schema is parsed once for each version of its table. */
  readonly #schemas = new WeakMap<ValueMap, TableSchema>();

  /** The last change of the schema; the next one waits for it, because it depends on what is there. */
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(service: Service) {
    this.#service = service;
  }

  /** One change of the schema at a time. */
  changeAlone<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#lastChange.then(change);
    this.#lastChange = result.catch(() => undefined);
    return result;
  }

  list(): readonly Keyspace[] {
    return this.#service.databases.list().flatMap((database) => keyspaceOf(database) ?? []);
  }

  find(name: string): Keyspace | undefined {
    const database = this.#service.databases.find(name);
    return database === undefined ? undefined : keyspaceOf(database);
  }

  tables({ database }: Keyspace): readonly Table[] {
    return this.#service.containers
      .list(database)
      .filter(({ home, id }) => home === 'cassandra' && !id.endsWith(EMPTY_SUFFIX))
      .map((container) => this.#tableOf(database, container));
  }

  findTable(keyspace: Keyspace, name: string): Table | undefined {
    const { database } = keyspace;
    const container = this.#service.containers.find(database, name);
    return container === undefined || container.home !== 'cassandra'
      ? undefined
      : this.#tableOf(database, container);
  }

  /** Throws CqlError where there is none. */
  table(keyspaceName: string, name: string): Table {
    const keyspace = this.find(keyspaceName);
    if (keyspace === undefined) throw invalid(`Keyspace ${keyspaceName} does not exist`);
    const table = this.findTable(keyspace, name);
    if (table === undefined) throw invalid(`unconfigured table ${name}`);
    return table;
  }

  /** A uuid that is the same as long as the schema is. */
  version(): string {
    const hash = createHash('md5');
    for (const keyspace of this.list()) {
      hash.update(JSON.stringify([keyspace.name, keyspace.database.policies?.cassandra]));
      for (const { container } of this.tables(keyspace))
        hash.update(JSON.stringify([container.id, container.policies]));
    }
    return uuidText(hash.digest());
  }

  #tableOf(database: DatabaseRecord, container: ContainerRecord): Table {
    const { policies } = container;
    const known = this.#schemas.get(policies);
    // An empty table takes the name of the one that it replaces.
    if (known?.name === container.id) return { schema: known, container };
    const schema = schemaOfPolicy(database.id, container.id, policies);
    this.#schemas.set(policies, schema);
    return { schema, container };
  }
}

function keyspaceOf(database: DatabaseRecord): Keyspace | undefined {
  const policy = database.policies?.cassandra as ValueMap | undefined;
  if (policy === undefined) return undefined;
  return {
    name: database.id,
    replication: policy.replication as Readonly<Record<string, string>>,
    durableWrites: policy.durableWrites !== false,
    types: typesOfValue(database.id, policy.types),
    database,
  };
}
