/** The first command of every client: a replica set of one node, which is what the reference service announces. */
import { isIPv6 } from 'node:net';
import { isPromise, type MaybePromise } from '../../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  Extended,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { isScram } from '../../auth/scram.ts';
import { wholeNumber } from '../../bson/arithmetic.ts';
import type { Call, Command, MongoContext } from '../../call.ts';
import { MongoError } from '../../errors.ts';
import { wrongType } from '../../fields/field-table.ts';
import {
  DOCUMENT_BYTES_MAX,
  MESSAGE_BYTES_MAX,
  SESSION_MINUTES,
  WRITE_BATCH_MAX,
} from '../../limits.ts';
import { ok } from '../../reply.ts';
import { commonCompressors } from '../../wire/compression.ts';
import { startExchange } from './sasl-start.ts';
import { WIRE_VERSION } from './server-version.ts';

export const REPLICA_SET = 'globaldb';

/** How long a client may have a reply held back at most. */
const AWAIT_MS_MAX = 60_000;

export const hello: Command = {
  needs: 'nothing',
  run(call) {
    const { connection, allowsExhaust } = call;
    const waitMs = awaitMs(call);
    if (waitMs === undefined) return helloReply(call);
    call.hasMoreReplies = allowsExhaust;
    const endMs = performance.now() + waitMs;
    const { states } = call.context;
    const wait = async (): Promise<BsonDocument> => {
      while (!connection.isEnding && isReported(call) && performance.now() < endMs)
        await states.wait(Math.max(1, endMs - performance.now()));
      if (connection.isEnding) call.hasMoreReplies = false;
      return helloReply(call);
    };
    return wait();
  },
};

/** The time that a monitor waits for a new state; undefined where it wants the reply at once. */
function awaitMs({ body, context }: Call): number | undefined {
  const ms = wholeNumber(body.get('maxAwaitTimeMS'));
  const version = body.get('topologyVersion');
  if (ms === undefined || version === undefined) {
    if (ms !== undefined || version !== undefined)
      throw new MongoError(
        'Location31368',
        "A request with 'topologyVersion' must include 'maxAwaitTimeMS', and vice versa",
      );
    return undefined;
  }
  if (ms < 0) throw new MongoError('Location31373', "'maxAwaitTimeMS' must be non-negative");
  if (!isDocument(version)) throw wrongType('hello.topologyVersion', version, 'object');
  const id = version.get('processId');
  const isOurs =
    id instanceof Extended &&
    id.payload.kind === 'objectId' &&
    Buffer.compare(Buffer.from(id.payload.bytes), Buffer.from(context.processId)) === 0;
  return isOurs ? Math.min(ms, AWAIT_MS_MAX) : undefined;
}

function isReported({ connection, context }: Call): boolean {
  return connection.reportedChanges === context.states.changes;
}

function helloReply(call: Call): MaybePromise<BsonDocument> {
  const { connection, context, body, name } = call;
  connection.reportedChanges = context.states.changes;
  const nowMs = context.service.clock.nowMs();
  const isHello = name === 'hello';
  const reply: Record<string, Bson> = {
    ...(body.get('helloOk') === true ? { helloOk: true } : {}),
    [isHello ? 'isWritablePrimary' : 'ismaster']: true,
    topologyVersion: topologyVersion(context),
    ...topologyFields(call, nowMs),
    maxBsonObjectSize: DOCUMENT_BYTES_MAX,
    maxMessageSizeBytes: MESSAGE_BYTES_MAX,
    maxWriteBatchSize: WRITE_BATCH_MAX,
    localTime: new Extended({ kind: 'date', ms: nowMs }),
    logicalSessionTimeoutMinutes: SESSION_MINUTES,
    connectionId: connection.info.id,
    minWireVersion: 0,
    maxWireVersion: WIRE_VERSION,
    readOnly: false,
  };
  checkMechanismUser(body);
  rememberClient(call);
  const compression = body.get('compression');
  const common = isArray(compression) ? commonCompressors(compression) : [];
  if (common.length > 0) reply.compression = common;
  if (body.has('saslSupportedMechs')) return introduced(call, reply);
  const speculation = speculate(call);
  if (isPromise(speculation))
    return speculation.then((done) =>
      ok(done === undefined ? reply : { ...reply, speculativeAuthenticate: done }),
    );
  return ok(reply);
}

function mechanismUser(sent: Bson): { readonly user: string; readonly database: string } {
  if (isDocument(sent)) return { user: String(sent.get('user')), database: String(sent.get('db')) };
  const text = String(sent);
  const dot = text.indexOf('.');
  return { user: text.slice(dot + 1), database: text.slice(0, dot) };
}

