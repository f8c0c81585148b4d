/** One connection between a socket and its protocol: back pressure in both directions, and errors that end it alone. */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ByteConnection, ByteProtocol, ByteSocket, ConnectionInfo } from './byte-protocol.ts';
import type { ConnectionLimits } from './connection-limits.ts';

/** The state that all connections of a server share. */
export interface Hosting {
  readonly protocol: ByteProtocol;
  readonly limits: ConnectionLimits;
  /** Receives errors of the protocol: bugs. */
  onFailure(error: unknown, info: ConnectionInfo): void;
  closed(connection: HostedConnection): void;
}

export class HostedConnection implements ByteSocket {
  readonly #socket: Socket;
  readonly #hosting: Hosting;
  readonly #info: ConnectionInfo;
  readonly #openedMs = performance.now();
  /** Undefined before the protocol has opened the connection, and where it could not. */
  #connection: ByteConnection | undefined;
  #activeMs = this.#openedMs;
  #hasReceived = false;
  /** When reading went on after a pause: a message in part is not the client's fault before. */
  #resumedMs = 0;
  #endedMs: number | undefined;
  #isPausedByProtocol = false;
  #isPausedByOutput = false;
  #isCorked = false;
  #isOver = false;

  constructor(socket: Socket, hosting: Hosting, id: number) {
    this.#socket = socket;
    this.#hosting = hosting;
    this.#info = infoOf(socket, id);
    socket.setTimeout(hosting.limits.stalledMs);
    socket.on('timeout', this.#onTimeout);
    socket.on('error', ignore);
    socket.on('close', this.#onOver);
    try {
      this.#connection = hosting.protocol.open(this, this.#info);
    } catch (error) {
      this.#fail(error);
      return;
    }
    socket.on('data', this.#onData);
    socket.on('end', this.#onOver);
    socket.on('drain', this.#onDrain);
    this.#steer();
  }

  /** True where the protocol has nothing under way and everything is sent. */
  get isIdle(): boolean {
    if (this.#connection === undefined || this.#socket.writableLength > 0) return false;
    try {
      return this.#connection.isIdle;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  write(bytes: Uint8Array): boolean {
    const socket = this.#socket;
    if (!socket.writable || this.#isOver) return false;
    const { unsentBytesHigh, unsentBytesMax } = this.#hosting.limits;
    if (socket.writableLength > unsentBytesMax) {
      this.#fail(new Error('the protocol went on writing to a client that does not read'));
      return false;
    }
    this.#cork();
    const takesMore = socket.write(bytes);
    this.#activeMs = performance.now();
    if (socket.writableLength > unsentBytesHigh && !this.#isPausedByOutput) {
      this.#isPausedByOutput = true;
      this.#steer();
    }
    return takesMore;
  }

  end(bytes?: Uint8Array): void {
    if (this.#endedMs !== undefined || this.#isOver) return;
    this.#endedMs = performance.now();
    if (bytes === undefined) this.#socket.end();
    else this.#socket.end(bytes);
    // The client's bytes are read and discarded: closing with unread bytes would reset the connection before it has
    // read the last ones of ours.
    this.#steer();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  pause(): void {
    this.#isPausedByProtocol = true;
    this.#steer();
  }

  resume(): void {
    this.#isPausedByProtocol = false;
    this.#steer();
  }

  /** The server stops: an idle connection ends at once, another when it has become idle. */
  stop(): void {
    this.endIfIdle();
    if (this.#endedMs !== undefined || this.#connection === undefined) return;
    try {
      this.#connection.stop();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** While the server stops. */
  endIfIdle(): void {
    if (this.#endedMs === undefined && !this.isIdle) return;
    this.#endedMs ??= performance.now();
    this.#socket.destroySoon();
  }

  /** Ends a connection that has used up one of its times. Called at intervals. */
  expire(nowMs: number): void {
    const { firstByteMs, messageMs, idleMs, lingerMs } = this.#hosting.limits;
    if (this.#endedMs !== undefined) {
      if (nowMs - this.#endedMs > lingerMs) this.destroy();
    } else if (!this.#hasReceived) {
      if (nowMs - this.#openedMs > firstByteMs) this.destroy();
    } else if (this.#partialMs(nowMs) > messageMs) this.destroy();
    else if (nowMs - this.#activeMs > idleMs && this.isIdle) this.end();
  }

  #partialMs(nowMs: number): number {
    const sinceMs = this.#connection?.partialSinceMs;
    return sinceMs === undefined || this.#isPaused ? 0 : nowMs - Math.max(sinceMs, this.#resumedMs);
  }

  get #isPaused(): boolean {
    return this.#isPausedByProtocol || this.#isPausedByOutput;
  }

  /** Lets bytes come in or not. A connection that has ended reads to the end, whatever it was before. */
  #steer(): void {
    if (this.#isPaused && this.#endedMs === undefined) this.#socket.pause();
    else if (this.#socket.isPaused()) {
      this.#resumedMs = performance.now();
      this.#socket.resume();
    }
  }

  /** All that is written in one turn of the event loop goes to the system together. */
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#socket.cork();
    process.nextTick(this.#uncork);
  }

  readonly #uncork = (): void => {
    this.#isCorked = false;
    this.#socket.uncork();
  };

  readonly #onData = (chunk: Buffer): void => {
    if (this.#endedMs !== undefined) return;
    this.#activeMs = performance.now();
    this.#hasReceived = true;
    try {
      this.#connection?.onData(chunk);
    } catch (error) {
      this.#fail(error);
    }
  };

  readonly #onDrain = (): void => {
    this.#isPausedByOutput = false;
    this.#steer();
    try {
      this.#connection?.onDrain();
    } catch (error) {
      this.#fail(error);
    }
  };

  /** Neither direction has moved, a write in progress included. */
  readonly #onTimeout = (): void => {
    if (this.#socket.writableLength > 0) this.destroy();
    else this.#socket.setTimeout(this.#hosting.limits.stalledMs);
  };

  readonly #onOver = (): void => {
    if (this.#socket.destroyed) this.#hosting.closed(this);
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      this.#connection?.onEnd();
    } catch (error) {
      this.#fail(error);
    }
  };

  #fail(error: unknown): void {
    this.#socket.destroy();
    this.#hosting.onFailure(error, this.#info);
  }
}

/** Nothing to do: `close` follows every error. */
function ignore(): void {}

function infoOf(socket: Socket, id: number): ConnectionInfo {
  const isTls = socket instanceof TLSSocket;
  const name = isTls ? (socket as TLSSocket & { servername?: string | false }).servername : false;
  return {
    id,
    remoteAddress: plainAddress(socket.remoteAddress),
    remotePort: socket.remotePort ?? 0,
    isTls,
    host: typeof name === 'string' && name !== '' ? name : plainAddress(socket.localAddress),
    port: socket.localPort ?? 0,
  };
}

/** A listener for both versions of IP shows addresses of version 4 in the notation of version 6. */
function plainAddress(address: string | undefined): string {
  return address?.replace(/^::ffff:(?=\d+\.)/, '') ?? 'unknown';
}
