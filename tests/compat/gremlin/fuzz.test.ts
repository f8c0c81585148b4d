// Goal: bad frames, scripts and bytecode are refused or closed, and the server serves others. Method: recorded requests
// of the stock client, damaged by a seed, with and without a login.
import gremlin from 'gremlin';
import codec from 'gremlin/lib/structure/io/binary/GraphBinary.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Random, seededRandom } from '../../../src/base/index.ts';
import { type Account, GRAPH_PATH, KEY, MIMES, startAccount } from './harness.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? 20_261_118);
const ROUNDS = process.env.MESOCOSM_LONG === undefined ? 300 : 20_000;
const { P, statics: __ } = gremlin.process;

let account: Account;

beforeAll(async () => {
  account = await startAccount();
  await account
    .client()
    .submit("g.addV('person').property('id','a').property('pk','a').property('age',3)");
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const SCRIPTS = [
  "g.V().has('age',gt(2)).out('knows').values('name').order().by(desc).limit(3)",
  "g.V(['a','a']).as('x').repeat(both().simplePath()).emit().times(3).select('x').by('age')",
  "g.V().group().by(label).by(values('age').fold()).unfold().select(keys)",
  "g.inject([a:1,b:[2,3L,4.5f]],{1,2},'it\\'s',null,NaN).unfold().fold()",
  'g.V().coalesce(out(),__.in(),constant(1)).choose(is(gt(1)),identity(),constant(2)).dedup()',
];

const writers = {
  graphson2: new gremlin.structure.io.GraphSON2Writer(),
  graphson3: new gremlin.structure.io.GraphSON3Writer(),
  graphbinary: codec.graphBinaryWriter,
};
type FormatName = keyof typeof writers;
const ID = '0a1b2c3d-1111-2222-3333-444455556666';

function frame(format: FormatName, op: string, args: object): Buffer {
  const processor = op === 'bytecode' ? 'traversal' : '';
  const body = writers[format].writeRequest({ requestId: ID, op, processor, args });
  const mime = MIMES[format];
  return Buffer.concat([Buffer.from([mime.length]), Buffer.from(mime), body]);
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

function request(random: Random): Buffer {
  const format = pick(random, Object.keys(writers) as FormatName[]);
  if (random.below(2) === 0)
    return frame(format, 'eval', {
      gremlin: pick(random, SCRIPTS),
      bindings: { x: 1 },
      aliases: { g: 'g' },
    });
  const traversal = __.has('age', P.gt(2).and(P.lt(9)))
    .out('knows')
    .repeat(__.both())
    .times(2)
    .group()
    .by('age');
  return frame(format, 'bytecode', { gremlin: traversal.getBytecode(), aliases: { g: 'g' } });
}

/** A few bytes changed, cut out or doubled. */
function damaged(random: Random, bytes: Buffer): Buffer {
  let result = Buffer.from(bytes);
  for (let hits = 1 + random.below(4); hits > 0; hits--) {
    const at = random.below(result.length + 1);
    switch (random.below(4)) {
      case 0:
        result[Math.min(at, result.length - 1)] = random.below(256);
        break;
      case 1:
        result = Buffer.concat([result.subarray(0, at), result.subarray(at + 1 + random.below(8))]);
        break;
      case 2:
        result = Buffer.concat([result.subarray(0, at), result.subarray(Math.max(0, at - 9))]);
        break;
      default:
        result = result.subarray(0, at);
    }
    if (result.length === 0) return Buffer.from([0]);
  }
  return result;
}

function open(): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${account.port}/`);
    socket.on('error', reject);
    socket.setMaxListeners(0);
    socket.on('open', () => resolve(socket));
  });
}

/** Sends a frame and waits for an answer or the end of the connection. */
function answered(socket: WebSocket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    socket.once('message', () => resolve());
    socket.once('close', () => resolve());
    socket.send(bytes);
  });
}

test.each([true, false])('damaged frames, logged in: %s', async (isLoggedIn) => {
  const random = seededRandom(SEED);
  const sasl = Buffer.from(`\0${GRAPH_PATH}\0${KEY}`).toString('base64');
  let socket = await open();
  const login = (): Promise<void> =>
    answered(socket, frame('graphson3', 'authentication', { sasl }));
  if (isLoggedIn) await login();
  for (let round = 0; round < ROUNDS; round++) {
    if (socket.readyState !== WebSocket.OPEN) {
      socket = await open();
      if (isLoggedIn) await login();
    }
    const bytes = damaged(random, request(random));
    // A request that waits for a login gets no answer of its own.
    if (isLoggedIn) await answered(socket, bytes);
    else socket.send(bytes);
    expect(account.failures, `seed ${SEED}, round ${round}: ${bytes.toString('latin1')}`).toEqual(
      [],
    );
  }
  socket.terminate();
  expect((await account.client().submit('g.V().count()')).toArray()).toEqual([1]);
});

test('damaged scripts are refused', async () => {
  const random = seededRandom(SEED + 1);
  const client = account.client({ mimeType: MIMES.graphson3 });
  for (let round = 0; round < ROUNDS; round++) {
    const script = damaged(random, Buffer.from(pick(random, SCRIPTS))).toString('latin1');
    await client.submit(script).then(
      () => undefined,
      (error: { statusCode: number }) =>
        expect([500, 597], `seed ${SEED}, round ${round}: ${script}`).toContain(error.statusCode),
    );
  }
  expect(account.failures).toEqual([]);
});

test('a frame beyond the bound closes its connection only', async () => {
  const socket = await open();
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  socket.send(Buffer.alloc(5 * 1024 * 1024));
  expect(await closed).toBe(1009);
  expect((await account.client().submit('g.inject(1)')).toArray()).toEqual([1]);
});

test('requests without a login beyond the queue close the connection', async () => {
  const socket = await open();
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  for (let sent = 0; sent < 1100; sent++)
    socket.send('{"requestId":"r","op":"eval","args":{"gremlin":"1"}}');
  expect(await closed).toBe(1008);
});

test('large requests without a login close the connection', async () => {
  const socket = await open();
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  const padding = 'x'.repeat(3 * 1024 * 1024);
  for (let sent = 0; sent < 8; sent++)
    socket.send(`{"requestId":"r","op":"eval","args":{"gremlin":"1","x":"${padding}"}}`);
  expect(await closed).toBe(1008);
});
