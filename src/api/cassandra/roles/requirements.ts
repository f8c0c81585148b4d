/** The permissions that a statement needs, from its parts. */
import type { ModificationStatement, Statement, TableName } from '../cql/ast.ts';
import { signatureOf, typesText, type UserRoutine } from '../functions/user-functions.ts';
import type { Scope } from '../statements/scope.ts';
import { typeText } from '../types/cql-type.ts';
import { dataResource, functionResource, type Requirement } from './resource.ts';

/** System tables that every caller reads: drivers cannot do without them. */
const OPEN_KEYSPACES: readonly string[] = [
  'system_schema',
  'system_virtual_schema',
  'system_views',
  'system_traces',
];
const OPEN_TABLES: readonly string[] = ['local', 'peers', 'peers_v2'];

export function requirementsOf(statement: Statement, scope: Scope): readonly Requirement[] {
  const functions = [...scope.usedFunctions].map(
    (routine): Requirement => ({
      permission: 'EXECUTE',
      resource: functionResource(routine.keyspace, signatureOf(routine)),
    }),
  );
  return [...dataRequirements(statement, scope), ...functions];
}

function dataRequirements(statement: Statement, scope: Scope): readonly Requirement[] {
  switch (statement.kind) {
    case 'select':
      return selectRequirements(statement.table, scope);
    case 'insert':
    case 'update':
    case 'delete':
      return modification(statement, scope);
    case 'batch':
      return statement.statements.flatMap((one) => modification(one, scope));
    case 'truncate':
      return [onTable('MODIFY', statement.table, scope)];
    case 'createKeyspace':
      return [{ permission: 'CREATE', resource: dataResource() }];
    case 'alterKeyspace':
      return [{ permission: 'ALTER', resource: dataResource(statement.name) }];
    case 'dropKeyspace':
      return [{ permission: 'DROP', resource: dataResource(statement.name) }];
    default:
      return schemaRequirements(statement, scope);
  }
}

function schemaRequirements(statement: Statement, scope: Scope): readonly Requirement[] {
  switch (statement.kind) {
    case 'createTable':
      return [onKeyspace('CREATE', statement.table, scope)];
    case 'alterTable':
      return [onTable('ALTER', statement.table, scope)];
    case 'dropTable':
      return [onTable('DROP', statement.table, scope)];
    case 'createView':
      return [onTable('ALTER', statement.base, scope)];
    case 'alterView':
    case 'dropView':
      return [onTable('ALTER', scope.baseOf(statement.view), scope)];
    case 'createIndex':
      return [onTable('ALTER', statement.table, scope)];
    case 'createType':
      return [onKeyspace('CREATE', statement.type, scope)];
    case 'alterType':
      return [onKeyspace('ALTER', statement.type, scope)];
    case 'dropType':
      return [onKeyspace('DROP', statement.type, scope)];
    case 'createFunction':
    case 'createAggregate':
      return createRoutine(statement, scope);
    case 'dropFunction':
    case 'dropAggregate': {
      const found = routinesOf(statement.name, statement.argumentTypes, scope);
      // A name that several routines have is refused anyway.
      return found.length > 1
        ? []
        : found.map((routine) => ({
            permission: 'DROP',
            resource: functionResource(routine.keyspace, signatureOf(routine)),
          }));
    }
    default:
      return [];
  }
}

function selectRequirements(table: TableName, scope: Scope): readonly Requirement[] {
  const keyspace = scope.keyspaceOf(table);
  const isOpen =
    OPEN_KEYSPACES.includes(keyspace) ||
    (keyspace === 'system' && OPEN_TABLES.includes(table.name));
  return isOpen ? [] : [onTable('SELECT', scope.baseOf(table), scope)];
}

function modification(statement: ModificationStatement, scope: Scope): readonly Requirement[] {
  const modify = onTable('MODIFY', statement.table, scope);
  return statement.conditions === undefined
    ? [modify]
    : [modify, { ...modify, permission: 'SELECT' }];
}

function onTable(
  permission: Requirement['permission'],
  table: TableName,
  scope: Scope,
): Requirement {
  return { permission, resource: dataResource(scope.keyspaceOf(table), table.name) };
}

function onKeyspace(
  permission: Requirement['permission'],
  name: TableName,
  scope: Scope,
): Requirement {
  return { permission, resource: dataResource(scope.keyspaceOf(name)) };
}

/** Replacing a routine alters it. */
function createRoutine(
  statement: Extract<Statement, { kind: 'createFunction' | 'createAggregate' }>,
  scope: Scope,
): readonly Requirement[] {
  const types =
    statement.kind === 'createFunction'
      ? statement.arguments.map(([, type]) => type)
      : statement.argumentTypes;
  const [existing] = statement.replaces ? routinesOf(statement.name, types, scope) : [];
  return existing === undefined
    ? [{ permission: 'CREATE', resource: functionResource(scope.keyspaceOf(statement.name)) }]
    : [
        {
          permission: 'ALTER',
          resource: functionResource(existing.keyspace, signatureOf(existing)),
        },
      ];
}

/** The routines of this name, and of these types where they are given. */
function routinesOf(
  name: TableName,
  types: readonly string[] | undefined,
  scope: Scope,
): readonly UserRoutine[] {
  const keyspace = scope.keyspaceOf(name);
  const wanted = types?.map((text) => typeText(scope.typeNamed(text, keyspace))).join(', ');
  return scope.environment.functions
    .named(keyspace, name.name)
    .filter((routine) => wanted === undefined || typesText(routine) === wanted);
}
