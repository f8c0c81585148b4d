/** CREATE INDEX and DROP INDEX: which columns may be searched without ALLOW FILTERING. */
import type { IndexedPart, IndexStatement, IndexTarget, TableName } from '../cql/ast.ts';
import { CqlError, invalid } from '../errors.ts';
import { partsOfSchema } from '../schema/alter-table.ts';
import { checkName } from '../schema/define-table.ts';
import type { Keyspace, Table } from '../schema/keyspaces.ts';
import type { ColumnSchema, IndexSchema, TableSchema } from '../schema/table-schema.ts';
import { durationsOf, isCollection, isMultiCell, quotedName } from '../types/cql-type.ts';
import { type Call, type Plan, type Result, VOID } from './plan.ts';
import { changed, replaceTable, schemaChange, userKeyspace } from './schema-statements.ts';
import type { Scope } from './scope.ts';

type Of<K extends IndexStatement['kind']> = Extract<IndexStatement, { kind: K }>;

export function indexPlan(statement: IndexStatement, scope: Scope): Plan {
  const name: TableName = statement.kind === 'createIndex' ? statement.table : statement.index;
  const keyspaceName = scope.keyspaceOf(name);
  if (statement.kind === 'createIndex') checkClass(statement);
  return schemaChange(statement.kind, (call) => {
    if (statement.kind === 'dropIndex' && isUnknown(statement, keyspaceName, call))
      return Promise.resolve(VOID);
    const keyspace = userKeyspace(keyspaceName, call.environment);
    return statement.kind === 'createIndex'
      ? createIndex(statement, keyspace, call)
      : dropIndex(statement, keyspace, call);
  });
}

function checkClass({ isCustom, customClass, options }: Of<'createIndex'>): void {
  if (isCustom && customClass === undefined)
    throw invalid('CUSTOM index requires specifiying the index class');
  if (!isCustom && customClass !== undefined)
    throw invalid('Cannot specify index class for a non-CUSTOM index');
  if (!isCustom && options.size > 0) throw invalid('Cannot specify options for a non-CUSTOM index');
  const unknown = [...options.keys()].find((option) => option !== 'options');
  if (unknown !== undefined) throw new CqlError('syntaxError', `Unknown property '${unknown}'`);
}

async function createIndex(
  statement: Of<'createIndex'>,
  keyspace: Keyspace,
  call: Call,
): Promise<Result> {
  const { keyspaces } = call.environment;
  const { targets, customClass, ifNotExists } = statement;
  const table = keyspaces.findTable(keyspace, statement.table.name);
  if (table === undefined) throw invalid(`Table '${statement.table.name}' doesn't exist`);
  const { schema } = table;
  const taken = keyspaces.tables(keyspace).flatMap((one) => one.schema.indexes);
  if (statement.name !== undefined) {
    checkName(statement.name, 'table');
    if (taken.some(({ name }) => name === statement.name)) {
      if (ifNotExists) return VOID;
      throw invalid(`Index '${statement.name}' already exists`);
    }
  }
  if (schema.isCounter) throw invalid("Secondary indexes on counter tables aren't supported");
  const [target] = targets;
  if (target === undefined)
    throw invalid('Only CUSTOM indexes can be created without specifying a target column');
  if (targets.length > 1) throw invalid('Only CUSTOM indexes support multiple columns');
  if (customClass !== undefined && !KNOWN_CLASSES.has(customClass))
    throw invalid(`Unable to find custom indexer class '${customClass}'`);
  const { column, part } = checkTarget(target, schema);
  const index: IndexSchema = {
    name: statement.name ?? freeName(schema, column, taken),
    kind: customClass === undefined ? 'COMPOSITES' : 'CUSTOM',
    column,
    part,
    options: {
      ...customOptions(statement),
      target: targetText(column, part),
    },
  };
  const same = schema.indexes.find((one) => one.options.target === index.options.target);
  if (same !== undefined) {
    if (ifNotExists) return VOID;
    throw invalid(`Index ${index.name} is a duplicate of existing index ${same.name}`);
  }
  return keepIndexes(table, [...schema.indexes, index], call);
}

/** The class and the options of a custom index, as system_schema shows them. */
function customOptions({ customClass, options }: Of<'createIndex'>): Record<string, string> {
  if (customClass === undefined) return {};
  const given = options.get('options');
  return {
    ...(given instanceof Map ? (Object.fromEntries(given) as Record<string, string>) : {}),
    class_name: customClass,
  };
}

