/**
 * Goal: WebSockets on a port of HTTP, plain and with TLS, kept from web pages, drained on stop. Method: the stock client
 * against a tiny API that sends texts back.
 */
import { request as httpRequest } from 'node:http';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../base/index.ts';
import { guardedUpgrade, type UpgradedConnection, type UpgradeHandler } from '../../http/index.ts';
import { openTls, type TlsOptions } from '../tls/index.ts';
import { ConnectionCount } from './connection-count.ts';
import { listenHttp } from './listen-http.ts';
import type { Listener } from './listener.ts';
import { stop } from './shutdown.ts';

const GOING_AWAY = 1001;

/** Texts come back; `later` waits for the test, `crash` throws in the handler of the next upgrade. */
class EchoApi {
  readonly sockets = new WebSocketServer({ noServer: true, maxPayload: 1000 });
  readonly later: (() => void)[] = [];
  readonly failures: unknown[] = [];
  onLater: (() => void) | undefined;

  readonly upgrade: UpgradeHandler = (request, socket, head) => {
    if (request.url === '/crash') throw new Error('crash');
    let connection: UpgradedConnection | undefined;
    this.sockets.handleUpgrade(request, socket, head, (webSocket) => {
      connection = this.#serve(webSocket);
    });
    return connection;
  };

  #serve(webSocket: WebSocket): UpgradedConnection {
    let open = 0;
    let isStopping = false;
    const endIfDone = (): void => {
      if (isStopping && open === 0) webSocket.close(GOING_AWAY);
    };
    webSocket.on('error', () => undefined);
    webSocket.on('message', (message: RawData) => {
      const text = String(message);
      if (text !== 'later') {
        webSocket.send(text);
        return;
      }
      open += 1;
      this.later.push(() => {
        open -= 1;
        webSocket.send(text);
        endIfDone();
      });
      this.onLater?.();
    });
    return {
      get isIdle() {
        return open === 0;
      },
      stop() {
        isStopping = true;
        endIfDone();
      },
    };
  }
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

async function start(api: EchoApi, upgrade = api.upgrade): Promise<Listener> {
  const listener = await listenHttp({
    host: '127.0.0.1',
    port: 0,
    flag: 'gremlin-port',
    connections: new ConnectionCount(100),
    tls,
    handler: (exchange) => exchange.send(426, [], 'WebSocket expected'),
    upgrade,
    onUpgradeFailure: (error) => void api.failures.push(error),
    onError: (error) => {
      throw error;
    },
  });
  opened.push(listener);
  return listener;
}

interface ClientOptions {
  readonly scheme?: 'ws' | 'wss';
  readonly path?: string;
  readonly headers?: Record<string, string>;
}

function client(
  { port }: Listener,
  { scheme = 'ws', path = '/', headers = {} }: ClientOptions = {},
): WebSocket {
  const ca = tls.certificates.authorityPem;
  const webSocket = new WebSocket(`${scheme}://127.0.0.1:${port}${path}`, { ca, headers });
  webSocket.on('error', () => undefined);
  return webSocket;
}

/** What comes back for a text; the status where the upgrade is refused, or how the connection ended. */
function echo(webSocket: WebSocket, text: string): Promise<string | number> {
  return new Promise((resolve) => {
    const send = (): void => webSocket.send(text);
    if (webSocket.readyState === WebSocket.OPEN) send();
    else webSocket.once('open', send);
    webSocket.once('message', (message) => resolve(String(message)));
    webSocket.once('unexpected-response', (request, response) => {
      request.destroy();
      resolve(response.statusCode ?? 0);
    });
    webSocket.once('close', (code) => resolve(code));
  });
}

function closeCode(webSocket: WebSocket): Promise<number> {
  return new Promise((resolve) => webSocket.once('close', resolve));
}

describe('a port of HTTP', () => {
  it('takes WebSockets, plain and with TLS, and answers other requests', async () => {
    const listener = await start(new EchoApi());
    expect(await echo(client(listener), 'plain')).toBe('plain');
    expect(await echo(client(listener, { scheme: 'wss', path: '/any' }), 'secure')).toBe('secure');
    const status = await new Promise((resolve) => {
      httpRequest({ port: listener.port, host: '127.0.0.1', agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).toBe(426);
    expect(listener.sockets.size).toBeGreaterThanOrEqual(2);
  });

  it('loses one connection where its API throws, and no other', async () => {
    const api = new EchoApi();
    const listener = await start(api);
    const other = client(listener);
    expect(await echo(other, 'one')).toBe('one');
    expect(await echo(client(listener, { path: '/crash' }), 'x')).toBe(1006);
    expect(await echo(client(listener), 'x'.repeat(1001))).toBe(1009);
    expect(await echo(other, 'two')).toBe('two');
    expect(api.failures.map(String)).toEqual(['Error: crash']);
  });

  it('keeps web pages and foreign names out while the key is public', async () => {
    const api = new EchoApi();
    const refusals: unknown[] = [];
    let isOpen = true;
    const listener = await start(
      api,
      guardedUpgrade(api.upgrade, {
        access: { isOpenToAnyone: () => isOpen },
        names: ['db.test'],
        onRefusal: ({ status, reason }) => void refusals.push([status, reason]),
      }),
    );
    const own = `http://127.0.0.1:${listener.port}`;
    const page = { origin: 'https://page.example' };
    const attempt = (headers: Record<string, string>) => echo(client(listener, { headers }), 'x');
    expect(await attempt({ origin: own })).toBe('x');
    expect(await attempt({ host: 'db.test' })).toBe('x');
    expect(await attempt(page)).toBe(403);
    expect(await attempt({ host: 'evil.example' })).toBe(421);
    expect(refusals).toEqual([
      [403, 'a web page of another origin'],
      [421, 'the host is not a name of this machine'],
    ]);
    isOpen = false;
    expect(await attempt(page)).toBe('x');
  });
});

describe('stop', () => {
  it('closes idle WebSockets with 1001 and lets open requests finish', async () => {
    const api = new EchoApi();
    const listener = await start(api);
    const received = new Promise<void>((resolve) => {
      api.onLater = resolve;
    });
    const idle = client(listener, { scheme: 'wss' });
    expect(await echo(idle, 'idle')).toBe('idle');
    const busy = client(listener);
    const reply = echo(busy, 'later');
    await received;
    const codes = Promise.all([closeCode(idle), closeCode(busy)]);
    const idleCode = closeCode(idle);
    const stopped = stopAll([listener]);
    expect(await idleCode).toBe(GOING_AWAY);
    for (const answer of api.later) answer();
    expect(await reply).toBe('later');
    expect(await codes).toEqual([GOING_AWAY, GOING_AWAY]);
    await stopped;
  });

  it('does not wait for a client that does not answer the close', async () => {
    const api = new EchoApi();
    const listener = await start(api);
    const silent = client(listener);
    expect(await echo(silent, 'x')).toBe('x');
    silent.pause();
    await stopAll([listener]);
    silent.terminate();
  });
});
