/** What the preparation of one statement knows and collects. */
import { assert } from '../../../base/index.ts';
import type { BindMarker, TableName } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import { candidateOf } from '../functions/function-candidates.ts';
import type { UserRoutine } from '../functions/user-functions.ts';
import type { Table } from '../schema/keyspaces.ts';
import type { ColumnSchema, TableSchema } from '../schema/table-schema.ts';
import type { CqlType } from '../types/cql-type.ts';
import { parseType } from '../types/parse-type.ts';
import type { FunctionCandidate } from './expressions/candidate.ts';
import type { Environment, Variable } from './plan.ts';

export class Scope {
  readonly environment: Environment;
  /** The keyspace that names without one are in. */
  readonly keyspace: string | undefined;
  /** The keyspace of the statement's table, where functions without one are looked for. */
  #tableKeyspace: string | undefined;
  readonly #variables: (Variable | undefined)[] = [];
  /** Bind markers that are the whole value of a partition key column, by the name of the column. */
  readonly keyMarkers = new Map<string, number>();

  /** The user functions that the statement calls. */
  readonly usedFunctions = new Set<UserRoutine>();

  constructor(environment: Environment, keyspace: string | undefined) {
    this.environment = environment;
    this.keyspace = keyspace;
  }

  keyspaceOf({ keyspace }: TableName): string {
    const name = keyspace ?? this.keyspace;
    if (name === undefined)
      throw invalid(
        'No keyspace has been specified. USE a keyspace, or explicitly specify keyspace.tablename',
      );
    this.#tableKeyspace = name;
    return name;
  }

  /** A table of a client; system tables cannot be written. */
  table(name: TableName): Table {
    const keyspace = this.keyspaceOf(name);
    if (this.environment.system.has(keyspace))
      throw invalid(`${keyspace} keyspace is not user-modifiable.`);
    return this.environment.keyspaces.table(keyspace, name.name);
  }

  /** The base table of a view, or the table itself: permissions of views are those of their base. */
  baseOf(name: TableName): TableName {
    const keyspaceName = this.keyspaceOf(name);
    const keyspace = this.environment.keyspaces.find(keyspaceName);
    const found = keyspace && this.environment.keyspaces.findTable(keyspace, name.name);
    return { keyspace: keyspaceName, name: found?.schema.view?.base ?? name.name };
  }

  /** A type by its text, where types of clients may be those of a keyspace. */
  typeNamed(text: string, keyspaceName: string): CqlType {
    return parseType(text, this.environment.keyspaces.find(keyspaceName)?.types);
  }

  /** Functions that clients have made, by their name. */
  userFunctions(keyspace: string | undefined, name: string): readonly FunctionCandidate[] {
    const where = keyspace ?? this.#tableKeyspace ?? this.keyspace;
    if (where === undefined) return [];
    return this.environment.functions
      .named(where, name)
      .map((routine) => candidateOf(routine, () => this.usedFunctions.add(routine)));
  }

  bind(
    marker: BindMarker,
    target: { name: string; type: CqlType },
    schema: TableSchema | undefined,
  ): void {
    this.#variables[marker.index] = {
      name: marker.name ?? target.name,
      type: target.type,
      keyspace: schema?.keyspace ?? '',
      table: schema?.name ?? '',
    };
  }

  variables(count: number): readonly Variable[] {
    return Array.from({ length: count }, (_, at) => {
      const variable = this.#variables[at];
      assert(variable !== undefined, 'every marker has a place');
      return variable;
    });
  }

  /** The variables of the whole partition key, in its order; none where a part is something else. */
  keyIndexes({ partitionKey }: TableSchema): readonly number[] {
    const indexes = partitionKey.flatMap(({ name }) => this.keyMarkers.get(name) ?? []);
    return indexes.length === partitionKey.length ? indexes : [];
  }
}

export function columnNamed(schema: TableSchema, name: string): ColumnSchema {
  const column = schema.column(name);
  if (column === undefined)
    throw invalid(`Undefined column name ${name} in table ${schema.keyspace}.${schema.name}`);
  return column;
}
