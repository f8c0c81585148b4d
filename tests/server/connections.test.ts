// Goal: bad and idle clients do not harm others. Method: raw sockets in numbers, while good requests go on.
import { Agent } from 'node:http';
import { expect, test } from 'vitest';
import { ChildServer } from './child-server.ts';
import { openSocket, printHead, readToEnd, send } from './wire.ts';

const IDLE_CONNECTIONS = 2000;

test('2,000 idle connections, slow and dropped ones: requests go on being served', async () => {
  await using server = await ChildServer.start(['--memory']);
  const { port } = server;
  const idle = await openMany(port, IDLE_CONNECTIONS);
  const slow = await openMany(port, 50);
  for (const socket of slow) socket.write('GET / HTTP/1.1\r\nhost: local');
  const dropped = await openMany(port, 50);
  const half = { verb: 'POST', path: ['dbs'], body: '{"id":"half"}' };
  for (const socket of dropped) {
    socket.write(`${printHead(half)}{"id"`);
    socket.resetAndDestroy();
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const names = Array.from({ length: 100 }, (_, number) => `d${number}`);
  const replies = await Promise.all(
    names.map((id) =>
      send(port, agent, { verb: 'POST', path: ['dbs'], body: JSON.stringify({ id }) }),
    ),
  );
  expect(replies.every(({ status }) => status === 201)).toBe(true);
  // Each idle connection is still good for a request.
  const late = idle.filter((_, at) => at % 100 === 0);
  for (const socket of late) {
    socket.write('GET /_mesocosm/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    expect(await readToEnd(socket)).toContain('"status":"ready"');
  }
  for (const socket of [...idle, ...slow]) socket.destroy();
  expect(await server.stop()).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('rror'),
  });
});

async function openMany(port: number, count: number) {
  const sockets = [];
  // In portions, as the kernel's queue of new connections is bounded.
  while (sockets.length < count) {
    const portion = Math.min(200, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: portion }, () => openSocket(port)))));
  }
  return sockets;
}

test.each([
  ['hello?\r\n\r\n', '400 Bad Request', 'BadRequest'],
  ['GET / HTTP/9.9\r\n\r\n', '400 Bad Request', 'BadRequest'],
  ['GET / HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n', '400 Bad Request', 'BadRequest'],
  ['POST /dbs HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n', '400 Bad Request', 'BadRequest'],
  [
    `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`,
    '431 Request Header Fields Too Large',
    'RequestHeaderFieldsTooLarge',
  ],
  ['\u0016\u0003\u0001\u0002', '400 Bad Request', 'BadRequest'],
])('%j gets a response and the connection is closed', async (text, status, code) => {
  await using server = await ChildServer.start(['--memory']);
  const socket = await openSocket(server.port);
  socket.write(text, 'latin1');
  const response = await readToEnd(socket);
  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
  const body = response.slice(response.indexOf('\r\n\r\n') + 4);
  expect(JSON.parse(body)).toEqual({ code, message: expect.any(String) });
  expect((await fetch(`${server.endpoint}_mesocosm/health`)).status).toBe(200);
});

test('a request that should have a body and has none gets a response', async () => {
  await using server = await ChildServer.start(['--memory']);
  const reply = await send(server.port, new Agent(), { verb: 'POST', path: ['dbs'] });
  expect(reply.status).toBe(400);
  const socket = await openSocket(server.port);
  socket.write(printHead({ verb: 'POST', path: ['dbs'], headers: { connection: 'close' } }));
  expect(await readToEnd(socket)).toMatch(/^HTTP\/1.1 400 /);
});
