/** Starts the peer: `as shipped`, which is what its command does, or `tuned`, plain HTTP with connections kept. */
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

const require = createRequire(new URL('../peers/package.json', import.meta.url));
const peer = require('@vercel/cosmosdb-server') as {
  createHttpServer(options: { keepAlive: boolean }): Server;
  createHttpsServer(): Server;
};

const isTuned = process.argv[2] === 'tuned';
const server = isTuned ? peer.createHttpServer({ keepAlive: true }) : peer.createHttpsServer();
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});

// The bench is gone, however it ended.
process.on('disconnect', () => process.exit());
