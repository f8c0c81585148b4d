/**
 * Goal: a port for a protocol that is not HTTP survives bad clients and stops gracefully. Method: real sockets against a
 * tiny protocol, frames that are sent back; the times are short and the tests wait for what happens, not for a time.
 */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/index.ts';
import {
  type ByteConnection,
  type ByteProtocol,
  type ByteSocket,
  type ConnectionInfo,
  type ConnectionLimits,
  FrameError,
  FrameReader,
} from '../../net/index.ts';
import { openTls, type TlsOptions } from '../tls/index.ts';
import { ConnectionCount } from './connection-count.ts';
import { listenBytes } from './listen-bytes.ts';
import type { Listener } from './listener.ts';
import { stop } from './shutdown.ts';

const FRAME_BYTES_MAX = 1024;

/** A frame is a length of two bytes, itself included, and a text. `later` waits for the test, `crash` throws. */
class Echo implements ByteConnection {
  readonly #socket: ByteSocket;
  readonly #world: EchoWorld;
  readonly #frames = new FrameReader({
    headerBytes: 2,
    frameBytesMax: FRAME_BYTES_MAX,
    frameBytes: (header) => header.readUInt16BE(),
  });
  #open = 0;

  constructor(socket: ByteSocket, world: EchoWorld) {
    this.#socket = socket;
    this.#world = world;
  }

  get isIdle(): boolean {
    return this.#open === 0 && this.partialSinceMs === undefined;
  }

  get partialSinceMs(): number | undefined {
    return this.#frames.partialSinceMs;
  }

  onData(chunk: Buffer): void {
    this.#frames.push(chunk);
    try {
      for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next())
        this.#serve(frame.toString('latin1', 2));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#socket.end(frameOf(error.kind));
    }
  }

  #serve(text: string): void {
    const reply = (): void => void this.#socket.write(frameOf(text));
    if (text === 'crash') throw new Error('crash');
    if (text === 'flood') this.#flood();
    else if (text === 'later') {
      this.#open += 1;
      this.#world.later.push(() => {
        this.#open -= 1;
        reply();
      });
      this.#world.onLater?.();
    } else reply();
  }

  /** Writes until the socket says no, again after each drain: a producer that never ends. */
  #flood(): void {
    const bytes = Buffer.alloc(16_384);
    while (this.#socket.write(bytes)) this.#world.floods += 1;
    this.#world.onFull?.();
  }

  onDrain(): void {
    this.#flood();
  }

  onEnd(): void {
    this.#world.ends += 1;
    this.#world.onEnd?.();
  }

  stop(): void {
    this.#world.stops += 1;
  }
}

class EchoWorld implements ByteProtocol {
  readonly later: (() => void)[] = [];
  readonly infos: ConnectionInfo[] = [];
  readonly failures: unknown[] = [];
  floods = 0;
  ends = 0;
  stops = 0;
  onLater: (() => void) | undefined;
  onFull: (() => void) | undefined;
  onEnd: (() => void) | undefined;

  /** Resolves when so many connections have ended. */
  ended(count: number): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.ends >= count) resolve();
      };
      this.onEnd = check;
      check();
    });
  }

  open(socket: ByteSocket, info: ConnectionInfo): ByteConnection {
    this.infos.push(info);
    return new Echo(socket, this);
  }
}

function frameOf(text: string): Buffer {
  const frame = Buffer.alloc(2 + text.length);
  frame.writeUInt16BE(frame.length);
  frame.write(text, 2, 'latin1');
  return frame;
}

let tls: TlsOptions;
const opened: Listener[] = [];

beforeAll(async () => {
  tls = await openTls({
    settings: { names: [], isPlainServed: true },
    dataPath: undefined,
    host: '127.0.0.1',
    clock: systemClock,
    onFailure: (error) => {
      throw error;
    },
  });
});

afterEach(async () => {
  for (const { sockets } of opened) for (const socket of sockets) socket.destroy();
  await stopAll(opened.splice(0));
});

function stopAll(listeners: readonly Listener[]): Promise<void> {
  return stop({ listeners, close: async () => undefined });
}

interface StartOptions {
  readonly limits?: Partial<ConnectionLimits>;
  readonly connections?: ConnectionCount;
  readonly tls?: TlsOptions;
}

async function start(
  world: EchoWorld,
  { limits = {}, connections = new ConnectionCount(100), tls }: StartOptions = {},
): Promise<Listener> {
  const listener = await listenBytes({
    host: '127.0.0.1',
    port: 0,
    flag: 'mongo-port',
    protocol: world,
    connections,
    limits,
    tls,
    onError: (error) => {
      throw error;
    },
    onFailure: (error) => void world.failures.push(error),
  });
  opened.push(listener);
  return listener;
}

