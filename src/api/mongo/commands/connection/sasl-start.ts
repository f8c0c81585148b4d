/** The first round of SCRAM. */
import { type Bson, type BsonDocument, Extended, isDocument } from '../../../../value/index.ts';
import { authenticationFailed, isScram, ScramExchange, userIn } from '../../auth/scram.ts';
import type { Call, Command } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { ok } from '../../reply.ts';

/** One exchange at a time on a connection, so one number is enough. */
const CONVERSATION_ID = 1;

export const saslStart: Command = {
  needs: 'nothing',
  run: (call) => startExchange(call, call.body, call.database),
};

export async function startExchange(
  call: Call,
  sent: BsonDocument,
  database: string,
): Promise<BsonDocument> {
  const mechanism = sent.get('mechanism');
  if (!isScram(mechanism))
    throw new MongoError(
      'AuthenticationFailed',
      `Received authentication for mechanism ${String(mechanism)} which is unknown or not enabled`,
    );
  const options = sent.get('options');
  const payload = payloadOf(sent.get('payload'));
  const { connection, context } = call;
  // Nobody keeps rights while the proof of another name is out.
  connection.principal = undefined;
  connection.grants = undefined;
  connection.userDatabase = database;
  const user = userIn(payload);
  connection.user = user;
  const own = await context.users.secretOf(user, database, mechanism);
  const secrets = own === undefined ? context.passwords.scram(user, mechanism) : [own];
  const exchange = new ScramExchange(payload, () => secrets, mechanism);
  connection.isFinishing = false;
  connection.scram = {
    exchange,
    skipsEmpty: isDocument(options) && options.get('skipEmptyExchange') === true,
  };
  return saslReply(exchange.firstReply, false);
}

/** Binary by the rules, text by some shells. */
export function payloadOf(value: Bson | undefined): string {
  if (typeof value === 'string') return value;
  if (value instanceof Extended && value.payload.kind === 'binary')
    return Buffer.from(value.payload.bytes).toString('utf8');
  throw authenticationFailed('The payload of an authentication is binary');
}

export function saslReply(payload: string, isDone: boolean): BsonDocument {
  return ok({
    conversationId: CONVERSATION_ID,
    done: isDone,
    payload: new Extended({ kind: 'binary', bytes: Buffer.from(payload), subtype: 0 }),
  });
}
