// Goal: a stop finishes what runs and does not wait for what does not. Method: requests held half-sent over a socket.

import { Agent } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ChildServer, temporaryFolder } from './child-server.ts';
import { openSocket, printHead, readReply, send } from './wire.ts';

const DOCS = ['dbs', 'd', 'colls', 'c', 'docs'];
const KEY = { 'x-ms-documentdb-partitionkey': '["p"]' };

async function withContainer(server: ChildServer): Promise<Agent> {
  const agent = new Agent({ keepAlive: true });
  const create = (path: string[], body: object) =>
    send(server.port, agent, { verb: 'POST', path, body: JSON.stringify(body) });
  expect((await create(['dbs'], { id: 'd' })).status).toBe(201);
  const container = { id: 'c', partitionKey: { paths: ['/pk'], kind: 'Hash' } };
  expect((await create(['dbs', 'd', 'colls'], container)).status).toBe(201);
  return agent;
}

test('a write that is open when the signal comes gets its response, is durable, and the exit code is 0', async () => {
  const data = join(temporaryFolder(), 'data');
  const body = JSON.stringify({ id: 'a', pk: 'p', text: 'x'.repeat(1000) });
  {
    await using server = await ChildServer.start(['--data', data]);
    await withContainer(server);
    const socket = await openSocket(server.port);
    socket.write(printHead({ verb: 'POST', path: DOCS, body, headers: KEY }) + body.slice(0, 500));
    // Proof that the server has the first half: it responds to a later request on another connection.
    await fetch(`${server.endpoint}_mesocosm/health`);
    server.signal('SIGTERM');
    await refusesConnections(server.port);
    socket.write(body.slice(500));
    expect((await readReply(socket)).status).toBe(201);
    expect(await server.exit).toMatchObject({ code: 0, signal: null });
  }
  await using again = await ChildServer.start(['--data', data]);
  const agent = new Agent();
  const reply = await send(again.port, agent, { verb: 'GET', path: [...DOCS, 'a'], headers: KEY });
  expect(reply.status).toBe(200);
  expect(JSON.parse(reply.body)).toMatchObject(JSON.parse(body));
});

test('connections that wait for nothing do not delay the stop', async () => {
  await using server = await ChildServer.start(['--memory']);
  await withContainer(server);
  await Promise.all(Array.from({ length: 50 }, () => openSocket(server.port)));
  const startedMs = performance.now();
  expect(await server.stop()).toMatchObject({ code: 0 });
  // The server waits 10 s for connections that are not idle.
  expect(performance.now() - startedMs).toBeLessThan(10_000);
});

test('a second signal ends it at once', async () => {
  await using server = await ChildServer.start(['--memory']);
  await withContainer(server);
  const socket = await openSocket(server.port);
  socket.write(printHead({ verb: 'POST', path: DOCS, body: '{}', headers: KEY }));
  await fetch(`${server.endpoint}_mesocosm/health`);
  server.signal('SIGTERM');
  await refusesConnections(server.port);
  const again = setInterval(() => server.signal('SIGTERM'), 100);
  expect(await server.exit).toMatchObject({ code: 1, signal: null });
  clearInterval(again);
});

/** Resolves when the listener is closed. */
async function refusesConnections(port: number): Promise<void> {
  for (;;) {
    try {
      (await openSocket(port)).destroy();
    } catch {
      return;
    }
  }
}