/** One client; received bytes are kept until the test asks. */
class Client {
  readonly socket: Socket;
  #bytes = Buffer.alloc(0);
  #isClosed = false;
  #check: (() => void) | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#check?.();
    });
    socket.on('close', () => {
      this.#isClosed = true;
      this.#check?.();
    });
  }

  static plain(listener: Listener): Client {
    return new Client(connect({ port: listener.port, host: '127.0.0.1', noDelay: true }));
  }

  static secure(listener: Listener, servername = ''): Client {
    const ca = tls.certificates.authorityPem;
    return new Client(connectTls({ port: listener.port, host: '127.0.0.1', ca, servername }));
  }

  send(...texts: string[]): this {
    this.socket.write(Buffer.concat(texts.map(frameOf)));
    return this;
  }

  /** The next frame; undefined where the server closed. */
  frame(): Promise<string | undefined> {
    return this.#when(() => {
      const length = this.#bytes.length < 2 ? Number.POSITIVE_INFINITY : this.#bytes.readUInt16BE();
      if (this.#bytes.length < length) return this.#isClosed ? { value: undefined } : undefined;
      const value = this.#bytes.toString('latin1', 2, length);
      this.#bytes = this.#bytes.subarray(length);
      return { value };
    });
  }

  closed(): Promise<void> {
    return this.#when(() => (this.#isClosed ? { value: undefined } : undefined));
  }

  #when<T>(read: () => { value: T } | undefined): Promise<T> {
    return new Promise((resolve) => {
      this.#check = () => {
        const seen = read();
        if (seen === undefined) return;
        this.#check = undefined;
        resolve(seen.value);
      };
      this.#check();
    });
  }
}

describe('frames', () => {
  it('come back in order, however they are cut', async () => {
    const world = new EchoWorld();
    const client = Client.plain(await start(world));
    const bytes = Buffer.concat(['one', '', 'x'.repeat(1000), 'four'].map(frameOf));
    for (const byte of bytes) client.socket.write(Buffer.from([byte]));
    client.socket.write(bytes);
    for (let round = 0; round < 2; round++)
      for (const expected of ['one', '', 'x'.repeat(1000), 'four'])
        expect(await client.frame()).toBe(expected);
    expect(world.infos[0]).toEqual({
      id: 1,
      remoteAddress: '127.0.0.1',
      remotePort: expect.any(Number),
      isTls: false,
      host: '127.0.0.1',
      port: opened[0]?.port,
    });
  });

  it('that announce too much or too little get an error and the end', async () => {
    const listener = await start(new EchoWorld());
    for (const [length, error] of [
      [FRAME_BYTES_MAX + 1, 'tooLong'],
      [1, 'invalid'],
    ] as const) {
      const client = Client.plain(listener).send('first');
      client.socket.write(Buffer.from([length >> 8, length & 255, 1, 2, 3]));
      expect(await client.frame()).toBe('first');
      expect(await client.frame()).toBe(error);
      expect(await client.frame()).toBeUndefined();
    }
  });
});

describe('TLS', () => {
  it('is served on the port of plain connections, with the name that the client used', async () => {
    const world = new EchoWorld();
    const listener = await start(world, { tls });
    const plain = Client.plain(listener).send('plain');
    expect(await plain.frame()).toBe('plain');
    for (const name of ['', 'db.test']) {
      const secure = Client.secure(listener, name).send('x'.repeat(900));
      expect(await secure.frame()).toBe('x'.repeat(900));
    }
    expect(world.infos.map(({ isTls, host }) => [isTls, host])).toEqual([
      [false, '127.0.0.1'],
      [true, '127.0.0.1'],
      [true, 'db.test'],
    ]);
  });

  it('does not mistake a plain message for a handshake whose first byte it shares', async () => {
    const client = Client.plain(await start(new EchoWorld(), { tls }));
    // The length 5636 is too long for the echo, which says so.
    for (const byte of [0x16, 0x04, 0x01]) client.socket.write(Buffer.from([byte]));
    expect(await client.frame()).toBe('tooLong');
  });

  it('alone: a plain connection is closed', async () => {
    const listener = await start(new EchoWorld(), { tls: { ...tls, isPlainServed: false } });
    const plain = Client.plain(listener).send('plain');
    expect(await plain.frame()).toBeUndefined();
    expect(await Client.secure(listener).send('secure').frame()).toBe('secure');
  });
});

