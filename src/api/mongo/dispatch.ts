/** From a message to its reply: finds the command, checks the caller, runs it and reports it. */
import {
  type Bytes,
  DomainError,
  EMPTY_BYTES,
  isPromise,
  type MaybePromise,
} from '../../base/index.ts';
import type { OperationReport } from '../../service/index.ts';
import {
  type Bson,
  type BsonDocument,
  BsonWriter,
  isDocument,
  writeBson,
} from '../../value/index.ts';
import { Arguments } from './bson/arguments.ts';
import type { Call, Command, MongoContext, Reply } from './call.ts';
import { noteWrite } from './change-streams/note-write.ts';
import { readBody, readLargeBody } from './command-body.ts';
import { topologyVersion } from './commands/connection/hello.ts';
import { commandNamed } from './commands/index.ts';
import type { ConnectionState } from './connection-state.ts';
import type { RunningOperation } from './diagnostics/operations.ts';
import { Meter } from './documents/meter.ts';
import { ServiceStore } from './documents/store.ts';
import { isRetryableCode, isRetryableCommand, labelsOf } from './error-labels.ts';
import { errorReply, MongoError, mongoCodeOf, mongoErrorOf, RETRYABLE_WRITE } from './errors.ts';
import { maxTimeMs } from './fields/generic-checks.ts';
import { LARGE_DOCUMENT_BYTES } from './limits.ts';
import { runCommand } from './run-command.ts';
import type { Message } from './wire/message.ts';

export interface DispatchOptions {
  readonly context: MongoContext;
  onRequest(report: OperationReport): void;
  onFailure(failure: { readonly operation: string; readonly error: unknown }): void;
  onRefusal(refusal: { readonly from: string; readonly reason: string }): void;
}

/** A reply on its way out. */
export interface Dispatched {
  readonly document: Bytes;
  readonly suffix: Bytes;
  /** True where the same message is answered once more. */
  readonly hasMore: boolean;
  /** True where the connection is closed instead of answered. */
  readonly isCut: boolean;
}

interface Running {
  readonly call: Call;
  readonly command: Command | undefined;
  readonly operation: RunningOperation;
  readonly startedMs: number;
  /** Set where the write cannot be as durable as was asked, or a fail point says so. */
  writeConcernError: BsonDocument | undefined;
  /** The labels that a fail point wants; undefined: the server's own. */
  failLabels: readonly string[] | undefined;
  /** True where a fail point refuses: then nothing ran. */
  isMadeToFail: boolean;
}

type Failure = NonNullable<ReturnType<NonNullable<MongoContext['failPoints']>['failureOf']>>;

/** The reply; refusals are replies. Throws WireError where the message cannot be read. */
export function dispatch(
  message: Message,
  connection: ConnectionState,
  options: DispatchOptions,
): MaybePromise<Dispatched> {
  if (message.body.length <= LARGE_DOCUMENT_BYTES)
    return dispatchBody(message, readBody(message.body), connection, options);
  return readLargeBody(message.body).then((body) =>
    dispatchBody(message, body, connection, options),
  );
}

function dispatchBody(
  message: Message,
  body: BsonDocument,
  connection: ConnectionState,
  options: DispatchOptions,
): MaybePromise<Dispatched> {
  const running = begin(message, body, connection, options.context);
  const { call } = running;
  const failure = options.context.failPoints?.failureOf({
    command: call.name,
    appName: connection.appName || introducedAs(call),
    namespace: `${call.database}.${String(call.body.get(call.name))}`,
  });
  if (failure === undefined) return runWrite(running, message, options);
  if (failure.blockMs === 0) return fail(running, failure, message, options);
  return new Promise((resolve) => setTimeout(resolve, failure.blockMs)).then(() =>
    fail(running, failure, message, options),
  );
}

/** The name in the first message of a client, which is not known of its connection yet. */
function introducedAs({ body }: Call): string {
  const client = body.get('client');
  const application = isDocument(client) ? client.get('application') : undefined;
  const name = isDocument(application) ? application.get('name') : undefined;
  return typeof name === 'string' ? name : '';
}

/** A fail point may refuse a write that can be sent again, or lose its reply. */
function runWrite(
  running: Running,
  message: Message,
  options: DispatchOptions,
): MaybePromise<Dispatched> {
  const { call } = running;
  const { failPoints } = call.context;
  const plan =
    running.command?.needs === 'write' && call.body.get('txnNumber') !== undefined
      ? failPoints?.writeFailure()
      : undefined;
  const start = (): MaybePromise<Dispatched> =>
    dispatchedBy(running, () => runCommand(running, message), options);
  if (plan === undefined || failPoints === undefined) return start();
  const cut = { document: EMPTY_BYTES, suffix: EMPTY_BYTES, hasMore: false, isCut: true };
  if (plan.code !== undefined) {
    if (!failPoints.isOn('onPrimaryTransactionalWrite')) return start();
    running.isMadeToFail = true;
    const error = new MongoError(mongoCodeOf(plan.code), 'Failing a write before its commit');
    const reply = refused(running, error, options);
    return plan.closesConnection ? cut : reply;
  }
  return Promise.resolve(start()).then((reply) => {
    const isRepeated = (call.retryable?.repeated.length ?? 0) > 0;
    if (isRepeated || !failPoints.isOn('onPrimaryTransactionalWrite')) return reply;
    return plan.closesConnection ? cut : reply;
  });
}

