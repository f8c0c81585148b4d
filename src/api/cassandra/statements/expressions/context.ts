/** What a term is compiled with, and what it becomes. */
import type { Bytes } from '../../../../base/index.ts';
import type { TableSchema } from '../../schema/table-schema.ts';
import type { CqlType } from '../../types/cql-type.ts';
import type { UserTypes } from '../../types/parse-type.ts';
import type { BoundValue } from '../../wire/body-reader.ts';
import type { Call } from '../plan.ts';
import type { Scope } from '../scope.ts';
import type { AggregateState } from './candidate.ts';

/** A row as expressions see it. */
export interface RowAccess {
  value(name: string): Bytes | undefined;
  timestamp(name: string): bigint | undefined;
  /** 0: lives for ever. */
  expiresAtSec(name: string): number | undefined;
  /** The result of an aggregate of the group that the row stands for, by its number. */
  aggregate?(slot: number): Bytes | null;
}

/** The value of a term in one execution; in a selection also of one row. */
export type TermValue = (call: Call, row?: RowAccess) => BoundValue;

/** The place of a term: its column, or a name that stands for it. */
export interface Target {
  readonly name: string;
  readonly type: CqlType;
}

/** An aggregate of a selection: what it collects of each row, and where. */
export interface AggregateSlot {
  values(call: Call, row: RowAccess): readonly (Bytes | null)[];
  create(call: Call): AggregateState;
}

export interface TermContext {
  readonly scope: Scope;
  readonly schema: TableSchema | undefined;
  /** In a selection: where its aggregates are collected. Undefined: columns may not be named. */
  readonly slots?: AggregateSlot[] | undefined;
}

/** The types that a statement may name. */
export function typesOf({ scope, schema }: TermContext): UserTypes | undefined {
  const name = schema?.keyspace ?? scope.keyspace;
  return name === undefined ? undefined : scope.environment.keyspaces.find(name)?.types;
}
