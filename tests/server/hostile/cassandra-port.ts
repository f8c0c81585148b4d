/** The port of the Cassandra API: frames of protocol v4 with a header of nine bytes, a name and a key as login. */
import { auth, Client } from 'cassandra-driver';
import type { HostilePort, ServerAddress, Witness } from './hostile-port.ts';
import type { RawConnection } from './raw-connection.ts';

const HEADER_BYTES = 9;
const LENGTH_AT = 5;
const VERSION = 4;
const OPCODES = { error: 0, startup: 1, options: 5, authenticate: 3, authResponse: 15 } as const;
const SENTINEL_STREAM = 0x5ea;

export const cassandraPort: HostilePort = {
  api: 'cassandra',
  tour,
  openWitness,
  wrongPassword,
  wrongPasswordMessage: /authentication|credentials|password/i,
  messagesIn(sent) {
    const messages: Buffer[] = [];
    for (let at = 0; at + HEADER_BYTES <= sent.length; ) {
      const frame = sent.subarray(at, at + frameBytes(sent.subarray(at)));
      const opcode = frame[4];
      if (opcode !== OPCODES.startup && opcode !== OPCODES.authResponse) messages.push(frame);
      at += frame.length;
    }
    return messages;
  },
  bodyAt: HEADER_BYTES,
  login,
  sentinel: frameOf(OPCODES.options, Buffer.alloc(0), SENTINEL_STREAM),
  isAnswered(received) {
    for (let at = 0; at + HEADER_BYTES <= received.length; at += frameBytes(received.subarray(at)))
      if (received.readInt16BE(at + 2) === SENTINEL_STREAM) return true;
    return false;
  },
  withLength(message, length) {
    const changed = Buffer.from(message);
    changed.writeInt32BE(length, LENGTH_AT);
    return changed;
  },
};

function clientOf({ port, key }: ServerAddress): Client {
  return new Client({
    contactPoints: [`127.0.0.1:${port}`],
    localDataCenter: DATACENTER,
    authProvider: new auth.PlainTextAuthProvider('localhost', key),
    // From version 5 on, frames are wrapped in segments with checksums, which damage would not pass.
    protocolOptions: { maxVersion: VERSION },
  });
}

const DATACENTER = 'datacenter1';

async function createTable(client: Client, keyspace: string): Promise<string> {
  await client.execute(
    `CREATE KEYSPACE IF NOT EXISTS ${keyspace} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
  );
  const table = `${keyspace}.things`;
  await client.execute(
    `CREATE TABLE IF NOT EXISTS ${table} (a int, c int, v text, PRIMARY KEY (a, c))`,
  );
  return table;
}

async function tour(address: ServerAddress, name: string): Promise<void> {
  const client = clientOf(address);
  try {
    const table = await createTable(client, name);
    const options = { prepare: true };
    for (let c = 0; c < 5; c++)
      await client.execute(
        `INSERT INTO ${table} (a, c, v) VALUES (?, ?, ?)`,
        [1, c, `v${c}`],
        options,
      );
    await client.execute(`SELECT * FROM ${table} WHERE a = ? AND c > ?`, [1, 1], {
      prepare: true,
      fetchSize: 2,
    });
    await client.execute(`SELECT v FROM ${table} WHERE a = 1 AND c = 2`);
    await client.execute(`UPDATE ${table} SET v = ? WHERE a = ? AND c = ?`, ['x', 1, 2], options);
    await client.execute(`DELETE FROM ${table} WHERE a = ? AND c = ?`, [1, 3], options);
  } finally {
    await client.shutdown();
  }
}

async function openWitness(address: ServerAddress): Promise<Witness> {
  const client = clientOf(address);
  const table = await createTable(client, 'witness');
  let count = 0;
  return {
    async check() {
      count += 1;
      const options = { prepare: true };
      await client.execute(`INSERT INTO ${table} (a, c, v) VALUES (?, 0, 'w')`, [count], options);
      const { rowLength } = await client.execute(
        `SELECT v FROM ${table} WHERE a = ? AND c = 0`,
        [count],
        options,
      );
      if (rowLength !== 1) throw new Error('the witness does not find its row');
    },
    close: () => client.shutdown(),
  };
}

async function wrongPassword(address: ServerAddress): Promise<string> {
  const client = clientOf({ ...address, key: 'd3Jvbmc=' });
  try {
    await client.connect();
    return 'let in';
  } catch (error) {
    const { message, innerErrors = {} } = error as Error & { innerErrors?: object };
    return [message, ...Object.values(innerErrors).map(String)].join(' ');
  } finally {
    await client.shutdown();
  }
}

function frameOf(opcode: number, body: Buffer, stream = 1): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head[0] = VERSION;
  head.writeInt16BE(stream, 2);
  head[4] = opcode;
  head.writeInt32BE(body.length, LENGTH_AT);
  return Buffer.concat([head, body]);
}

function frameBytes(frame: Buffer): number {
  return HEADER_BYTES + frame.readInt32BE(LENGTH_AT);
}

async function login(connection: RawConnection, { key }: ServerAddress): Promise<void> {
  const texts = ['CQL_VERSION', '3.0.0'].map((text) =>
    Buffer.concat([Buffer.from([0, text.length]), Buffer.from(text)]),
  );
  await request(
    connection,
    frameOf(OPCODES.startup, Buffer.concat([Buffer.from([0, 1]), ...texts])),
  );
  const token = Buffer.from(`\0localhost\0${key}`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(token.length);
  await request(connection, frameOf(OPCODES.authResponse, Buffer.concat([length, token])));
}

async function request(connection: RawConnection, frame: Buffer): Promise<void> {
  connection.send(frame);
  const reply = await connection.next((received) => {
    if (received.length < HEADER_BYTES) return undefined;
    const bytes = frameBytes(received);
    return received.length >= bytes ? bytes : undefined;
  });
  if (reply[4] === OPCODES.error) throw new Error(`the login was refused: ${reply}`);
}