function begin(
  message: Message,
  body: BsonDocument,
  connection: ConnectionState,
  context: MongoContext,
): Running {
  const startedMs = performance.now();
  const call = callOf(message, body, connection, context);
  const command = commandNamed(call.name);
  const operation = context.operations.begin({
    command: call.name,
    database: call.database,
    body: call.body,
    client: connection.info.remoteAddress,
    connectionId: connection.info.id,
    appName: connection.appName,
    startedMs: context.service.clock.nowMs(),
    isKilled: message.wantsReply && connection.isGone,
  });
  // Who sends a write without waiting for its reply may leave at once.
  connection.operation = message.wantsReply ? operation : undefined;
  const limitMs = maxTime(call);
  if (limitMs !== undefined) call.meter.deadlineMs = startedMs + limitMs;
  call.meter.operation = operation;
  return {
    call,
    command,
    operation,
    startedMs,
    writeConcernError: undefined,
    failLabels: undefined,
    isMadeToFail: false,
  };
}

/** Commands that wait bound their waiting themselves. */
function maxTime({ name, body }: Call): number | undefined {
  if (name === 'getMore') return undefined;
  try {
    return maxTimeMs(body);
  } catch {
    return undefined;
  }
}

function fail(
  running: Running,
  failure: Failure,
  message: Message,
  options: DispatchOptions,
): MaybePromise<Dispatched> {
  if (failure.closesConnection) {
    report(running, 'failed', options);
    return { document: EMPTY_BYTES, suffix: EMPTY_BYTES, hasMore: false, isCut: true };
  }
  running.failLabels = failure.labels;
  running.isMadeToFail = true;
  const { errorCode } = failure;
  if (errorCode !== undefined)
    return refused(
      running,
      new MongoError(mongoCodeOf(errorCode), "Failing command via 'failCommand' failpoint", {
        labels: failure.labels ?? [],
      }),
      options,
    );
  return dispatchedBy(
    running,
    () => {
      // A command that was held back longer than its time, or whose client is gone, must not be applied.
      running.call.meter.check();
      const reply = runCommand(running, message);
      running.writeConcernError = failure.writeConcernError ?? running.writeConcernError;
      return reply;
    },
    options,
  );
}

function dispatchedBy(
  running: Running,
  start: () => MaybePromise<Reply>,
  options: DispatchOptions,
): MaybePromise<Dispatched> {
  let reply: MaybePromise<Reply>;
  try {
    reply = start();
  } catch (error) {
    return refused(running, error, options);
  }
  return isPromise(reply)
    ? reply.then(
        (done) => finished(running, done, options),
        (error) => refused(running, error, options),
      )
    : finished(running, reply, options);
}

function callOf(
  message: Message,
  body: BsonDocument,
  connection: ConnectionState,
  context: MongoContext,
): Call {
  const [name = ''] = body.keys();
  const sent = body.get('$db');
  const database =
    typeof sent === 'string' ? sent : (message.namespace.split('.')[0] as string) || 'admin';
  const { service, retryWaitMs } = context;
  const meter = new Meter();
  return {
    context,
    connection,
    name,
    database,
    body,
    args: new Arguments(name, body),
    raw: message.body,
    sequences: message.sequences,
    meter,
    store: new ServiceStore(service, {
      meter,
      waitMaxMs: retryWaitMs,
      locks: context.transactions.locks,
      indexUse: context.indexUse,
      onWritten: (container, effect, write) => noteWrite(context, container, effect, write),
    }),
    retryable: undefined,
    session: undefined,
    hasMoreReplies: false,
    allowsExhaust: message.allowsExhaust,
    cursorNamespace: undefined,
  };
}

function finished(running: Running, reply: Reply, options: DispatchOptions): Dispatched {
  const { call, command } = running;
  const { clusterClock, activity } = call.context;
  if (command?.needs === 'write') {
    noteSchemaChange(call);
    clusterClock.tick();
    activity.notify();
  }
  if (reply instanceof Map && reply.has('writeErrors') && call.body.get('autocommit') === false)
    call.context.transactions.refused(call.body, call.name).catch(() => {});
  report(running, 'ok', options);
  const document = reply instanceof Uint8Array ? reply : writeBson(reply);
  return {
    document,
    suffix: suffixOf(running, replyLabels(running)),
    hasMore: call.hasMoreReplies,
    isCut: false,
  };
}

