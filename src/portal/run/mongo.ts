/** Calls of the MongoDB shell, sent as commands over the API's own protocol. */
import { type Document, EJSON, Long } from 'bson';
import type { ByteProtocol } from '../../net/index.ts';
import type { AccountKeys } from '../../service/index.ts';
import { MongoClient } from '../local/mongo-client.ts';
import { mongoCommandOf } from './mongo-command.ts';
import { RunError } from './run-error.ts';
import type { Runner, RunPage, RunRequest } from './runner.ts';

export function mongoRunner(protocol: ByteProtocol, keys: AccountKeys): Runner {
  return async (request) => {
    const key = keys.get(request.mayWrite ? 'primary' : 'primaryReadonly');
    using client = await MongoClient.open(protocol, key);
    const stop = () => client[Symbol.dispose]();
    request.signal.addEventListener('abort', stop, { once: true });
    try {
      return await run(client, request);
    } finally {
      request.signal.removeEventListener('abort', stop);
    }
  };
}

async function run(client: MongoClient, request: RunRequest): Promise<RunPage> {
  const { db, text, limit, continuation, mayWrite } = request;
  if (continuation !== undefined) return nextPage(client, request, continuation);
  const { command, hasCursor, isRead } = mongoCommandOf(text, limit);
  if (!isRead && !mayWrite)
    throw new RunError('Unauthorized', 'This portal only reads: the command would write.');
  const reply = await client.command(db, command);
  const charge = await chargeOf(client, db);
  if (!hasCursor) return { rows: [print(withoutProtocol(reply))], charge, continuation: undefined };
  return pageOf(reply, 'firstBatch', charge);
}

async function nextPage(
  client: MongoClient,
  { db, limit }: RunRequest,
  continuation: string,
): Promise<RunPage> {
  const [id = '0', ...namespace] = continuation.split(':');
  const collection = namespace.join(':');
  const getMore = Long.fromString(id);
  const reply = await client.command(db, { getMore, collection, batchSize: limit });
  return pageOf(reply, 'nextBatch', await chargeOf(client, db));
}

function pageOf(reply: Document, batch: string, charge: number): RunPage {
  const { cursor } = reply;
  const id = String(cursor.id);
  const namespace = String(cursor.ns);
  const collection = namespace.slice(namespace.indexOf('.') + 1);
  return {
    rows: (cursor[batch] as Document[]).map(print),
    charge,
    continuation: id === '0' ? undefined : `${id}:${collection}`,
  };
}

function print(document: Document): string {
  return EJSON.stringify(document, { relaxed: true });
}

function withoutProtocol({
  ok: _,
  $clusterTime: _time,
  operationTime: _at,
  ...rest
}: Document): Document {
  return rest;
}

async function chargeOf(client: MongoClient, db: string): Promise<number> {
  try {
    const { RequestCharge } = await client.command(db, { getLastRequestStatistics: 1 });
    return Number(RequestCharge);
  } catch {
    // A command of the service that says what the last one cost; without it the charge is not known.
    return 0;
  }
}
