/** A function that a call may mean: native, or made by a client. */
import type { Bytes } from '../../../../base/index.ts';
import type { CqlType } from '../../types/cql-type.ts';
import type { Call } from '../plan.ts';
import type { RowAccess } from './context.ts';

export interface FunctionCandidate {
  /** `system` for native ones. */
  readonly keyspace: string;
  readonly name: string;
  readonly arguments: readonly CqlType[];
  readonly result: CqlType;
  /** The value of one row. Absent for aggregates. */
  run?(values: readonly (Bytes | null)[], call: Call, row?: RowAccess): Bytes | null;
  /** Called when the statement is compiled and means this function. */
  onUse?(): void;
  /** The state that collects all rows of a group. */
  aggregate?(call: Call): AggregateState;
}

export interface AggregateState {
  add(values: readonly (Bytes | null)[]): void;
  result(): Bytes | null;
}