/** The user whose mechanisms a client asks for: `database.user`. */
function checkMechanismUser(body: BsonDocument): void {
  const sent = body.get('saslSupportedMechs');
  if (sent === undefined) return;
  const isNamed = isDocument(sent) && sent.has('user') && sent.has('db');
  if (typeof sent !== 'string' && !isDocument(sent))
    throw wrongType('hello.saslSupportedMechs', sent, '[string, object]');
  if (!isNamed && !(typeof sent === 'string' && sent.includes('.')))
    throw new MongoError('BadValue', 'UserName must contain a . separated database.user pair');
}

/** The reply to a client that says who will log in, and may begin with it. */
async function introduced(
  call: Call,
  reply: Readonly<Record<string, Bson>>,
): Promise<BsonDocument> {
  const { user, database } = mechanismUser(call.body.get('saslSupportedMechs') as Bson);
  const saslSupportedMechs = await call.context.users.mechanismsOf(user, database);
  const attempt = call.body.get('speculativeAuthenticate');
  const mechanism = isDocument(attempt) ? String(attempt.get('mechanism')) : '';
  // An attempt in another way than the user has would only look like one that began well.
  const speculativeAuthenticate = saslSupportedMechs.includes(mechanism)
    ? await speculate(call)
    : undefined;
  const more = speculativeAuthenticate === undefined ? {} : { speculativeAuthenticate };
  return ok({ ...reply, saslSupportedMechs, ...more });
}

/** Names this process and its state, which changes on purpose only. */
export function topologyVersion(
  { processId, topology, states }: Pick<MongoContext, 'processId' | 'topology' | 'states'>,
  changes = states.changes,
): BsonDocument {
  return new Map<string, Bson>([
    ['processId', new Extended({ kind: 'objectId', bytes: processId })],
    ['counter', (topology === 'replica-set' ? 6n : 0n) + BigInt(changes)],
  ]);
}

function topologyFields(
  { connection, context: { topology } }: Call,
  nowMs: number,
): Readonly<Record<string, Bson>> {
  if (topology === 'standalone') return {};
  if (topology === 'mongos') return { msg: 'isdbgrid' };
  const address = addressText(connection.info);
  return {
    hosts: [address],
    setName: REPLICA_SET,
    setVersion: 1,
    secondary: false,
    primary: address,
    me: address,
    electionId: new Extended({ kind: 'objectId', bytes: ELECTION_ID }),
    lastWrite: lastWrite(nowMs),
  };
}

/** The first election of the set. */
const ELECTION_ID = Uint8Array.from({ length: 12 }, (_, at) =>
  at === 0 ? 0x7f : at < 4 ? 0xff : at === 11 ? 1 : 0,
);

/** What the client says about itself; only the first message may. */
function rememberClient({ body, connection }: Call): void {
  const client = body.get('client');
  if (!isDocument(client) || connection.client !== undefined) return;
  connection.client = client;
  const application = client.get('application');
  const appName = isDocument(application) ? application.get('name') : undefined;
  if (typeof appName === 'string') connection.appName = appName.slice(0, APP_NAME_MAX);
}

/** Bytes of the name of an application (documented). */
const APP_NAME_MAX = 128;

function lastWrite(nowMs: number): BsonDocument {
  const date = new Extended({ kind: 'date', ms: nowMs });
  const ts = new Extended({ kind: 'timestamp', high: Math.floor(nowMs / 1000), low: 1 });
  const time = new Map<string, Bson>([
    ['ts', ts],
    ['t', 1n],
  ]);
  return new Map<string, Bson>([
    ['opTime', time],
    ['lastWriteDate', date],
    // One node is the majority.
    ['majorityOpTime', time],
    ['majorityWriteDate', date],
  ]);
}

/** The first round of authentication, if it came along and can be answered; otherwise the client begins again. */
function speculate(call: Call): Promise<BsonDocument | undefined> | undefined {
  const sent = call.body.get('speculativeAuthenticate');
  if (!isDocument(sent) || !isScram(sent.get('mechanism'))) return undefined;
  return startExchange(call, sent, String(sent.get('db') ?? 'admin')).catch(() => undefined);
}

/** The server as the client reached it: that is where it will connect next. */
export function addressText({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): string {
  const plain = host.startsWith('::ffff:') ? host.slice('::ffff:'.length) : host;
  return isIPv6(plain) ? `[${plain}]:${port}` : `${plain}:${port}`;
}