/** Commands that change what a collection is, with the names of their events. */
const SCHEMA_EVENTS: ReadonlySet<string> = new Set([
  'create',
  'createIndexes',
  'dropIndexes',
  'shardCollection',
]);

function noteSchemaChange({ context, name, body, database }: Call): void {
  const target = body.get(name);
  if (!SCHEMA_EVENTS.has(name) || typeof target !== 'string') return;
  const indexes = body.get('indexes');
  const description = indexes === undefined ? {} : { indexes };
  context.changes.expanded(name, { database, collection: target }, description);
}

/** A reply that is not as durable as was asked may be one that drivers send again. */
function replyLabels({ call, writeConcernError, failLabels }: Running): readonly string[] {
  if (writeConcernError === undefined) return [];
  if (failLabels !== undefined) return failLabels;
  const code = mongoCodeOf(Number(writeConcernError.get('code')));
  return isRetryableCode(code) && isRetryableCommand(call.name, call.body) ? [RETRYABLE_WRITE] : [];
}

/** Everything that is behind the fields of the command itself. */
function suffixOf({ call, writeConcernError }: Running, labels: readonly string[]): Bytes {
  const { clusterClock, topology } = call.context;
  const time = topology === 'standalone' ? EMPTY_BYTES : clusterClock.suffix;
  if (writeConcernError === undefined && labels.length === 0) return time;
  const more = new Map<string, Bson>();
  if (writeConcernError !== undefined) more.set('writeConcernError', writeConcernError);
  if (labels.length > 0) more.set('errorLabels', labels);
  const document = new BsonWriter().document(more).take();
  return Buffer.concat([document.subarray(4, document.length - 1), time]);
}

function refused(running: Running, error: unknown, options: DispatchOptions): Dispatched {
  const refusal = mongoErrorOf(error);
  const { call } = running;
  call.meter.charge += refusal.charge;
  if (call.body.get('autocommit') === false && !running.isMadeToFail)
    call.context.transactions.refused(call.body, call.name).catch(() => {});
  // A fail point may name this code too: then nothing has failed.
  const isBug = refusal.mongoCode === 'InternalError' && !(error instanceof MongoError);
  if (isBug) options.onFailure({ operation: call.name, error });
  if (refusal.mongoCode === 'AuthenticationFailed' || refusal.mongoCode === 'Unauthorized')
    options.onRefusal({
      from: call.connection.info.remoteAddress,
      reason: `${call.name}: ${refusal.mongoCode}`,
    });
  report(running, isBug ? 'failed' : codeOf(error, refusal), options);
  const labels = running.failLabels ?? labelsOf(refusal, call.name, call.body);
  const { clusterClock, topology } = call.context;
  const reply = new Map(errorReply(refusal, labels));
  // A command that was refused while it ran waits for its write concern as well.
  if (running.writeConcernError !== undefined)
    reply.set('writeConcernError', running.writeConcernError);
  if (STATE_CHANGES.has(refusal.mongoCode)) {
    const { states } = call.context;
    // Drivers ignore a state that they know of: they must hear of this one before their monitors do.
    const changes = running.isMadeToFail ? states.changes + 1 : states.changes;
    if (running.isMadeToFail) setTimeout(() => states.change(changes), STATE_CHANGE_MS);
    reply.set('topologyVersion', topologyVersion(call.context, changes));
  }
  return {
    document: writeBson(reply),
    suffix: topology === 'standalone' ? EMPTY_BYTES : clusterClock.suffix,
    hasMore: false,
    isCut: false,
  };
}

/** Time for a reply to reach its client before monitors are woken. */
const STATE_CHANGE_MS = 20;

/** Refusals that name the state of the server, so that drivers see whether it is the one they know. */
const STATE_CHANGES: ReadonlySet<string> = new Set([
  'InterruptedAtShutdown',
  'InterruptedDueToReplStateChange',
  'NotPrimaryNoSecondaryOk',
  'NotPrimaryOrSecondary',
  'NotWritablePrimary',
  'PrimarySteppedDown',
  'ShutdownInProgress',
]);

function codeOf(error: unknown, { mongoCode }: MongoError): OperationReport['outcome'] {
  if (mongoCode === 'Unauthorized' || mongoCode === 'AuthenticationFailed') return 'unauthorized';
  return error instanceof DomainError ? error.code : 'invalidInput';
}

function report(
  { call, command, operation, startedMs }: Running,
  outcome: OperationReport['outcome'],
  { onRequest }: DispatchOptions,
): void {
  const durationMs = performance.now() - startedMs;
  const { charge } = call.meter;
  const name = command === undefined ? 'none' : call.name;
  call.connection.operation = undefined;
  call.context.operations.end(operation, command !== undefined, outcome !== 'ok', durationMs);
  onRequest({ operation: name, outcome, charge, durationMs });
  if (call.name !== 'getLastRequestStatistics')
    call.connection.last = { command: call.name, charge, durationMs };
}
