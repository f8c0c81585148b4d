/** A statement that is ready to run: the tables and types are known, the values are not. */
import type { Bytes, Clock, Random } from '../../../base/index.ts';
import type { Service } from '../../../service/index.ts';
import type { UserCalls } from '../functions/user-calls.ts';
import type { UserFunctions } from '../functions/user-functions.ts';
import type { Caller } from '../roles/caller.ts';
import type { Requirement } from '../roles/resource.ts';
import type { RoleStore } from '../roles/role-store.ts';
import type { Keyspaces } from '../schema/keyspaces.ts';
import type { WritesUnderWay } from '../schema/writes-under-way.ts';
import type { LocalNode, SystemKeyspaces } from '../system/system-rows.ts';
import type { Trace, Traces } from '../tracing/traces.ts';
import type { CqlType } from '../types/cql-type.ts';
import type { PartitionLocks } from '../views/partition-locks.ts';
import type { BoundValue } from '../wire/body-reader.ts';

/** A bind marker with the type that its place gives it. */
export interface Variable {
  readonly name: string;
  readonly type: CqlType;
  readonly keyspace: string;
  readonly table: string;
}

export interface ResultColumn {
  readonly keyspace: string;
  readonly table: string;
  readonly name: string;
  readonly type: CqlType;
}

export interface SchemaChange {
  readonly change: 'CREATED' | 'UPDATED' | 'DROPPED';
  readonly target: 'KEYSPACE' | 'TABLE' | 'TYPE' | 'FUNCTION' | 'AGGREGATE';
  readonly keyspace: string;
  /** Empty for a keyspace. */
  readonly name: string;
  /** The types of a function's arguments. */
  readonly argumentTypes?: readonly string[];
}

export type Cells = readonly (Bytes | null)[];

export type Result =
  | { readonly kind: 'void'; readonly warnings?: readonly string[] }
  | {
      readonly kind: 'rows';
      readonly columns: readonly ResultColumn[];
      readonly rows: readonly Cells[];
      readonly pagingState?: Bytes | undefined;
      readonly warnings?: readonly string[];
    }
  | { readonly kind: 'keyspace'; readonly name: string }
  | {
      readonly kind: 'schemaChange';
      readonly change: SchemaChange;
      readonly warnings?: readonly string[];
    };

export const VOID: Result = { kind: 'void' };

/** What the parts of a server have in common. */
export interface Environment {
  readonly service: Service;
  readonly clock: Clock;
  readonly random: Random;
  readonly keyspaces: Keyspaces;
  readonly system: SystemKeyspaces;
  readonly roles: RoleStore;
  readonly functions: UserFunctions;
  readonly traces: Traces;
  readonly writes: WritesUnderWay;
  readonly viewLocks: PartitionLocks;
}

/** One execution of a statement. */
export interface Call {
  readonly environment: Environment;
  /** One for each variable. */
  readonly values: readonly BoundValue[];
  /** Microseconds: the client's, or the server's. */
  readonly timestamp: bigint;
  /** Microseconds of the server, later than those of any request before: for counters and conditions. */
  readonly serverTimestamp: bigint;
  readonly nowSec: number;
  /** Numbers that are given out once in a request, also where it is a batch. */
  readonly numbers: { next: number };
  /** Undefined: all rows in one page. */
  readonly pageSize: number | undefined;
  readonly pagingState: Bytes | undefined;
  readonly node: LocalNode;
  /** Options that came beside the statement, such as a throughput. */
  readonly payload: ReadonlyMap<string, Bytes | null>;
  readonly caller: Caller;
  /** The keyspace that USE has chosen. */
  readonly keyspace: string | undefined;
  /** Set where the client wants to know how the request went. */
  readonly trace: Trace | undefined;
  /** The results of user functions that the statement has asked for. */
  readonly userCalls: UserCalls;
  /** Adds request units to those of the response. */
  spend(charge: number): void;
}

export interface Plan {
  /** From a small fixed set, for metrics. */
  readonly operation: string;
  readonly variables: readonly Variable[];
  /** For each column of the partition key the variable that has its value; empty where one has none. */
  readonly keyIndexes: readonly number[];
  /** Undefined for statements without rows. */
  readonly columns: readonly ResultColumn[] | undefined;
  /** False where a table has changed since, so that the statement must be prepared again. */
  /** Permissions of the caller, checked at every execution. */
  readonly requires?: readonly Requirement[];
  isCurrent(): boolean;
  run(call: Call): Promise<Result>;
}