describe('bounds', () => {
  it('a producer pauses while its client does not read, and goes on when it does', async () => {
    const world = new EchoWorld();
    const listener = await start(world);
    const full = new Promise<void>((resolve) => {
      world.onFull = resolve;
    });
    const client = Client.plain(listener);
    client.socket.pause();
    client.send('flood');
    await full;
    const held = world.floods;
    const again = new Promise<void>((resolve) => {
      world.onFull = () => {
        if (world.floods > held) resolve();
      };
    });
    client.socket.resume();
    await again;
    // Others are served meanwhile.
    expect(await Client.plain(listener).send('other').frame()).toBe('other');
    expect(world.failures).toEqual([]);
  });

  it('a client that reads nothing is cut off', async () => {
    const world = new EchoWorld();
    const listener = await start(world, { limits: { stalledMs: 20 } });
    const ended = world.ended(1);
    const client = Client.plain(listener);
    client.socket.pause();
    client.send('flood');
    await ended;
    expect(await Client.plain(listener).send('other').frame()).toBe('other');
  });

  it('a protocol that goes on writing to such a client loses the connection, not the memory', async () => {
    const world = new EchoWorld();
    const listener = await start(world, { limits: { unsentBytesMax: 1000 } });
    const client = Client.plain(listener);
    client.socket.pause();
    // The replies of one packet of frames are written in one turn, before the system takes any.
    client.send('x'.repeat(700), 'x'.repeat(700), 'x'.repeat(700));
    await world.ended(1);
    expect(world.failures.map(String)).toEqual([
      'Error: the protocol went on writing to a client that does not read',
    ]);
  });

  it('half a message has its time', async () => {
    const world = new EchoWorld();
    const listener = await start(world, { limits: { messageMs: 10 } });
    const client = Client.plain(listener);
    client.send('first').socket.write(frameOf('second').subarray(0, 4));
    expect(await client.frame()).toBe('first');
    sweepUntil(listener, client);
    expect(await client.frame()).toBeUndefined();
    await world.ended(1);
    expect(world.failures).toEqual([]);
  });

  it('silent and idle connections have their times', async () => {
    const world = new EchoWorld();
    const listener = await start(world, { limits: { firstByteMs: 10, idleMs: 10 } });
    const silent = Client.plain(listener);
    const idle = Client.plain(listener).send('once');
    const busy = Client.plain(listener).send('later');
    expect(await idle.frame()).toBe('once');
    sweepUntil(listener, silent);
    await silent.closed();
    sweepUntil(listener, idle);
    await idle.closed();
    for (const answer of world.later) answer();
    expect(await busy.frame()).toBe('later');
  });

  it('more connections than allowed are closed at once', async () => {
    const connections = new ConnectionCount(2);
    const world = new EchoWorld();
    const listener = await start(world, { connections });
    const other = await start(world, { connections });
    const served = [Client.plain(listener).send('a'), Client.plain(other).send('b')];
    expect(await Promise.all(served.map((client) => client.frame()))).toEqual(['a', 'b']);
    expect(await Client.plain(listener).send('c').frame()).toBeUndefined();
    expect([listener.refusedCount, other.refusedCount, connections.open]).toEqual([1, 0, 2]);
    served[0]?.socket.destroy();
    await world.ended(1);
    expect(await Client.plain(other).send('d').frame()).toBe('d');
    expect(await served[1]?.send('e').frame()).toBe('e');
  });
});

/** Runs the sweep that the server runs every few seconds, until the client is closed. */
function sweepUntil(listener: Listener, client: Client): void {
  const server = listener.server as Listener['server'] & { sweep(nowMs: number): void };
  const timer = setInterval(() => server.sweep(performance.now()), 5);
  client.socket.once('close', () => clearInterval(timer));
}

describe('failures', () => {
  it('a protocol that throws loses this connection, and the others go on', async () => {
    const world = new EchoWorld();
    const listener = await start(world);
    const other = Client.plain(listener).send('one');
    expect(await other.frame()).toBe('one');
    expect(await Client.plain(listener).send('crash').frame()).toBeUndefined();
    expect(await other.send('two').frame()).toBe('two');
    expect(world.failures.map(String)).toEqual(['Error: crash']);
  });

  it('a reply to a client that is gone goes nowhere', async () => {
    const world = new EchoWorld();
    const listener = await start(world);
    const received = new Promise<void>((resolve) => {
      world.onLater = resolve;
    });
    const gone = Client.plain(listener).send('later');
    await received;
    const ended = world.ended(1);
    gone.socket.resetAndDestroy();
    await ended;
    for (const answer of world.later) answer();
    expect([world.ends, world.failures]).toEqual([1, []]);
  });
});

describe('stop', () => {
  it('ends idle, silent and half-open connections at once and waits for open requests', async () => {
    const world = new EchoWorld();
    const listener = await start(world, { tls });
    const received = new Promise<void>((resolve) => {
      world.onLater = resolve;
    });
    const idle = Client.plain(listener).send('idle');
    const secure = Client.secure(listener).send('secure');
    const silent = Client.plain(listener);
    const busy = Client.plain(listener).send('later');
    await Promise.all([idle.frame(), secure.frame(), received]);
    const stopped = stopAll([listener]);
    await Promise.all([idle.closed(), secure.closed(), silent.closed()]);
    expect(world.stops).toBe(1);
    for (const answer of world.later) answer();
    expect(await busy.frame()).toBe('later');
    await Promise.all([busy.closed(), stopped, world.ended(3)]);
    expect([world.ends, world.failures]).toEqual([3, []]);
  });
});
