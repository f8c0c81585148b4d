// Goal: hostile streams have the same outcome by the fast path and by node:http alone: the same requests reach the handler, the same
// bytes leave, the same connections end. Method: seeded random streams over connections in memory, to a server of each kind.
import { createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Bytes, bytesToLatin1, isPromise, seededRandom } from '../base/index.ts';
import type { Exchange } from './exchange.ts';
import { hostileStream, MemorySocket, type Stream } from './hostile-suite.ts';
import { HttpServer } from './http-server.ts';
import { overNodeHttp } from './node-exchange.ts';
import { open, RawClient, withoutDate } from './test-kit.ts';

const OPTIONS = { keepAliveTimeout: 120_000, optimizeEmptyRequests: true, maxHeaderSize: 65_536 };
const STREAMS = process.env.MESOCOSM_LONG === undefined ? 1500 : 1_500_000;
const seed = Number(process.env.MESOCOSM_SEED ?? 20_261_117);
const BODY_BYTES_MAX = 200;
/** Turns of the event loop after which no work is left: there is no disk and no network. */
const TURNS = 12;

interface Subject {
  readonly server: Server;
  /** Requests as the handler saw them, with their bodies or the error of reading them. */
  readonly seen: string[];
}

function subject(make: (handler: (exchange: Exchange) => void) => Server): Subject {
  const seen: string[] = [];
  const server = make((exchange) => {
    const { method, url, headers } = exchange;
    const context = `${method} ${url} ${JSON.stringify(Object.entries(headers))}`;
    // node:http emits several requests before the first has its response.
    const at = seen.push(context) - 1;
    const respond = (body: Bytes): void => {
      seen[at] = `${context} ${JSON.stringify(bytesToLatin1(body))}`;
      exchange.send(200, ['x-answer', `${at} ${url}`], `${method} ${body.length}`);
    };
    const fail = (error: unknown): void => {
      const name = (error as Error).name;
      seen[at] = `${context} ${name}`;
      exchange.send(413, ['x-answer', `${at} ${name}`], name);
    };
    try {
      const body = exchange.readBody(BODY_BYTES_MAX);
      if (isPromise(body)) body.then(respond, fail);
      else respond(body);
    } catch (error) {
      fail(error);
    }
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Too Large' : '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
  });
  return { server, seen };
}

interface Outcome {
  readonly seen: readonly string[];
  readonly sent: string;
  readonly isOver: boolean;
}

/** Each piece arrives when the one before has been processed. */
async function run({ server, seen }: Subject, stream: Stream): Promise<readonly Outcome[]> {
  const socket = new MemorySocket();
  seen.length = 0;
  server.emit('connection', socket);
  const outcomes: Outcome[] = [];
  for (const piece of stream) {
    socket.receive(piece);
    for (let turn = 0; turn < TURNS; turn++) await nextTurn();
    outcomes.push({ seen: [...seen], sent: withoutDate(socket.sent), isOver: socket.isOver });
  }
  // A head that is still not complete goes to node:http, as it does after some seconds.
  if (server instanceof HttpServer) server.sweep(performance.now());
  for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  outcomes.push({ seen: [...seen], sent: withoutDate(socket.sent), isOver: socket.isOver });
  socket.destroy();
  for (let turn = 0; turn < 2; turn++) await nextTurn();
  return outcomes;
}

/**
 * The same, byte by byte. Where a request and garbage behind it arrive in one piece, node:http meets the garbage while
 * the response is not written yet, closes early and may send less; the requests seen and the bytes sent are still the same.
 */
function expectSame(fast: Outcome, plain: Outcome, context: string): void {
  if (!fast.isOver || !plain.isOver) {
    expect(fast, context).toEqual(plain);
    return;
  }
  expect(fast.seen, context).toEqual(plain.seen);
  const [more, less] = [responsesIn(fast.sent), responsesIn(plain.sent)];
  expect(more.slice(0, less.length), context).toEqual(less);
}

/** The marks of responses to requests that reached the handler. */
function responsesIn(sent: string): readonly string[] {
  return [...sent.matchAll(/x-answer: ([^\r]*)\r\n/g)].map(([, answer]) => String(answer));
}

test(`hostile streams have the same outcome by the fast path and by node:http, seed ${seed}`, async () => {
  const random = seededRandom(seed);
  const fast = subject((handler) => new HttpServer(OPTIONS, handler));
  const plain = subject((handler) => createServer(OPTIONS, overNodeHttp(handler)));
  // A server that does not listen is about to stop, which shows in its responses.
  for (const { server } of [fast, plain]) await open(server);
  let byNode = 0;
  let served = 0;
  fast.server.on('request', () => {
    byNode++;
  });
  for (let count = 0; count < STREAMS; count++) {
    const pieces = hostileStream(random);
    const stream = random.below(4) === 0 ? [pieces.join('')] : pieces;
    const outcome = await run(fast, stream);
    const expected = await run(plain, stream);
    const context = JSON.stringify({ count, stream });
    for (const [at, one] of outcome.entries()) {
      const other = expected[at] as Outcome;
      // The fast path may notice an invalid head later: only when the head is complete.
      const isWaiting = at < outcome.length - 1 && other.isOver && !one.isOver;
      if (isWaiting) expect(one.seen, context).toEqual(other.seen);
      else expectSame(one, other, context);
    }
    served += outcome.at(-1)?.seen.length ?? 0;
  }
  // Both servers' paths were taken often.
  expect(byNode).toBeGreaterThan(STREAMS / 20);
  expect(served - byNode).toBeGreaterThan(STREAMS / 20);
  fast.server.close();
  plain.server.close();
}, 14_400_000);

const CONNECTIONS = process.env.MESOCOSM_LONG === undefined ? 150 : 20_000;

test(`and the same requests get through over TCP, seed ${seed}`, async () => {
  const random = seededRandom(seed);
  const fast = subject((handler) => new HttpServer(OPTIONS, handler));
  const plain = subject((handler) => createServer(OPTIONS, overNodeHttp(handler)));
  const ports = [await open(fast.server), await open(plain.server)];
  for (let count = 0; count < CONNECTIONS; count++) {
    const stream = hostileStream(random);
    const seen: (readonly string[])[] = [];
    for (const [at, subjectOf] of [fast, plain].entries()) {
      subjectOf.seen.length = 0;
      using client = await RawClient.connect(ports[at] as number);
      for (const piece of stream) {
        client.write(piece);
        for (let turn = 0; turn < TURNS; turn++) await nextTurn();
      }
      // The server closes a half-closed connection when all its requests are processed.
      client.socket.end();
      await client.rest();
      seen.push([...subjectOf.seen]);
    }
    expect(seen[0], JSON.stringify({ count, stream })).toEqual(seen[1]);
  }
  fast.server.close();
  plain.server.close();
}, 14_400_000);
