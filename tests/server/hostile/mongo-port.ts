/** The port of the MongoDB API: messages with their length in the first four bytes, SCRAM-SHA-256. */
import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';
import { deserialize, serialize } from 'bson';
import { MongoClient } from 'mongodb';
import type { HostilePort, ServerAddress, Witness } from './hostile-port.ts';
import type { RawConnection } from './raw-connection.ts';

const HEADER_BYTES = 16;
const OP_MSG = 2013;
const SENTINEL_ID = 0x5ea1;

/** Commands of the login: they count on what the server sent before. */
const LOGIN = /sasl(Start|Continue)/;

export const mongoPort: HostilePort = {
  api: 'mongo',
  tour,
  openWitness,
  wrongPassword,
  wrongPasswordMessage: /Authentication failed/,
  messagesIn(sent) {
    const messages: Buffer[] = [];
    for (let at = 0; at + HEADER_BYTES <= sent.length; ) {
      const message = sent.subarray(at, at + sent.readInt32LE(at));
      if (!LOGIN.test(message.toString('latin1'))) messages.push(message);
      at += message.length;
    }
    return messages;
  },
  bodyAt: 4,
  login,
  sentinel: messageOf({ ping: 1, $db: 'admin' }, SENTINEL_ID),
  isAnswered(received) {
    for (let at = 0; at + HEADER_BYTES <= received.length; at += received.readInt32LE(at))
      if (received.readInt32LE(at + 8) === SENTINEL_ID) return true;
    return false;
  },
  withLength(message, length) {
    const changed = Buffer.from(message);
    changed.writeInt32LE(length);
    return changed;
  },
};

function clientOf({ port, key }: ServerAddress): MongoClient {
  const password = encodeURIComponent(key);
  return new MongoClient(
    `mongodb://localhost:${password}@127.0.0.1:${port}/?directConnection=true&serverSelectionTimeoutMS=10000`,
  );
}

async function tour(address: ServerAddress, name: string): Promise<void> {
  const client = clientOf(address);
  try {
    const things = client.db(name).collection<{ _id: number; n: number; tags?: string[] }>('t');
    await things.insertMany([
      { _id: 1, n: 1, tags: ['a', 'b'] },
      { _id: 2, n: 2 },
      { _id: 3, n: 3 },
    ]);
    await things
      .find({ n: { $gt: 0 } })
      .batchSize(1)
      .sort({ n: -1 })
      .toArray();
    await things.findOne({ _id: 2 });
    await things.updateOne({ _id: 1 }, { $inc: { n: 1 }, $set: { tags: [] } });
    await things.deleteOne({ _id: 3 });
    await things.aggregate([{ $match: { n: 2 } }, { $group: { _id: '$n' } }]).toArray();
    await client.db(name).dropCollection('t');
  } finally {
    await client.close();
  }
}

async function openWitness(address: ServerAddress): Promise<Witness> {
  const client = clientOf(address);
  const things = client.db('witness').collection<{ _id: number }>('w');
  let count = 0;
  return {
    async check() {
      count += 1;
      await things.insertOne({ _id: count });
      const found = await things.findOne({ _id: count });
      if (found?._id !== count) throw new Error('the witness does not find its document');
    },
    close: () => client.close(),
  };
}

async function wrongPassword(address: ServerAddress): Promise<string> {
  const client = clientOf({ ...address, key: 'd3Jvbmc=' });
  try {
    await client.db('d').collection('c').findOne({});
    return 'let in';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await client.close();
  }
}

/** One message with one document. */
function messageOf(document: object, requestId: number): Buffer {
  const body = serialize(document);
  const head = Buffer.alloc(HEADER_BYTES + 5);
  head.writeInt32LE(head.length + body.length);
  head.writeInt32LE(requestId, 4);
  head.writeInt32LE(OP_MSG, 12);
  return Buffer.concat([head, body]);
}

interface Reply {
  readonly ok: number;
  readonly conversationId: number;
  readonly payload: { readonly buffer: Uint8Array };
}

async function command(connection: RawConnection, document: object): Promise<Reply> {
  connection.send(messageOf({ ...document, $db: 'admin' }, 1));
  const reply = await connection.next((received) => {
    const length = received.length < HEADER_BYTES ? undefined : received.readInt32LE();
    return length !== undefined && received.length >= length ? length : undefined;
  });
  return deserialize(reply.subarray(HEADER_BYTES + 5), { promoteBuffers: false }) as Reply;
}

/** SCRAM-SHA-256 as RFC 7677 describes the client. */
async function login(connection: RawConnection, { key }: ServerAddress): Promise<void> {
  const bare = 'n=localhost,r=hostile';
  const first = await command(connection, {
    saslStart: 1,
    mechanism: 'SCRAM-SHA-256',
    payload: Buffer.from(`n,,${bare}`),
    options: { skipEmptyExchange: true },
  });
  const serverFirst = Buffer.from(first.payload.buffer).toString();
  const [, nonce = '', salt = '', iterations = ''] =
    /^r=(.*),s=(.*),i=(\d+)$/.exec(serverFirst) ?? [];
  const salted = pbkdf2Sync(key, Buffer.from(salt, 'base64'), Number(iterations), 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const withoutProof = `c=${Buffer.from('n,,').toString('base64')},r=${nonce}`;
  const signature = createHmac('sha256', createHash('sha256').update(clientKey).digest())
    .update(`${bare},${serverFirst},${withoutProof}`)
    .digest();
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] as number)));
  const { ok } = await command(connection, {
    saslContinue: 1,
    conversationId: first.conversationId,
    payload: Buffer.from(`${withoutProof},p=${proof.toString('base64')}`),
  });
  if (ok !== 1) throw new Error('the login was refused');
}
