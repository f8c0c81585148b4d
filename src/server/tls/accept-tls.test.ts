/** Goal: one port speaks TLS and plain HTTP. Method: real sockets against a listener, trusted by the authority alone. */
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bytes, isPromise, systemClock } from '../../base/index.ts';
import { ConnectionCount, type Listener, listenHttp, stop } from '../listen/index.ts';
import type { TlsOptions } from './accept-tls.ts';
import { openTls } from './open-tls.ts';

const BODY_BYTES_MAX = 1_000_000;

let both: Listener;
let secureOnly: Listener;
let tls: TlsOptions;

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
  both = await start(tls);
  secureOnly = await start({ ...tls, isPlainServed: false });
});
afterAll(() => stop({ listeners: [both, secureOnly], close: async () => undefined }));

function start(options: TlsOptions): Promise<Listener> {
  return listenHttp({
    host: '127.0.0.1',
    port: 0,
    flag: 'nosql-port',
    connections: new ConnectionCount(100),
    tls: options,
    handler: (exchange) => {
      const answer = ({ length }: Bytes): void =>
        exchange.send(200, [], `${exchange.isEncrypted} ${length}`);
      const body = exchange.readBody(BODY_BYTES_MAX);
      if (isPromise(body)) body.then(answer);
      else answer(body);
    },
    onError: (error) => {
      throw error;
    },
  });
}

interface Sent {
  readonly scheme: 'http' | 'https';
  readonly port: number;
  readonly body?: Buffer;
  readonly servername?: string;
}

function send({ scheme, port, body, servername }: Sent): Promise<{ status: number; text: string }> {
  const options = {
    host: '127.0.0.1',
    port,
    method: 'POST',
    agent: false,
    ...(scheme === 'https' ? { ca: tls.certificates.authorityPem } : {}),
    ...(servername === undefined ? {} : { servername, headers: { host: servername } }),
  };
  return new Promise((resolve, reject) => {
    const request = (scheme === 'https' ? secureRequest : plainRequest)(options, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', reject);
    request.end(body ?? '');
  });
}

describe('one port', () => {
  it('serves TLS and plain HTTP, bodies of many packets as well', async () => {
    const body = Buffer.alloc(1_000_000, 7);
    expect(await send({ scheme: 'https', port: both.port, body })).toEqual({
      status: 200,
      text: 'true 1000000',
    });
    expect(await send({ scheme: 'http', port: both.port, body })).toEqual({
      status: 200,
      text: 'false 1000000',
    });
  });

  it('shows a certificate for the name a client uses', async () => {
    const reply = await send({ scheme: 'https', port: both.port, servername: 'cosmos.test' });
    expect(reply).toEqual({ status: 200, text: 'true 0' });
  });

  it('keeps a TLS connection for many requests', async () => {
    const socket = await secureSocket(both.port);
    for (let at = 0; at < 3; at++) {
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const text = await new Promise<string>((resolve) =>
        socket.once('data', (d) => resolve(String(d))),
      );
      expect(text).toMatch(/^HTTP\/1.1 200 OK/);
    }
    socket.destroy();
  });

  it('refuses plain HTTP with a reason where TLS is all that is served', async () => {
    const { status, text } = await send({ scheme: 'http', port: secureOnly.port });
    expect(status).toBe(400);
    expect(JSON.parse(text).message).toBe('This port speaks TLS only: use an https:// endpoint.');
    expect((await send({ scheme: 'https', port: secureOnly.port })).status).toBe(200);
  });

  it('survives what is neither', async () => {
    for (const bytes of [
      Buffer.from([22, 0, 0, 0, 0, 1, 2, 3]),
      Buffer.from([0, 255, 13, 10, 13, 10]),
    ]) {
      const socket = connect(both.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.end(bytes);
      socket.resume();
      await new Promise((resolve) => socket.once('close', resolve));
    }
    expect((await send({ scheme: 'https', port: both.port })).status).toBe(200);
  });

  it('closes silent and half open connections when it stops', async () => {
    const listener = await start(tls);
    const silent = connect(listener.port, '127.0.0.1');
    silent.on('error', () => undefined);
    const idle = await secureSocket(listener.port);
    idle.on('error', () => undefined);
    idle.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await new Promise((resolve) => idle.once('data', resolve));
    const ends = [silent, idle].map((socket) => new Promise((done) => socket.once('close', done)));
    await stop({ listeners: [listener], close: async () => undefined });
    await Promise.all(ends);
  });
});

function secureSocket(port: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port, host: '127.0.0.1', ca: tls.certificates.authorityPem }, () =>
      resolve(socket),
    );
    socket.on('error', reject);
  });
}
