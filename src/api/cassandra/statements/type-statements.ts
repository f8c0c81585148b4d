/** CREATE, ALTER and DROP TYPE. Tables keep the types they use, so a changed type is written to all of them. */
import type { TypeStatement } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import { partsOfSchema } from '../schema/alter-table.ts';
import type { Keyspace } from '../schema/keyspaces.ts';
import { type TableSchema, typeValue } from '../schema/table-schema.ts';
import {
  type CqlType,
  isNative,
  partsOfType,
  quotedName,
  type UserType,
} from '../types/cql-type.ts';
import { checkNesting, parseType, type UserTypes } from '../types/parse-type.ts';
import { type Call, type Plan, type Result, VOID } from './plan.ts';
import { changed, replaceTable, schemaChange, userKeyspace } from './schema-statements.ts';
import type { Scope } from './scope.ts';

type Of<K extends TypeStatement['kind']> = Extract<TypeStatement, { kind: K }>;

export function typePlan(statement: TypeStatement, scope: Scope): Plan {
  const keyspaceName = scope.keyspaceOf(statement.type);
  return schemaChange(statement.kind, (call) => {
    const isUnknown = call.environment.keyspaces.find(keyspaceName) === undefined;
    if (isUnknown && statement.kind === 'dropType' && statement.ifExists)
      return Promise.resolve(VOID);
    const keyspace = userKeyspace(keyspaceName, call.environment);
    switch (statement.kind) {
      case 'createType':
        return createType(statement, keyspace, call);
      case 'alterType':
        return alterType(statement, keyspace, call);
      case 'dropType':
        return dropType(statement, keyspace, call);
    }
  });
}

async function createType(
  { type: { name }, fields, ifNotExists }: Of<'createType'>,
  keyspace: Keyspace,
  call: Call,
): Promise<Result> {
  if (keyspace.types.find(name) !== undefined) {
    if (ifNotExists) return VOID;
    throw invalid(`A user type with name '${name}' already exists`);
  }
  const names = new Set<string>();
  for (const [field] of fields) {
    if (names.has(field)) throw invalid(`Duplicate field name '${field}' in type '${name}'`);
    names.add(field);
  }
  const type: UserType = {
    kind: 'user',
    keyspace: keyspace.name,
    name,
    isFrozen: false,
    fields: fields.map(([field, text]) => ({
      name: field,
      type: fieldType(text, keyspace.types),
    })),
  };
  await keepTypes(keyspace, [...keyspace.types, type], call);
  return changed({ change: 'CREATED', target: 'TYPE', keyspace: keyspace.name, name });
}

function fieldType(text: string, types: UserTypes): CqlType {
  const type = checkNesting(parseType(text, types), text);
  if (isNative(type, 'counter')) throw invalid('A user type cannot contain counters');
  if (type.kind === 'user' && !type.isFrozen)
    throw invalid('A user type cannot contain non-frozen UDTs');
  return type;
}

async function keepTypes(
  { database }: Keyspace,
  types: readonly UserType[],
  { environment }: Call,
): Promise<void> {
  const policy = database.policies?.cassandra as Record<string, never>;
  await environment.service.databases.setPolicies(database.rid, {
    cassandra: { ...policy, types: types.map(typeValue) },
  });
}

async function alterType(
  { type: { name }, change }: Of<'alterType'>,
  keyspace: Keyspace,
  call: Call,
): Promise<Result> {
  const before = keyspace.types.find(name);
  if (before === undefined) throw invalid(`Type ${keyspace.name}.${name} doesn't exist`);
  const after = alteredType(before, change, keyspace, call);
  const types = [...keyspace.types].map((type) => (type.name === name ? after : type));
  await keepTypes(keyspace, types, call);
  const { keyspaces } = call.environment;
  for (const table of keyspaces.tables(keyspace)) {
    if (!usesType(table.schema, name)) continue;
    const parts = partsOfSchema(table.schema);
    const columns = parts.columns.map((column) => ({
      ...column,
      type: withType(column.type, after),
    }));
    await replaceTable(table, { ...parts, columns }, call);
  }
  return changed({ change: 'UPDATED', target: 'TYPE', keyspace: keyspace.name, name });
}

