// Goal: bad bytes get the protocol's error or a closed connection, never a dead server. Method: seeded random messages.
import { connect, type Socket } from 'node:net';
import { BSON } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../../src/base/index.ts';
import { type Account, startAccount } from './harness.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? Date.now() % 1_000_000);
const random = seededRandom(SEED);
const ROUNDS = 300;

let account: Account;
beforeAll(async () => {
  account = await startAccount();
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

function message(opCode: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const header = Buffer.alloc(16);
  header.writeInt32LE(16 + body.length, 0);
  header.writeInt32LE(7, 4);
  header.writeInt32LE(opCode, 12);
  return Buffer.concat([header, body]);
}

const flags = (bits: number): Buffer => Buffer.from(Uint32Array.of(bits).buffer);

function opMsg(document: object, bits = 0): Buffer {
  return message(2013, flags(bits), Buffer.of(0), BSON.serialize(document));
}

function compressed(compressor: number, length: number, hex: string): Buffer {
  const head = Buffer.alloc(9);
  head.writeInt32LE(2013, 0);
  head.writeInt32LE(length, 4);
  head.writeUInt8(compressor, 8);
  return message(2012, head, Buffer.from(hex, 'hex'));
}

/** Sends the bytes and returns all that comes back until the server closes, or the given number of replies. */
function exchange(bytes: Buffer, repliesMax = 1): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(account.port, '127.0.0.1');
    let received = Buffer.alloc(0);
    const end = (): void => {
      socket.destroy();
      resolve(received);
    };
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      let at = 0;
      let replies = 0;
      while (at + 16 <= received.length && at + received.readInt32LE(at) <= received.length) {
        at += received.readInt32LE(at);
        replies += 1;
      }
      if (replies >= repliesMax) end();
    });
    socket.on('close', end);
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? end() : reject(error),
    );
    socket.end(bytes);
  });
}

const replyOf = (bytes: Buffer): Record<string, unknown> => BSON.deserialize(bytes.subarray(21));

test.each<readonly [string, Buffer]>([
  ['a length below the header', Buffer.from('0f000000000000000000000000000000', 'hex')],
  ['a negative length', Buffer.from('ffffffff000000000000000000000000', 'hex')],
  ['a length of 2 GB', Buffer.from('ffffff7f0000000000000000dd070000', 'hex')],
  [
    'more than a stranger may send',
    Buffer.from('00000100000000000000000000000000', 'hex').fill(2, 0, 4),
  ],
  ['an unknown operation', message(9, Buffer.alloc(8))],
  ['no sections', message(2013, flags(0))],
  ['a section of an unknown kind', message(2013, flags(0), Buffer.of(9, 0, 0))],
  ['an unknown required flag', opMsg({ ping: 1 }, 4)],
  ['a document that ends too early', message(2013, flags(0), Buffer.of(0, 20, 0, 0, 0, 0))],
  ['a sequence that is too long', message(2013, flags(0), Buffer.of(1, 255, 255, 0, 0, 97, 0))],
  ['a block of snappy that says it is 2 GB', compressed(1, 40, 'ffffffff07')],
  ['a block of snappy that ends too early', compressed(1, 40, '28f0')],
  ['a compressor that nobody knows', compressed(9, 1, '00')],
  ['half a message', opMsg({ ping: 1 }).subarray(0, 30)],
])('%s closes the connection', async (_, bytes) => {
  expect((await exchange(bytes)).length).toBe(0);
});

test('a command that is no document gets ProtocolError, then the connection is closed', async () => {
  const broken = BSON.serialize({ ping: 1 });
  broken[4] = 0x44;
  const reply = await exchange(message(2013, flags(0), Buffer.of(0), broken));
  expect(replyOf(reply)).toMatchObject({ ok: 0, code: 17, codeName: 'ProtocolError' });
});

test('OP_QUERY carries hello only', async () => {
  const query = message(
    2004,
    flags(0),
    Buffer.from('admin.$cmd\0'),
    Buffer.alloc(8),
    BSON.serialize({ find: 'c' }),
  );
  const reply = await exchange(query);
  expect(BSON.deserialize(reply.subarray(36))).toMatchObject({ ok: 0, code: 352 });
});

