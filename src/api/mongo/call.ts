/** One command on its way: who sent it, what it says, and what it may use. */
import type { Bytes, MaybePromise } from '../../base/index.ts';
import type { Passwords, Service } from '../../service/index.ts';
import type { Bson, BsonDocument } from '../../value/index.ts';
import type { Activity } from './activity.ts';
import type { Users } from './auth/users.ts';
import type { Arguments } from './bson/arguments.ts';
import type { SchemaChanges } from './change-streams/schema-changes.ts';
import type { WriteHints } from './change-streams/write-hints.ts';
import type { ClusterClock } from './cluster-clock.ts';
import type { CappedTrims } from './collections/capped.ts';
import type { ClusterParameters } from './commands/administration/cluster-parameters.ts';
import type { ConnectionState } from './connection-state.ts';
import type { Cursors } from './cursors/cursors.ts';
import type { IndexUse } from './diagnostics/index-use.ts';
import type { Operations } from './diagnostics/operations.ts';
import type { ProfilerSettings } from './diagnostics/profiler-settings.ts';
import type { WriteBlock } from './diagnostics/write-block.ts';
import type { WriteLock } from './diagnostics/write-lock.ts';
import type { Meter } from './documents/meter.ts';
import type { DocumentStore } from './documents/store.ts';
import type { FailPoints } from './fail-points/fail-points.ts';
import type { FieldTable } from './fields/field-table.ts';
import type { IndexFilters } from './query-shapes/index-filters.ts';
import type { QuerySettingsTable } from './query-shapes/query-settings.ts';
import type { RetryableWrite } from './sessions/retryable-write.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { SessionTransactions } from './sessions/transactions.ts';

/** What `hello` announces. */
export type Topology = 'replica-set' | 'standalone' | 'mongos';

/** What all connections of the API share. */
export interface MongoContext {
  readonly service: Service;
  readonly version: string;
  readonly topology: Topology;
  /** True: nobody has to log in. */
  readonly isOpen: boolean;
  readonly cursors: Cursors;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  readonly transactions: SessionTransactions;
  readonly clusterClock: ClusterClock;
  /** Wakes whoever waits for documents. */
  readonly activity: Activity;
  /** Wakes monitors that wait for another state of the server: it has one until it stops. */
  readonly states: Activity;
  /** Twelve bytes that name this process. */
  readonly processId: Bytes;
  readonly users: Users;
  readonly operations: Operations;
  readonly indexUse: IndexUse;
  readonly writeLock: WriteLock;
  readonly changes: SchemaChanges;
  readonly hints: WriteHints;
  readonly trims: CappedTrims;
  /** Parameters that clients have set; they last as long as the process. */
  readonly parameters: Record<string, Bson>;
  readonly clusterParameters: ClusterParameters;
  readonly profiler: ProfilerSettings;
  readonly writeBlock: WriteBlock;
  /** Which indexes queries of a shape may use, and which shapes are refused. */
  readonly indexFilters: IndexFilters;
  readonly querySettings: QuerySettingsTable;
  /** Undefined where test commands are not allowed. */
  readonly failPoints: FailPoints | undefined;
  /** How long a throttled command waits before it is refused. */
  readonly retryWaitMs: number;
}

export interface Call {
  readonly context: MongoContext;
  readonly connection: ConnectionState;
  /** As the client wrote it. */
  readonly name: string;
  readonly database: string;
  readonly body: BsonDocument;
  readonly args: Arguments;
  /** The command as bytes. */
  readonly raw: Bytes;
  readonly sequences: ReadonlyMap<string, readonly Bytes[]>;
  readonly meter: Meter;
  store: DocumentStore;
  /** Set where the client may send the write again and wants it applied once. */
  retryable: RetryableWrite | undefined;
  /** The session in hexadecimal, where the command names one. */
  session: string | undefined;
  /** True where the client takes one more reply to the same message. */
  hasMoreReplies: boolean;
  readonly allowsExhaust: boolean;
  /** The name that cursors show, where it is not the one of the collection: a view. */
  cursorNamespace: string | undefined;
}

/** The reply: a document, or its bytes where it holds stored documents. */
export type Reply = BsonDocument | Bytes;

export interface Command {
  /** What the caller must be: anybody, or somebody who may read or write. */
  readonly needs: 'nothing' | 'read' | 'write';
  /** The fields beside those of every command; undefined where the command checks them itself. */
  readonly fields?: FieldTable;
  /** True for commands of the database `admin` only. */
  readonly isAdminOnly?: boolean;
  run(call: Call): MaybePromise<Reply>;
}
