/** The port of the Gremlin API: WebSocket frames after an upgrade, SASL PLAIN with a graph and a key. */
import { CosmosClient } from '@azure/cosmos';
import gremlin, { type Client } from 'gremlin';
import type { HostilePort, ServerAddress, Witness } from './hostile-port.ts';
import type { RawConnection } from './raw-connection.ts';

const GRAPH = 'graph';
const SENTINEL_ID = '5ea15ea1-5ea1-45ea-85ea-5ea15ea15ea1';
const LOGIN_ID = '10910910-9109-4109-8109-109109109109';
const BINARY_FRAME = 0x82;
const CLOSE_OPCODE = 8;
const MASK_BIT = 0x80;
const MIME = 'application/vnd.gremlin-v2.0+json';

export const gremlinPort: HostilePort = {
  api: 'gremlin',
  tour,
  openWitness,
  wrongPassword,
  wrongPasswordMessage: /401|Unauthorized/,
  messagesIn(sent) {
    const messages: Buffer[] = [];
    const head = sent.indexOf('\r\n\r\n') + 4;
    for (let at = head; at + 6 <= sent.length; ) {
      const end = at + frameBytes(sent.subarray(at));
      const frame = sent.subarray(at, end);
      const isLogin = unmasked(frame).includes('authentication');
      if (!isLogin && ((frame[0] as number) & 15) !== CLOSE_OPCODE) messages.push(frame);
      at = end;
    }
    return messages;
  },
  bodyAt: 8,
  login,
  sentinel: frameOf(evaluation(SENTINEL_ID)),
  isAnswered: (received) => received.includes(SENTINEL_ID),
  withLength(message, length) {
    const head = Buffer.alloc(10);
    head[0] = message[0] as number;
    head[1] = MASK_BIT | 127;
    head.writeBigUInt64BE(BigInt.asUintN(64, BigInt(length)), 2);
    return Buffer.concat([head, message.subarray(headBytes(message))]);
  },
};

function clientOf({ port, key }: ServerAddress, database: string): Client {
  const user = `/dbs/${database}/colls/${GRAPH}`;
  return new gremlin.driver.Client(`ws://127.0.0.1:${port}/gremlin`, {
    authenticator: new gremlin.driver.auth.PlainTextSaslAuthenticator(user, key),
    traversalSource: 'g',
  });
}

/** Databases and graphs are made with the NoSQL API, as with the reference service. */
async function createGraph({ endpoint, key }: ServerAddress, database: string): Promise<void> {
  const client = new CosmosClient({
    endpoint,
    key,
    connectionPolicy: { enableBackgroundEndpointRefreshing: false },
  });
  const made = await client.databases.createIfNotExists({ id: database });
  await made.database.containers.createIfNotExists({
    id: GRAPH,
    partitionKey: { paths: ['/pk'], version: 2 },
  });
  client.dispose();
}

async function tour(address: ServerAddress, name: string): Promise<void> {
  await createGraph(address, name);
  const client = clientOf(address, name);
  try {
    for (const id of ['a', 'b'])
      await client.submit(
        "g.addV('person').property('id', id).property('pk', id).property('age', 29)",
        { id },
      );
    await client.submit("g.V(['a', 'a']).addE('knows').to(g.V(['b', 'b']))");
    await client.submit("g.V().has('age', 29).out('knows').values('age')");
    await client.submit("g.V(['a', 'a']).property('age', 30)");
    await client.submit("g.V().hasLabel('person').count()");
    await client.submit("g.V(['b', 'b']).drop()");
  } finally {
    await client.close();
  }
}

async function openWitness(address: ServerAddress): Promise<Witness> {
  await createGraph(address, 'witness');
  const client = clientOf(address, 'witness');
  let count = 0;
  return {
    async check() {
      count += 1;
      const values = { id: `w${count}`, n: count };
      await client.submit(
        "g.addV('w').property('id', id).property('pk', 'p').property('n', n)",
        values,
      );
      const found = await client.submit("g.V(['p', id]).values('n')", values);
      if (found.toArray()[0] !== count) throw new Error('the witness does not find its vertex');
    },
    close: () => client.close(),
  };
}

async function wrongPassword(address: ServerAddress): Promise<string> {
  await createGraph(address, 'wrong');
  const client = clientOf({ ...address, key: 'd3Jvbmc=' }, 'wrong');
  try {
    await client.submit('g.V()');
    return 'let in';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await client.close();
  }
}

/** A masked frame as clients send them; the mask is zero, so that the bytes can be read. */
function frameOf(message: object): Buffer {
  const body = Buffer.concat([
    Buffer.from([MIME.length]),
    Buffer.from(MIME),
    Buffer.from(JSON.stringify(message)),
  ]);
  const head = Buffer.alloc(8);
  head[0] = BINARY_FRAME;
  head[1] = MASK_BIT | 126;
  head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}

function evaluation(requestId: string): object {
  return {
    requestId: { '@type': 'g:UUID', '@value': requestId },
    op: 'eval',
    processor: '',
    args: { gremlin: 'g.inject(1)', language: 'gremlin-groovy' },
  };
}

/** The upgrade, a request, its challenge and the answer. */
async function login(connection: RawConnection, { key }: ServerAddress): Promise<void> {
  const head = [
    'GET /gremlin HTTP/1.1',
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  connection.send(Buffer.from(`${head.join('\r\n')}\r\n\r\n`));
  await connection.next((received) => {
    const end = received.indexOf('\r\n\r\n');
    return end < 0 ? undefined : end + 4;
  });
  connection.send(frameOf(evaluation(LOGIN_ID)));
  await connection.next(wholeFrame);
  const sasl = Buffer.from(`\0/dbs/recorded/colls/${GRAPH}\0${key}`).toString('base64');
  connection.send(
    frameOf({
      requestId: { '@type': 'g:UUID', '@value': LOGIN_ID },
      op: 'authentication',
      processor: '',
      args: { saslMechanism: 'PLAIN', sasl },
    }),
  );
  const reply = await connection.next(wholeFrame);
  if (!reply.includes('"code":200')) throw new Error(`the login was refused: ${reply}`);
}

function wholeFrame(received: Buffer): number | undefined {
  if (received.length < 4) return undefined;
  const length = frameBytes(received);
  return received.length >= length ? length : undefined;
}

/** Bytes before the mask and the body. */
function headBytes(frame: Buffer): number {
  const length = (frame[1] as number) & 127;
  return length === 127 ? 10 : length === 126 ? 4 : 2;
}

function frameBytes(frame: Buffer): number {
  const short = (frame[1] as number) & 127;
  const head = headBytes(frame);
  const mask = ((frame[1] as number) & MASK_BIT) === 0 ? 0 : 4;
  if (short === 127) return head + mask + Number(frame.readBigUInt64BE(2));
  return head + mask + (short === 126 ? frame.readUInt16BE(2) : short);
}

function unmasked(frame: Buffer): Buffer {
  const head = headBytes(frame);
  const mask = frame.subarray(head, head + 4);
  return Buffer.from(frame.subarray(head + 4).map((byte, at) => byte ^ (mask[at % 4] as number)));
}
