// Goal: a retried write after kill -9 is applied once. Method: the stock driver behind a proxy that loses one reply of the
// server, which is killed and started again before the driver sends its write the second time.

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { ChildServer } from '../server/child-server.ts';
import { newStorage, TIMEOUT_MS } from './storage.ts';

interface Counter {
  _id: string;
  n: number;
}

test('updates, inserts, deletes and findAndModify that lose their reply are applied once', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using world = await startWorld();
  // A monitor that sees the kill before the reply is lost makes the server unknown, where the driver does not retry.
  const client = new MongoClient(world.uri, {
    serverSelectionTimeoutMS: 30_000,
    serverMonitoringMode: 'poll',
    heartbeatFrequencyMS: 600_000,
  });
  try {
    const counters = client.db('d').collection<Counter>('counters');
    await counters.insertMany([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 1 },
      { _id: 'c', n: 1 },
    ]);

    await world.loseReplyOf('update');
    expect(await counters.updateOne({ _id: 'a' }, { $inc: { n: 10 } })).toMatchObject({
      matchedCount: 1,
      modifiedCount: 1,
    });

    // The filter no longer matches after the first attempt; the note says what it did.
    await world.loseReplyOf('update');
    expect(await counters.updateOne({ n: 11 }, { $inc: { n: 10 } })).toMatchObject({
      matchedCount: 1,
      modifiedCount: 1,
    });

    await world.loseReplyOf('insert');
    const inserted = await counters.insertMany([
      { _id: 'd', n: 4 },
      { _id: 'e', n: 5 },
    ]);
    expect(inserted.insertedCount).toBe(2);

    await world.loseReplyOf('findAndModify');
    expect(
      await counters.findOneAndUpdate({ n: 4 }, { $inc: { n: 1 } }, { returnDocument: 'after' }),
    ).toEqual({ _id: 'd', n: 5 });

    await world.loseReplyOf('delete');
    expect(await counters.deleteOne({ n: 1 })).toMatchObject({ deletedCount: 1 });

    expect(world.kills).toBe(5);
    expect(await counters.find().sort({ _id: 1 }).toArray()).toEqual([
      { _id: 'a', n: 21 },
      { _id: 'c', n: 1 },
      { _id: 'd', n: 5 },
      { _id: 'e', n: 5 },
    ]);
  } finally {
    await client.close();
  }
});

/** A server behind a proxy. */
async function startWorld() {
  const flags = [...newStorage(), '--mongo-port', '0'];
  let server = await ChildServer.start(flags);
  let lost: string | undefined;
  let kills = 0;
  const portOf = () => Number(new URL(String(server.ready.endpoints.mongo)).port);
  const { key } = server.ready;

  const restart = async (): Promise<void> => {
    await server.stop('SIGKILL');
    kills += 1;
    server = await ChildServer.start(flags);
  };

  const relay = (client: Socket): void => {
    const upstream = connect(portOf(), '127.0.0.1');
    let isLost = false;
    client.on('data', (chunk) => {
      if (lost !== undefined && chunk.includes(`${lost}\0`)) {
        isLost = true;
        lost = undefined;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!isLost) client.write(chunk);
      // The server has committed, since it replied; the client never learns.
      else void restart().then(() => client.destroy());
    });
    const end = (): void => {
      upstream.destroy();
      if (!isLost) client.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
  };

  const proxy: Server = createServer(relay);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    uri: `mongodb://localhost:${encodeURIComponent(key)}@127.0.0.1:${port}/?directConnection=true`,
    get kills() {
      return kills;
    },
    async loseReplyOf(command: string): Promise<void> {
      lost = command;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await server.stop('SIGKILL');
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
