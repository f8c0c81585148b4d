/** CREATE, ALTER, DROP and TRUNCATE of keyspaces and tables. */
import type { ThroughputSetting } from '../../../catalog/index.ts';
import type { ContainerSpec } from '../../../service/index.ts';
import type { ValueMap } from '../../../value/index.ts';
import type { SchemaStatement } from '../cql/ast.ts';
import { CqlError, invalid } from '../errors.ts';
import { alterTable, partsOfSchema } from '../schema/alter-table.ts';
import { checkName, defineTable } from '../schema/define-table.ts';
import { indexingPolicyOf } from '../schema/index-policy.ts';
import { keyspacePolicy } from '../schema/keyspace-options.ts';
import { EMPTY_SUFFIX, type Keyspace, type Table } from '../schema/keyspaces.ts';
import { policyOf, type TableParts } from '../schema/table-schema.ts';
import { changeThroughput, throughputOf } from '../schema/throughput-options.ts';
import { uuidText } from '../types/text-forms.ts';
import { viewsOf } from '../views/apply-with-views.ts';
import { alterViews, checkAlterWithViews, checkDrop } from '../views/base-changes.ts';
import {
  type Call,
  type Environment,
  type Plan,
  type Result,
  type SchemaChange,
  VOID,
} from './plan.ts';
import type { Scope } from './scope.ts';

export type Run = (call: Call) => Promise<Result>;

export function schemaPlan(statement: SchemaStatement, scope: Scope): Plan {
  return schemaChange(statement.kind, runOf(statement, scope));
}

/** The plan of a change of the schema. Such changes are made one after the other. */
export function schemaChange(operation: string, run: Run): Plan {
  return {
    operation,
    variables: [],
    keyIndexes: [],
    columns: undefined,
    isCurrent: () => true,
    run: (call) => call.environment.keyspaces.changeAlone(() => run(call)),
  };
}

function runOf(statement: SchemaStatement, scope: Scope): Run {
  switch (statement.kind) {
    case 'createKeyspace':
      return (call) => createKeyspace(statement, call);
    case 'alterKeyspace':
      return (call) => alterKeyspace(statement, call);
    case 'dropKeyspace':
      return (call) => dropKeyspace(statement, call);
    case 'createTable':
      return (call) => createTable(statement, scope, call);
    case 'alterTable':
      return (call) => alter(statement, scope, call);
    case 'dropTable':
      return (call) => dropTable(statement, scope, call);
    case 'truncate':
      return (call) => truncate(statement, scope, call);
  }
}

type Of<K extends SchemaStatement['kind']> = Extract<SchemaStatement, { kind: K }>;

async function createKeyspace(statement: Of<'createKeyspace'>, call: Call): Promise<Result> {
  const { name, ifNotExists, options } = statement;
  const { service, keyspaces, system } = call.environment;
  checkName(name, 'keyspace');
  if (system.has(name)) throw invalid(`${name} keyspace is not user-modifiable.`);
  const policy = keyspacePolicy(name, options);
  if (service.databases.find(name) !== undefined) {
    if (ifNotExists && keyspaces.find(name) !== undefined) return VOID;
    throw existing(name, '');
  }
  const database = await service.databases.create(name, throughputOf(options, call));
  await service.databases.setPolicies(database.rid, { cassandra: policy });
  return changed({ change: 'CREATED', target: 'KEYSPACE', keyspace: name, name: '' });
}

async function alterKeyspace(statement: Of<'alterKeyspace'>, call: Call): Promise<Result> {
  const { name, options, ifExists } = statement;
  const { service, keyspaces } = call.environment;
  const keyspace = keyspaces.find(name);
  if (keyspace === undefined) {
    if (ifExists) return VOID;
    throw invalid(`Keyspace '${name}' doesn't exist`);
  }
  const policy = keyspacePolicy(name, options, keyspace);
  await changeThroughput(keyspace.database.throughput, throughputOf(options, call), call);
  const now = keyspaces.find(name) ?? keyspace;
  const kept = now.database.policies?.cassandra as ValueMap;
  await service.databases.setPolicies(now.database.rid, { cassandra: { ...kept, ...policy } });
  return changed({ change: 'UPDATED', target: 'KEYSPACE', keyspace: name, name: '' });
}

async function dropKeyspace(statement: Of<'dropKeyspace'>, call: Call): Promise<Result> {
  const { name, ifExists } = statement;
  const { service, keyspaces } = call.environment;
  const keyspace = keyspaces.find(name);
  if (keyspace === undefined) {
    if (ifExists) return VOID;
    throw invalid(`Keyspace '${name}' doesn't exist`);
  }
  await service.databases.delete(keyspace.database.rid);
  return changed({ change: 'DROPPED', target: 'KEYSPACE', keyspace: name, name: '' });
}

async function createTable(
  statement: Of<'createTable'>,
  scope: Scope,
  call: Call,
): Promise<Result> {
  const { environment } = call;
  const { table, ifNotExists, options } = statement;
  const keyspace = userKeyspace(scope.keyspaceOf(table), environment);
  if (environment.service.containers.find(keyspace.database, table.name) !== undefined) {
    if (ifNotExists) return VOID;
    throw existing(keyspace.name, table.name);
  }
  const parts = defineTable(statement, keyspace.types, newTableId(environment));
  const throughput = throughputOf(options, call) ?? defaultThroughput(keyspace, environment);
  await environment.service.containers.create(keyspace.database.rid, specOf(parts, throughput));
  return changed({ change: 'CREATED', target: 'TABLE', keyspace: keyspace.name, name: table.name });
}