/** Classes of custom indexes that do nothing more than an index of ours. */
const KNOWN_CLASSES: ReadonlySet<string> = new Set([
  'org.apache.cassandra.index.internal.composites.CompositesIndex',
  'org.apache.cassandra.index.sasi.SASIIndex',
  'org.apache.cassandra.index.StubIndex',
]);

/** An index on a collection is one of its values, unless it says otherwise. */
function checkTarget(target: IndexTarget, schema: TableSchema): IndexTarget {
  const column = schema.column(target.column);
  if (column === undefined) throw invalid(`Column '${target.column}' doesn't exist`);
  const { type, name } = column;
  checkDurations(column);
  if (schema.isCompact) checkCompact(column, schema);
  if (column.kind === 'partition_key' && schema.partitionKey.length === 1)
    throw invalid(`Cannot create secondary index on the only partition key column ${name}`);
  const isFrozen = isCollection(type) && !isMultiCell(type);
  const part: IndexedPart = target.part === 'simple' && isCollection(type) ? 'values' : target.part;
  if (isFrozen && part !== 'full')
    throw invalid(
      `Cannot create ${part}() index on frozen column ${name}. Frozen collections are immutable and must be fully indexed by using the 'full(${name})' modifier`,
    );
  if (!isFrozen && part === 'full')
    throw invalid('full() indexes can only be created on frozen collections');
  if (!isCollection(type) && part !== 'simple')
    throw invalid(
      `Cannot create ${part}() index on ${name}. Non-collection columns only support simple indexes`,
    );
  if ((part === 'keys' || part === 'entries') && type.kind !== 'map')
    throw invalid(`Cannot create index on ${part} of column ${name} with non-map type`);
  if (type.kind === 'user' && isMultiCell(type))
    throw invalid(`Cannot create index on non-frozen UDT column ${name}`);
  return { column: name, part };
}

function checkDurations({ type }: ColumnSchema): void {
  const what = durationsOf(type);
  if (what !== undefined) throw invalid(`Secondary indexes are not supported on ${what}`);
}

function checkCompact({ kind }: ColumnSchema, { clustering }: TableSchema): void {
  if (kind === 'partition_key' || kind === 'clustering')
    throw invalid(
      'Secondary indexes are not supported on PRIMARY KEY columns in COMPACT STORAGE tables',
    );
  if (clustering.length > 0)
    throw invalid(
      'Secondary indexes are not supported on compact value column of COMPACT STORAGE tables',
    );
}

function targetText(column: string, part: IndexedPart): string {
  return part === 'simple' ? quotedName(column) : `${part}(${quotedName(column)})`;
}

/** `table_column_idx`, with a number where the name is taken. */
function freeName({ name }: TableSchema, column: string, taken: readonly IndexSchema[]): string {
  const base = `${name}_${column.replace(/\W/g, '')}_idx`;
  let candidate = base;
  for (let at = 1; taken.some((index) => index.name === candidate); at++)
    candidate = `${base}_${at}`;
  return candidate;
}

async function keepIndexes(
  table: Table,
  indexes: readonly IndexSchema[],
  call: Call,
): Promise<Result> {
  const { schema } = table;
  await replaceTable(table, { ...partsOfSchema(schema), indexes }, call);
  return changed({
    change: 'UPDATED',
    target: 'TABLE',
    keyspace: schema.keyspace,
    name: schema.name,
  });
}

async function dropIndex(
  { index: { name }, ifExists }: Of<'dropIndex'>,
  keyspace: Keyspace,
  call: Call,
): Promise<Result> {
  const table = call.environment.keyspaces
    .tables(keyspace)
    .find(({ schema }) => schema.indexes.some((index) => index.name === name));
  if (table === undefined) {
    if (ifExists) return VOID;
    throw invalid(`Index '${keyspace.name}.${name}' doesn't exist'`);
  }
  const rest = table.schema.indexes.filter((index) => index.name !== name);
  return keepIndexes(table, rest, call);
}

function isUnknown({ ifExists }: Of<'dropIndex'>, keyspace: string, call: Call): boolean {
  return ifExists && call.environment.keyspaces.find(keyspace) === undefined;
}