test(`${ROUNDS} broken messages leave the server serving (MESOCOSM_SEED=${SEED})`, async () => {
  const documents = [
    { hello: 1, $db: 'admin' },
    { ping: 1, $db: 'admin' },
    {
      saslStart: 1,
      mechanism: 'SCRAM-SHA-256',
      payload: Buffer.from('n,,n=localhost,r=abc'),
      $db: 'admin',
    },
    { saslContinue: 1, conversationId: 1, payload: Buffer.from('c=biws,r=x,p=AAAA'), $db: 'admin' },
    { find: 'c', filter: { a: [{ $gt: 1 }] }, lsid: { id: 5 }, txnNumber: 'x', $db: 'd' },
  ];
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = Buffer.from(opMsg(documents[random.below(documents.length)] as object));
    for (let flips = 1 + random.below(4); flips > 0; flips--)
      bytes[random.below(bytes.length)] = random.below(256);
    await exchange(random.below(8) === 0 ? bytes.subarray(0, random.below(bytes.length)) : bytes);
  }
  expect(replyOf(await exchange(opMsg({ ping: 1, $db: 'admin' })))).toMatchObject({ ok: 1 });
  const client = await account.connect();
  expect(await client.db('d').command({ ping: 1 })).toMatchObject({ ok: 1 });
});

test('random commands of an authenticated client are answered or refused by code', async () => {
  const client = await account.connect();
  const db = client.db('fuzz');
  await db.collection('c').insertMany([{ a: 1 }, { a: [1, { b: 2 }] }, { a: { b: [null, 'x'] } }]);
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
  const value = (depth: number): unknown => {
    const leaf = [1, -1, 0.5, 'x', '$a', '', null, true, [], {}, 2 ** 40, new Date(0), /a/i];
    if (depth > 3 || random.below(3) === 0) return pick(leaf);
    if (random.below(4) === 0)
      return Array.from({ length: random.below(3) }, () => value(depth + 1));
    const names = [
      'a',
      'a.b',
      'a.0',
      'b',
      '_id',
      '$gt',
      '$in',
      '$and',
      '$or',
      '$not',
      '$elemMatch',
      '$all',
      '$size',
      '$exists',
      '$type',
      '$regex',
      '$mod',
      '$set',
      '$inc',
      '$push',
      '$pull',
      '$each',
      '$unset',
      '$rename',
      '$match',
      '$group',
      '$sort',
      '$project',
      '$limit',
      '$sum',
      'a.$[]',
      '',
      'a..b',
    ];
    return Object.fromEntries(
      Array.from({ length: random.below(3) }, () => [pick(names), value(depth + 1)]),
    );
  };
  for (let round = 0; round < ROUNDS; round++) {
    const command = pick<() => object>([
      () => ({
        find: 'c',
        filter: value(0),
        sort: value(2),
        projection: value(1),
        limit: value(9),
        batchSize: value(9),
      }),
      () => ({
        update: 'c',
        updates: [{ q: value(1), u: value(0), multi: pick([true, false]), upsert: false }],
      }),
      () => ({ delete: 'fuzz2', deletes: [{ q: value(0), limit: pick([0, 1]) }] }),
      () => ({ aggregate: 'c', pipeline: [value(0), value(0)], cursor: {} }),
      () => ({ findAndModify: 'c', query: value(0), update: value(0) }),
      () => ({ count: 'c', query: value(0) }),
      () => ({ distinct: 'c', key: pick(['a', 'a.b', '', '$a']), query: value(0) }),
      () => ({ insert: 'c', documents: [value(0)] }),
    ])();
    try {
      await db.command(command);
    } catch (error) {
      const { code } = error as { code?: unknown };
      expect(code, `MESOCOSM_SEED=${SEED} ${JSON.stringify(command)}: ${error}`).toEqual(
        expect.any(Number),
      );
      expect(code, `MESOCOSM_SEED=${SEED} ${JSON.stringify(command)}`).not.toBe(1);
    }
  }
});
