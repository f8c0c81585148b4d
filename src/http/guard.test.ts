// Goal: while the key is public, web pages of others get nothing, and clients of this machine everything. Method: raw requests over both ways of the server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Guard, type GuardRefusal, guardedHandler, isOwnHost } from './guard.ts';
import { HttpServer } from './http-server.ts';
import { open, RawClient } from './test-kit.ts';

test.each<[string, boolean]>([
  ['localhost', true],
  ['localhost:8081', true],
  ['LOCALHOST:8081', true],
  ['localhost.', true],
  ['devstoreaccount1.table.localhost:10002', true],
  ['127.0.0.1:1', true],
  ['127.8.8.8', true],
  ['[::1]', true],
  ['[::1]:8081', true],
  ['db.internal:443', true],
  ['a.apps.example', true],
  ['10.0.0.7:8081', true],
  ['[fe80::7]', true],
  ['evil.example', false],
  ['evil.example:8081', false],
  ['localhost.evil.example', false],
  ['evillocalhost', false],
  ['127.0.0.1.evil.example', false],
  ['127.evil.example', false],
  ['apps.example', false],
  ['b.a.apps.example', false],
  ['[::2]', false],
  ['0.0.0.0', false],
  ['localhost@evil.example', false],
  ['localhost:8081@evil.example', false],
  ['localhost:8081:1', false],
  ['evil.example#localhost', false],
  ['', false],
])('Host %j is ours: %s', (host, expected) => {
  const names = ['db.internal', '*.apps.example', '10.0.0.7', 'fe80::7'];
  expect(isOwnHost(host, names)).toBe(expected);
});

describe.each(['direct', 'node:http'] as const)('by the %s way', (way) => {
  let isOpen = true;
  let port = 0;
  let calls = 0;
  const refusals: GuardRefusal[] = [];
  const guard: Guard = {
    access: { isOpenToAnyone: () => isOpen },
    names: [],
    allowsOrigin: ({ headers }) => headers.origin === 'http://friend.example',
    onRefusal: (refusal) => refusals.push(refusal),
  };
  const server = new HttpServer(
    {},
    guardedHandler((exchange) => {
      calls++;
      exchange.send(200, [], 'served');
    }, guard),
  );
  beforeAll(async () => {
    port = await open(server);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  async function statusOf(headers: string, body = ''): Promise<string> {
    using client = await RawClient.connect(port);
    // A request with a Trailer header is left to node:http.
    const more = way === 'direct' ? '' : 'TE: trailers\r\n';
    client.write(
      `POST /t HTTP/1.1\r\n${headers}\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    return (await client.response()).slice(9, 12);
  }

  test.each<[string, string]>([
    ['Host: localhost', '200'],
    ['Host: 127.0.0.1:8902', '200'],
    // A program's own text, which no browser sends.
    ['Host: localhost\r\nOrigin: anyOrigin', '200'],
    ['Host: localhost\r\nOrigin: null', '403'],
    ['Host: evil.example', '421'],
    ['Host: localhost:1\r\nOrigin: http://localhost:1', '200'],
    ['Host: localhost:1\r\nOrigin: https://localhost:1', '200'],
    ['Host: localhost:1\r\nOrigin: http://localhost:2', '403'],
    ['Host: localhost:1\r\nOrigin: http://evil.example', '403'],
    ['Host: localhost:1\r\nOrigin: null', '403'],
    ['Host: localhost:1\r\nOrigin: ', '403'],
    ['Host: localhost:1\r\nOrigin: http://friend.example', '200'],
    // A request that a page may send without a preflight.
    ['Host: localhost:1\r\nOrigin: http://evil.example\r\nContent-Type: text/plain', '403'],
    // A rebound name is the page's own origin.
    ['Host: evil.example\r\nOrigin: http://evil.example', '421'],
  ])('%j is answered %s', async (headers, status) => {
    calls = 0;
    refusals.length = 0;
    expect(await statusOf(headers, 'body')).toBe(status);
    expect([calls, refusals.length]).toEqual(status === '200' ? [1, 0] : [0, 1]);
  });

  test('a foreign name is refused after an own one on the same connection', async () => {
    using client = await RawClient.connect(port);
    for (const [host, status] of [
      ['localhost', '200'],
      ['evil.example', '421'],
      ['localhost', '200'],
    ]) {
      client.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect((await client.response()).slice(9, 12)).toBe(status);
    }
  });

  test('and nothing is refused once the key is a secret', async () => {
    isOpen = false;
    expect(await statusOf('Host: evil.example\r\nOrigin: http://evil.example')).toBe('200');
    isOpen = true;
    expect(await statusOf('Host: evil.example')).toBe('421');
  });
});