export function specOf(
  parts: TableParts,
  throughput: ThroughputSetting | undefined,
): ContainerSpec {
  const { name, columns } = parts;
  const paths = columns
    .filter(({ kind }) => kind === 'partition_key')
    .sort((a, b) => a.position - b.position)
    .map((column) => `/${column.name}`);
  return {
    id: name,
    home: 'cassandra',
    partitionKey: { paths, kind: 'Token', version: 2 },
    indexingPolicy: indexingPolicyOf(parts),
    // Rows say themselves when they end.
    defaultTtlSec: -1,
    uniqueKeys: [],
    policies: policyOf(parts),
    throughput,
  };
}

async function alter(statement: Of<'alterTable'>, scope: Scope, call: Call): Promise<Result> {
  const { keyspaces } = call.environment;
  const { table: name, change, ifExists } = statement;
  const keyspace = userKeyspace(scope.keyspaceOf(name), call.environment);
  const table = keyspaces.findTable(keyspace, name.name);
  if (table === undefined) {
    if (ifExists) return VOID;
    throw invalid(`Table '${keyspace.name}.${name.name}' doesn't exist`);
  }
  const { schema } = table;
  checkAlterWithViews(schema, change);
  const parts = alterTable(schema, change, keyspace.types, call.serverTimestamp);
  if (change.kind === 'with')
    await changeThroughput(table.container.throughput, throughputOf(change.options, call), call);
  await replaceTable(keyspaces.findTable(keyspace, name.name) ?? table, parts, call);
  await alterViews(table, change, keyspace.types, call);
  return changed({
    change: 'UPDATED',
    target: 'TABLE',
    keyspace: schema.keyspace,
    name: schema.name,
  });
}

/** The same table with another schema. */
export async function replaceTable(
  { container }: Table,
  parts: TableParts,
  { environment }: Call,
): Promise<void> {
  await environment.service.containers.replace(container, {
    indexingPolicy: indexingPolicyOf(parts),
    defaultTtlSec: container.defaultTtlSec,
    policies: policyOf(parts),
  });
}

async function dropTable(statement: Of<'dropTable'>, scope: Scope, call: Call): Promise<Result> {
  const { environment } = call;
  const name = scope.keyspaceOf(statement.table);
  const keyspace = environment.keyspaces.find(name);
  const table = keyspace && environment.keyspaces.findTable(keyspace, statement.table.name);
  if (table === undefined) {
    if (statement.ifExists) return VOID;
    throw invalid(`Table '${name}.${statement.table.name}' doesn't exist`);
  }
  checkDrop(table.schema);
  await environment.service.containers.delete(table.container);
  return changed({
    change: 'DROPPED',
    target: 'TABLE',
    keyspace: name,
    name: statement.table.name,
  });
}

/**
 * The same table with new partitions: an empty one takes its name, and the old one is dropped with all its rows in the
 * same step. So the table is always there, also where the server ends in between.
 */
async function truncate({ table }: Of<'truncate'>, scope: Scope, call: Call): Promise<Result> {
  const { containers } = call.environment.service;
  const base = scope.table(table);
  if (base.schema.view !== undefined)
    throw invalid('Cannot TRUNCATE materialized view directly; must truncate base table instead');
  for (const { container, schema } of [base, ...viewsOf(base, call)]) {
    const id = `${container.id}${EMPTY_SUFFIX}`;
    const database = call.environment.keyspaces.find(schema.keyspace)?.database;
    const left = database && containers.find(database, id);
    if (left !== undefined) await containers.delete(left);
    const spec = specOf(partsOfSchema(schema), container.throughput?.setting);
    const empty = await containers.create(container.databaseRid, { ...spec, id });
    await containers.rename(empty, container.id, true);
  }
  return VOID;
}

export function userKeyspace(name: string, { keyspaces, system }: Environment): Keyspace {
  if (system.has(name)) throw invalid(`${name} keyspace is not user-modifiable.`);
  const keyspace = keyspaces.find(name);
  if (keyspace === undefined) throw invalid(`Keyspace '${name}' doesn't exist`);
  return keyspace;
}

/** The throughput of a table that was given none: enough to grow beyond one partition. */
export function defaultThroughput(
  { database }: Keyspace,
  { service }: Environment,
): ThroughputSetting | undefined {
  const { capacityMode, unlimitedThroughputMin } = service.settings;
  if (capacityMode === 'serverless' || database.throughput !== undefined) return undefined;
  return { kind: 'manual', requestUnits: unlimitedThroughputMin };
}

export function newTableId({ random }: Environment): string {
  const bytes = Buffer.from(Array.from({ length: 16 }, () => random.below(256)));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return uuidText(bytes);
}

function existing(keyspace: string, table: string): CqlError {
  const message =
    table === ''
      ? `Cannot add existing keyspace "${keyspace}"`
      : `Cannot add already existing table "${table}" to keyspace "${keyspace}"`;
  return new CqlError('alreadyExists', message, { kind: 'existing', keyspace, table });
}

export function changed(change: SchemaChange): Result {
  return { kind: 'schemaChange', change };
}
