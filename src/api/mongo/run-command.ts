/** One command between its message and its reply: may the caller run it, is it well formed, and what runs it. */
import type { MaybePromise } from '../../base/index.ts';
import type { BsonDocument } from '../../value/index.ts';
import type { Call, Command, Reply } from './call.ts';
import { openChangeStream } from './change-streams/open-change-stream.ts';
import { changeStreamArgument } from './change-streams/options.ts';
import { isCapped, trimAfter } from './collections/capped.ts';
import { findCollection } from './collections/collection.ts';
import { commandNamed } from './commands/index.ts';
import { openTail, tailOf } from './cursors/tail.ts';
import { isLockedOut, waitForUnlock } from './diagnostics/write-lock.ts';
import { MongoError } from './errors.ts';
import { refuseTime } from './fail-points/time-limits.ts';
import { checkReadConcern, checkWriteConcern } from './fields/concerns.ts';
import { checkFields } from './fields/field-table.ts';
import { checkGenericFields, maxTimeMs } from './fields/generic-checks.ts';
import { ok } from './reply.ts';
import { hideMade, makeHidden } from './sessions/hidden-collections.ts';
import { RetryableWrite } from './sessions/retryable-write.ts';
import { checkInTransaction } from './sessions/transactions.ts';
import { runOnView, viewOf } from './views/view-calls.ts';
import type { Message } from './wire/message.ts';

interface Runnable {
  readonly call: Call;
  readonly command: Command | undefined;
  /** Set where the write cannot be as durable as was asked. */
  writeConcernError: BsonDocument | undefined;
}

/** Commands that an OP_QUERY may carry: the first one of a client. */
const QUERY_COMMANDS: ReadonlySet<string> = new Set(['hello', 'isMaster', 'ismaster']);

/** Checks what the command says, and runs it where it belongs: on a view, as a change stream, in a transaction. */
export function runCommand(running: Runnable, message: Message): MaybePromise<Reply> {
  const command = admitted(running, message);
  running.call.context.writeBlock.check(running.call, command);
  if (!isLockedOut(running.call, command)) return runAdmitted(running, command);
  return waitForUnlock(running.call).then(() => runAdmitted(running, command));
}

function runAdmitted(running: Runnable, command: Command): MaybePromise<Reply> {
  const { call } = running;
  const { context, name, body } = call;
  if (body.get('help') === true) return ok({ help: `help for: ${name} no help defined` });
  checkGenericFields(name, body);
  if (command.fields !== undefined) checkFields(name, body, command.fields);
  checkTime(call);
  checkReadConcern(name, body, context.topology);
  running.writeConcernError = checkWriteConcern(name, body, context.topology);
  call.session = context.sessions.use(body, call.connection.user);
  call.store = context.transactions.storeOf(body, name, context.topology) ?? call.store;
  call.retryable = RetryableWrite.of(body, name, call.store.nowMs());
  context.querySettings.check(name, call.database, body);
  const stream = changeStreamArgument(call);
  if (stream !== undefined) return openChangeStream(call, stream);
  const tail = tailOf(call);
  const view = viewOf(call);
  if (view !== undefined) return runOnView(call, view, commandNamed('aggregate') as Command);
  checkCapped(call);
  if (body.get('autocommit') === false && MAKING.has(name))
    return makeHidden(call).then(() => command.run(call));
  if (body.get('autocommit') === false && name === 'create') return hideAfter(call, command);
  if (tail !== undefined) return openTail(call, tail);
  const reply = command.run(call);
  return CAPPING.has(name) ? trimAfter(call, reply) : reply;
}

/** Commands that make the collection that they write to. */
const MAKING: ReadonlySet<string> = new Set([
  'createIndexes',
  'insert',
  'update',
  'findAndModify',
  'findandmodify',
]);
/** Commands after which a capped collection may have too many documents. */
const CAPPING: ReadonlySet<string> = new Set([
  'insert',
  'update',
  'findAndModify',
  'findandmodify',
]);

/** The order of a capped collection is that of its commits. */
function checkCapped({ context, body, name, database }: Call): void {
  const collection = body.get(name);
  if (body.get('autocommit') !== false || !CAPPING.has(name) || typeof collection !== 'string')
    return;
  const found = findCollection(context.service, { database, collection });
  if (found !== undefined && isCapped(found))
    throw new MongoError(
      'OperationNotSupportedInTransaction',
      `Collection '${database}.${collection}' is a capped collection. Writes in transactions are not allowed on capped collections.`,
    );
}

/** A cursor has the time of the command that opened it. */
function checkTime({ context, body, name }: Call): void {
  if (name !== 'getMore' && (maxTimeMs(body) ?? 0) > 0) refuseTime(context);
}

async function hideAfter(call: Call, command: Command): Promise<Reply> {
  const reply = await command.run(call);
  await hideMade(call);
  return reply;
}

/** The command, where the caller may run it. */
function admitted({ call, command }: Runnable, { kind }: Message): Command {
  const { name, connection, database } = call;
  if (kind === 'query' && !QUERY_COMMANDS.has(name))
    throw new MongoError(
      'UnsupportedOpQueryCommand',
      `Unsupported OP_QUERY command: ${name}. The client driver may require an upgrade.`,
    );
  if (command?.needs !== 'nothing') {
    if (!connection.isAdmitted)
      throw new MongoError('Unauthorized', `Command ${name} requires authentication`);
    const isAllowed =
      command?.needs === 'write' ? connection.mayWrite(database) : connection.mayRead(database);
    if (!isAllowed) throw connection.notAuthorized(name, database);
  }
  if (command === undefined) throw new MongoError('CommandNotFound', `no such command: '${name}'`);
  checkInTransaction(name, call.body);
  if (command.isAdminOnly === true && database !== 'admin')
    throw new MongoError('Unauthorized', `${name} may only be run against the admin database.`);
  return command;
}
