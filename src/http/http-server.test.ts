// Goal: clients cannot tell who serves them, and requests that are not simple are left to node:http. Method: raw sockets
// against a server with the fast path and, for the same bytes, one without it.
import { createServer } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type Bytes, bytesToLatin1, isPromise, seededRandom } from '../base/index.ts';
import type { Exchange, HttpHandler } from './exchange.ts';
import { HttpServer } from './http-server.ts';
import { overNodeHttp } from './node-exchange.ts';
import { AbortedError } from './request-body.ts';
import { open, RawClient, randomRequest, withoutDate } from './test-kit.ts';

const OPTIONS = { keepAliveTimeout: 120_000, optimizeEmptyRequests: true, noDelay: true };
const BODY_BYTES_MAX = 1000;

interface Started {
  readonly server: HttpServer;
  readonly port: number;
  /** Requests that node:http served. */
  byNode: number;
}

const opened: HttpServer[] = [];

afterEach(() => {
  for (const server of opened.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function start(handler: HttpHandler, options = {}): Promise<Started> {
  const server = new HttpServer({ ...OPTIONS, ...options }, handler);
  opened.push(server);
  const started = { server, port: await open(server), byNode: 0 };
  server.on('request', () => {
    started.byNode++;
  });
  return started;
}

/** Responds with what it was sent. */
function echo(exchange: Exchange): void {
  const { method, url, headers } = exchange;
  const respond = (body: Bytes): void =>
    exchange.send(
      method === 'DELETE' ? 204 : 200,
      ['x-echo', 'yes'],
      JSON.stringify({ method, url, headers: { ...headers }, body: bytesToLatin1(body) }),
    );
  const body = exchange.readBody(BODY_BYTES_MAX);
  if (isPromise(body)) void body.then(respond);
  else respond(body);
}

/** Holds every request until the test responds to it. */
class Held {
  readonly exchanges: Exchange[] = [];
  readonly handler: HttpHandler = (exchange) => void this.exchanges.push(exchange);

  /** The next one, when it is there. */
  async take(): Promise<Exchange> {
    for (;;) {
      const exchange = this.exchanges.shift();
      if (exchange !== undefined) return exchange;
      await nextTurn();
    }
  }
}

const get = (url: string): string => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`;
const post = (url: string, body: string): string =>
  `POST ${url} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Waits until all bytes in the queues of both ends have arrived. */
async function drainQueues(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
}

const seed = Number(process.env.MESOCOSM_SEED ?? 20_261_116);

test(`simple requests look the same to handlers, and responses to clients (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  const fast = await start(echo);
  const plain = createServer(OPTIONS, overNodeHttp(echo));
  const plainPort = await open(plain);
  using one = await RawClient.connect(fast.port);
  using other = await RawClient.connect(plainPort);
  for (let count = 0; count < 500; count++) {
    const text = randomRequest(random);
    one.write(text);
    other.write(text);
    const isHead = text.startsWith('HEAD');
    const responses = [await one.response(isHead), await other.response(isHead)].map(withoutDate);
    expect(responses[0], JSON.stringify(text)).toBe(responses[1]);
  }
  expect(fast.byNode).toBe(0);
  plain.close();
});

/** Like echo, for some requests one turn later. */
function echoNowOrLater(exchange: Exchange): void {
  if (exchange.url.length % 3 === 0) setImmediate(() => echo(exchange));
  else echo(exchange);
}

test(`streams of requests, cut anywhere, get the same responses as from node:http (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  const fast = await start(echoNowOrLater);
  const plain = createServer(OPTIONS, overNodeHttp(echoNowOrLater));
  const ports = [fast.port, await open(plain)];
  for (let count = 0; count < 60; count++) {
    const requests = Array.from({ length: random.below(8) }, () => randomRequest(random));
    if (random.below(3) === 0) requests.splice(random.below(requests.length), 0, CHUNKED);
    const text = `${requests.join('')}GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const cuts = Array.from({ length: random.below(6) }, () => random.below(text.length)).sort(
      (a, b) => a - b,
    );
    const responses = [];
    for (const port of ports) {
      using client = await RawClient.connect(port);
      for (const [at, cut] of [...cuts, text.length].entries()) {
        client.write(text.slice(cuts[at - 1] ?? 0, cut));
        if (at % 2 === 0) await drainQueues();
      }
      responses.push(withoutDate(await client.rest()));
    }
    expect(responses[0], JSON.stringify({ text, cuts })).toBe(responses[1]);
    expect(responses[0]).toContain('"url":"/last"');
  }
  plain.close();
});

const CHUNKED =
  'POST /chunks HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';

test('a request in two pieces, wherever it is cut', async () => {
  const { port, server } = await start(echo);
  const text = post('/pieces', '{"id":"a body"}');
  let byNode = 0;
  server.on('request', () => byNode++);
  for (let cut = 1; cut < text.length; cut++) {
    using client = await RawClient.connect(port);
    byNode = 0;
    client.write(text.slice(0, cut));
    await drainQueues();
    client.write(text.slice(cut));
    expect(await client.response()).toContain('"body":"{\\"id\\":\\"a body\\"}"');
    expect(byNode, `cut at ${cut}`).toBe(cut <= 'POST'.length ? 1 : 0);
    client.write(get('/again'));
    expect(await client.response()).toContain('"url":"/again"');
  }
});

test('a head in many pieces is left to node:http', async () => {
  const started = await start(echo);
  using client = await RawClient.connect(started.port);
  for (const piece of post('/trickle', 'body')) {
    client.write(piece);
    await drainQueues();
  }
  expect(await client.response()).toContain('"url":"/trickle"');
  expect(started.byNode).toBe(1);
});

test('a head that stops in the middle is left to node:http, which has a timeout for it', async () => {
  const started = await start(echo);
  using client = await RawClient.connect(started.port);
  const text = get('/later');
  client.write(get('/now') + text.slice(0, 12));
  expect(await client.response()).toContain('"url":"/now"');
  await drainQueues();
  started.server.sweep(performance.now());
  client.write(text.slice(12));
  expect(await client.response()).toContain('"url":"/later"');
  expect(started.byNode).toBe(1);
});

test('requests sent at once get their responses in order, one at a time', async () => {
  const held = new Held();
  const { port, server } = await start(held.handler);
  let byNode = 0;
  server.on('request', () => byNode++);
  using client = await RawClient.connect(port);
  client.write(get('/1') + post('/2', 'two') + get('/3'));
  for (const url of ['/1', '/2', '/3']) {
    const exchange = await held.take();
    await drainQueues();
    expect(held.exchanges).toEqual([]);
    expect(exchange.url).toBe(url);
    if (url === '/2') expect(bytesToLatin1(await exchange.readBody(10))).toBe('two');
    exchange.send(200, [], url);
    expect(await client.response()).toMatch(new RegExp(`\r\n\r\n${url}$`));
  }
  expect(byNode).toBe(0);
});

test('a client that does not read gets no more responses than fit', async () => {
  let served = 0;
  const big = Buffer.alloc(200_000, 'x');
  const { port } = await start((exchange) => {
    served++;
    exchange.send(200, [], big);
  });
  using client = await RawClient.connect(port);
  client.socket.pause();
  const count = 500;
  client.write(get('/').repeat(count));
  let before = -1;
  while (before !== served) {
    before = served;
    await drainQueues();
  }
  expect(served).toBeLessThan(count / 2);
  client.socket.resume();
  for (let at = 0; at < count; at++)
    expect((await client.response()).length).toBeGreaterThan(big.length);
  expect(served).toBe(count);
});

describe('a body', () => {
  test('that is asked for late is kept until then', async () => {
    const held = new Held();
    const { port } = await start(held.handler);
    using client = await RawClient.connect(port);
    const body = 'x'.repeat(900);
    client.write(post('/', body).slice(0, -600));
    const exchange = await held.take();
    client.write('x'.repeat(300));
    await drainQueues();
    client.write('x'.repeat(300) + get('/next'));
    await drainQueues();
    expect(bytesToLatin1(await exchange.readBody(BODY_BYTES_MAX))).toBe(body);
    exchange.send(200, [], 'done');
    expect(await client.response()).toContain('done');
    expect((await held.take()).url).toBe('/next');
  });

  test('that is never read is discarded, whenever the response comes', async () => {
    const { port } = await start((exchange) => exchange.send(401, [], exchange.url));
    using client = await RawClient.connect(port);
    client.write(post('/1', 'x'.repeat(5000)).slice(0, -3000));
    expect(await client.response()).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/);
    client.write('x'.repeat(3000) + get('/2'));
    expect(await client.response()).toMatch(/\/2$/);
  });

  test.each([
    ['in one piece', 5000],
    ['in two', 1000],
  ])('too large, %s, is read to its end and refused', async (_, first) => {
    const { port, server } = await start((exchange) => {
      Promise.try(() => exchange.readBody(BODY_BYTES_MAX)).catch((error: Error) =>
        exchange.send(413, [], error.message),
      );
    });
    server.on('request', () => expect.unreachable());
    using client = await RawClient.connect(port);
    const text = post('/', 'x'.repeat(2000));
    client.write(text.slice(0, first));
    await drainQueues();
    client.write(text.slice(first) + get('/'));
    expect(await client.response()).toContain('Request size is too large');
  });

  test('that breaks off is an abort', async () => {
    const held = new Held();
    const { port } = await start(held.handler);
    for (const leave of ['resetAndDestroy', 'end'] as const) {
      using client = await RawClient.connect(port);
      client.write(post('/', 'x'.repeat(500)).slice(0, -1));
      const exchange = await held.take();
      const body = Promise.resolve(exchange.readBody(BODY_BYTES_MAX));
      client.socket[leave]();
      await expect(body).rejects.toThrow(AbortedError);
      exchange.send(200, [], 'nobody reads this');
      using late = await RawClient.connect(port);
      late.write(post('/', 'x'.repeat(500)).slice(0, -1));
      const second = await held.take();
      late.socket[leave]();
      await client.rest();
      await drainQueues();
      await expect(Promise.resolve(second.readBody(BODY_BYTES_MAX))).rejects.toThrow(AbortedError);
    }
  });

  test('that takes too long gets a 408 and the connection closed', async () => {
    const held = new Held();
    const { port, server } = await start(held.handler);
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      socket.end(`HTTP/1.1 408 ${error.code}\r\n\r\n`, () => socket.destroy());
    });
    using client = await RawClient.connect(port);
    client.write(post('/', 'x'.repeat(500)).slice(0, -1));
    const body = Promise.resolve((await held.take()).readBody(BODY_BYTES_MAX));
    server.sweep(performance.now() + server.requestTimeout - 5000);
    await drainQueues();
    server.sweep(performance.now() + server.requestTimeout);
    await expect(body).rejects.toThrow(AbortedError);
    expect(await client.rest()).toBe('HTTP/1.1 408 ERR_HTTP_REQUEST_TIMEOUT\r\n\r\n');
  });
});

describe('a request that is not simple is left to node:http', () => {
  test.each<[string, string]>([
    ['an older version', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n'],
    ['a close', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n'],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n',
    ],
    [
      'chunks and a length',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n',
    ],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n123456',
    ],
    ['a bare line feed', 'GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n'],
    ['a blank before a colon', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\n12345'],
    ['a folded line', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n'],
    ['a length that is none', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5x\r\n\r\n12345'],
    ['a zero byte', 'GET / HTTP/1.1\r\nHost: a\r\nX: b\0\r\n\r\n'],
    ['no HTTP', 'hello?\r\n\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('%s', async (_, text) => {
    const { port } = await start(echo);
    const plain = createServer(OPTIONS, overNodeHttp(echo));
    const plainPort = await open(plain);
    for (const before of ['', get('/simple')]) {
      const responses = [];
      for (const to of [port, plainPort]) {
        using client = await RawClient.connect(to);
        if (before !== '') {
          client.write(before);
          expect(await client.response()).toContain('/simple');
        }
        client.write(text);
        responses.push(withoutDate(await client.rest()));
      }
      expect(responses[0]).toBe(responses[1]);
      expect(responses[0]).toMatch(/^HTTP\/1.1 /);
      expect(responses[0]).not.toContain('smuggled');
    }
    plain.close();
  });

  test('a head that breaks off', async () => {
    const { port } = await start(echo);
    const plain = createServer(OPTIONS, overNodeHttp(echo));
    const plainPort = await open(plain);
    const codes: (string | undefined)[] = [];
    for (const server of [plain, ...opened])
      server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
        codes.push(code);
        socket.destroy();
      });
    for (const to of [port, plainPort]) {
      using client = await RawClient.connect(to);
      client.socket.end('GET / HTTP/1.1\r\nHost: a\r\n');
      expect(await client.rest()).toBe('');
    }
    expect(codes).toEqual(['HPE_INVALID_EOF_STATE', 'HPE_INVALID_EOF_STATE']);
    plain.close();
  });

  test('chunks, Expect: 100-continue, and all that follows on the connection', async () => {
    const started = await start(echo);
    using client = await RawClient.connect(started.port);
    client.write(get('/1'));
    expect(await client.response()).toContain('"url":"/1"');
    expect(started.byNode).toBe(0);
    client.write(
      `POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n${get('/3')}`,
    );
    expect(await client.response()).toContain('"body":"abc"');
    expect(await client.response()).toContain('"url":"/3"');
    client.write('PUT /4 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n');
    expect(await client.response()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.write('ok');
    expect(await client.response()).toContain('"body":"ok"');
    expect(started.byNode).toBe(3);
  });

  test('after a request that has no response yet', async () => {
    const held = new Held();
    const { port, server } = await start(held.handler);
    using client = await RawClient.connect(port);
    client.write(`${get('/1')}GET /2 HTTP/1.0\r\n\r\n`);
    const first = await held.take();
    await drainQueues();
    expect(held.exchanges).toEqual([]);
    first.send(200, [], 'one');
    (await held.take()).send(200, [], 'two');
    const responses = await client.rest();
    expect(responses.match(/one|two/g)).toEqual(['one', 'two']);
    expect(server.listening).toBe(true);
  });
});

describe('a response', () => {
  test('says when the connection ends', async () => {
    const { port } = await start((exchange) => exchange.send(200, [], undefined));
    using client = await RawClient.connect(port);
    client.write(get('/'));
    expect(withoutDate(await client.response())).toBe(
      'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nDate: now\r\nConnection: keep-alive\r\nKeep-Alive: timeout=120\r\n\r\n',
    );
  });

  test.each([
    ['text', 'é', undefined, '\xc3\xa9'],
    ['bytes as text', '\xe9', 'latin1' as const, '\xe9'],
    ['bytes', Buffer.from([0, 255]), undefined, '\0\xff'],
    ['many bytes', Buffer.alloc(100_000, 'y'), undefined, 'y'.repeat(100_000)],
    ['a long text', 'é'.repeat(50_000), undefined, '\xc3\xa9'.repeat(50_000)],
  ])('of %s', async (_, body, encoding, expected) => {
    const { port } = await start((exchange) => exchange.send(200, [], body, encoding));
    using client = await RawClient.connect(port);
    client.write(get('/'));
    const response = await client.response();
    expect(response.slice(response.indexOf('\r\n\r\n') + 4) === expected).toBe(true);
  });

  test.each(['a\r\nx-injected: 1', 'a\nb', 'a\0', '\u0100', '\x7f'])(
    'with %j in a header is not written',
    async (value) => {
      const errors: unknown[] = [];
      const { port } = await start((exchange) => {
        for (const headers of [
          ['x', value],
          [value, 'x'],
        ])
          try {
            exchange.send(200, headers, 'body');
          } catch (error) {
            errors.push(error);
          }
        exchange.send(500, [], undefined);
      });
      using client = await RawClient.connect(port);
      client.write(get('/'));
      expect(await client.response()).toMatch(/^HTTP\/1.1 500 Internal Server Error\r\n/);
      expect(errors).toEqual([expect.any(TypeError), expect.any(TypeError)]);
    },
  );

  test('to a client that sends no more is still sent', async () => {
    const held = new Held();
    const { port } = await start(held.handler);
    using client = await RawClient.connect(port);
    client.socket.end(get('/'));
    const exchange = await held.take();
    await drainQueues();
    exchange.send(200, [], 'late');
    expect(await client.rest()).toMatch(/\r\nConnection: close\r\n\r\nlate$/);
  });

  test('of many bytes to a client that sends no more is sent whole, and the connection closed', async () => {
    const big = Buffer.alloc(5_000_000, 'x');
    const { port } = await start((exchange) => exchange.send(200, [], big));
    using client = await RawClient.connect(port);
    client.socket.pause();
    client.write(get('/'));
    await drainQueues();
    client.socket.end();
    await drainQueues();
    client.socket.resume();
    expect((await client.rest()).length).toBeGreaterThan(big.length);
  });

  test('to each of several requests of a client that sends no more is still sent', async () => {
    const held = new Held();
    const { port } = await start(held.handler);
    using client = await RawClient.connect(port);
    client.socket.end(get('/1') + get('/2') + get('/3'));
    for (const url of ['/1', '/2', '/3']) {
      const exchange = await held.take();
      await drainQueues();
      expect(exchange.url).toBe(url);
      exchange.send(200, [], url);
    }
    const responses = await client.rest();
    expect(responses.match(/\/\d(?!\.)/g)).toEqual(['/1', '/2', '/3']);
    expect(responses.match(/Connection: [\w-]+/g)?.at(-1)).toBe('Connection: close');
  });

  test.each(['', 'Expect: 100-continue\r\n'])(
    'has nobody to go to when the client has reset its connection (%j)',
    async (header) => {
      const held = new Held();
      const { port } = await start(held.handler);
      using client = await RawClient.connect(port);
      client.write(`GET / HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
      const exchange = await held.take();
      expect(exchange.isGone).toBe(false);
      client.socket.resetAndDestroy();
      await expect.poll(() => exchange.isGone).toBe(true);
      exchange.send(200, [], 'late');
    },
  );

  test('is sent once', async () => {
    const { port } = await start((exchange) => {
      exchange.send(200, [], exchange.url);
      exchange.send(500, [], undefined);
    });
    using client = await RawClient.connect(port);
    client.write(get('/1'));
    expect(await client.response()).toMatch(/^HTTP\/1.1 200/);
    client.write(get('/2'));
    expect(await client.response()).toMatch(/^HTTP\/1.1 200/);
  });
});

test('with the fast path off every request is read by node:http', async () => {
  const started = await start(echo, { hasFastPath: false });
  using client = await RawClient.connect(started.port);
  client.write(get('/1') + post('/2', 'two'));
  expect(await client.response()).toContain('"url":"/1"');
  expect(await client.response()).toContain('"body":"two"');
  expect(started.byNode).toBe(2);
});

test('closing closes idle connections at once and busy ones after their response', async () => {
  const held = new Held();
  const { port, server } = await start(held.handler);
  using idle = await RawClient.connect(port);
  using busy = await RawClient.connect(port);
  busy.write(get('/'));
  const exchange = await held.take();
  const closed = new Promise((resolve) => server.close(resolve));
  expect(await idle.rest()).toBe('');
  exchange.send(200, [], 'last');
  expect(await busy.rest()).toMatch(/\r\nConnection: close\r\n\r\nlast$/);
  await closed;
});