function alteredType(
  type: UserType,
  change: Of<'alterType'>['change'],
  keyspace: Keyspace,
  call: Call,
): UserType {
  const label = quotedName(type.name);
  switch (change.kind) {
    case 'alter':
      throw invalid('Altering field types is no longer supported');
    case 'add': {
      if (type.fields.some(({ name }) => name === change.name))
        throw invalid(
          `Cannot add field ${change.name} to type ${label}: a field with name ${change.name} already exists`,
        );
      const added = checkNesting(parseType(change.type, keyspace.types), change.type);
      if (refersTo(added, type.name))
        throw invalid(
          `Cannot add new field ${change.name} of type ${change.type} to user type ${label} as it would create a circular reference`,
        );
      const keyed = call.environment.keyspaces
        .tables(keyspace)
        .filter(({ schema }) =>
          schema.partitionKey.some((column) => refersTo(column.type, type.name)),
        );
      if (keyed.length > 0)
        throw invalid(
          `Cannot add new field ${change.name} of type ${change.type} to user type ${label} as the type is being used in partition key by the following tables: ${keyed.map(({ schema }) => `${schema.keyspace}.${schema.name}`).join(', ')}`,
        );
      return { ...type, fields: [...type.fields, { name: change.name, type: added }] };
    }
    case 'rename': {
      const fields = [...type.fields];
      for (const [from, to] of change.names) {
        const at = fields.findIndex(({ name }) => name === from);
        if (at < 0) throw invalid(`Unkown field ${from} in user type ${keyspace.name}`);
        fields[at] = { name: to, type: (fields[at] as (typeof fields)[number]).type };
      }
      const twice = fields.find((field, at) => fields.findIndex((f) => f.name === field.name) < at);
      if (twice !== undefined)
        throw invalid(`Duplicate field name ${twice.name} in type ${keyspace.name}`);
      return { ...type, fields };
    }
  }
}

async function dropType(
  { type: { name }, ifExists }: Of<'dropType'>,
  keyspace: Keyspace,
  call: Call,
): Promise<Result> {
  if (keyspace.types.find(name) === undefined) {
    if (ifExists) return VOID;
    throw invalid(`Type '${keyspace.name}.${name}' doesn't exist`);
  }
  const refuse = (what: string, names: readonly string[]): void => {
    if (names.length > 0)
      throw invalid(
        `Cannot drop user type '${keyspace.name}.${name}' as it is still used by ${what} ${names.join(', ')}`,
      );
  };
  const users = [...keyspace.types].filter((type) => type.name !== name && refersTo(type, name));
  refuse(
    'user types',
    users.map((type) => type.name),
  );
  const tables = call.environment.keyspaces.tables(keyspace);
  refuse(
    'tables',
    tables.filter(({ schema }) => usesType(schema, name)).map(({ schema }) => schema.name),
  );
  const rest = [...keyspace.types].filter((type) => type.name !== name);
  await keepTypes(keyspace, rest, call);
  return changed({ change: 'DROPPED', target: 'TYPE', keyspace: keyspace.name, name });
}

function usesType({ columns }: TableSchema, name: string): boolean {
  return columns.some(({ type }) => refersTo(type, name));
}

function refersTo(type: CqlType, name: string): boolean {
  for (const part of partsOfType(type)) if (part.kind === 'user' && part.name === name) return true;
  return false;
}

/** The type with a new form of one of the types in it. */
function withType(type: CqlType, changedType: UserType): CqlType {
  const inner = (part: CqlType): CqlType => withType(part, changedType);
  switch (type.kind) {
    case 'native':
      return type;
    case 'list':
    case 'set':
      return { ...type, element: inner(type.element) };
    case 'map':
      return { ...type, key: inner(type.key), value: inner(type.value) };
    case 'tuple':
      return { ...type, elements: type.elements.map(inner) };
    case 'user':
      return type.name === changedType.name
        ? { ...changedType, isFrozen: type.isFrozen }
        : { ...type, fields: type.fields.map(({ name, type: t }) => ({ name, type: inner(t) })) };
  }
}
