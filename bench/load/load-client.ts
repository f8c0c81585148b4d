/**
 * The load client, a separate process: keep-alive connections over plain sockets, each with one open request.
 * It reads only status and length of a response, so that the server is the bottleneck.
 */
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { connect as connectTls } from 'node:tls';
import type { LoadMessage, LoadRequest } from './protocol.ts';
import { type RequestSource, requestSource } from './requests.ts';
import { headOfWhole } from './response.ts';

/** Wait for the last responses after the measurement. */
const DRAIN_MS = 5000;

interface Tally {
  latenciesMs: number[];
  failures: Record<string, number>;
}

/** How to connect, and the TLS session, which clients resume where the server closes after each response. */
class Dialer {
  readonly #load: LoadRequest;
  #session: Buffer | undefined;

  constructor(load: LoadRequest) {
    this.#load = load;
  }

  dial(onConnect: () => void): Socket {
    const { port, scheme } = this.#load;
    const host = '127.0.0.1';
    if (scheme === 'http') return connect({ port, host, noDelay: true }, onConnect);
    const session = this.#session;
    const socket = connectTls(
      { port, host, rejectUnauthorized: false, ...(session === undefined ? {} : { session }) },
      onConnect,
    );
    socket.on('session', (fresh: Buffer) => {
      this.#session = fresh;
    });
    return socket;
  }
}

class Connection {
  readonly #dialer: Dialer;
  readonly #source: RequestSource;
  readonly #tally: Tally;
  readonly idle: Promise<void>;
  #socket: Socket;
  #isStopping = false;
  #sentMs = 0;
  /** The pieces of a response that is not complete. */
  #rest: Buffer | undefined;
  #becomeIdle: () => void = () => undefined;

  constructor(dialer: Dialer, source: RequestSource, tally: Tally) {
    this.#dialer = dialer;
    this.#source = source;
    this.#tally = tally;
    this.idle = new Promise((resolve) => {
      this.#becomeIdle = resolve;
    });
    this.#socket = this.#open();
  }

  stop(): void {
    this.#isStopping = true;
  }

  /** The first request is sent when the connection is open; its latency counts from here. */
  #open(): Socket {
    this.#sentMs = performance.now();
    const socket = this.#dialer.dial(() => socket.write(this.#source.next(), 'latin1'));
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error: Error) => this.#end(error.message));
    socket.on('end', () => {
      if (socket === this.#socket) this.#end('connection closed');
    });
    return socket;
  }

  #receive(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    const head = headOfWhole(bytes);
    if (head === undefined) {
      this.#rest = bytes;
      return;
    }
    this.#rest = undefined;
    this.#tally.latenciesMs.push(performance.now() - this.#sentMs);
    const status = head.slice(9, 12);
    if (status !== String(this.#source.expectedStatus)) this.#fail(status);
    if (this.#isStopping) this.#end(undefined);
    else if (head.includes('connection: close')) this.#reopen();
    else {
      this.#sentMs = performance.now();
      this.#socket.write(this.#source.next(), 'latin1');
    }
  }

  #reopen(): void {
    const old = this.#socket;
    this.#socket = this.#open();
    old.destroy();
  }

  #fail(what: string): void {
    this.#tally.failures[what] = (this.#tally.failures[what] ?? 0) + 1;
  }

  #end(failure: string | undefined): void {
    if (failure !== undefined && !this.#isStopping) this.#fail(failure);
    this.#socket.destroy();
    this.#becomeIdle();
  }
}

async function run(load: LoadRequest, say: (message: LoadMessage) => void): Promise<void> {
  const source = requestSource(load);
  const tally: Tally = { latenciesMs: [], failures: {} };
  const dialer = new Dialer(load);
  const connections = Array.from(
    { length: load.connections },
    () => new Connection(dialer, source, tally),
  );
  await delay(load.warmUpMs);
  tally.latenciesMs = [];
  say({ kind: 'started' });
  const startMs = performance.now();
  await delay(load.measureMs);
  say({ kind: 'stopped' });
  const { latenciesMs } = tally;
  const elapsedMs = performance.now() - startMs;
  for (const connection of connections) connection.stop();
  await Promise.race([Promise.all(connections.map(({ idle }) => idle)), delay(DRAIN_MS)]);
  say({
    kind: 'finished',
    operations: latenciesMs.length,
    elapsedMs,
    ...percentiles(latenciesMs),
    failures: tally.failures,
    lastNewItem: source.lastNewItem,
  });
}

function percentiles(latenciesMs: number[]): { p50Ms: number; p99Ms: number } {
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

process.on('message', (load: LoadRequest) => {
  run(load, (message) => process.send?.(message)).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});

// The bench is gone, however it ended.
process.on('disconnect', () => process.exit());
