/** Starts the peer over plain HTTP with keep-alive, which is the fastest it can be had. */

import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

const require = createRequire(new URL('./peers/package.json', import.meta.url));
const peer = require('@vercel/cosmosdb-server') as {
  createHttpServer(options: { keepAlive: boolean }): Server;
};

const server = peer.createHttpServer({ keepAlive: true });
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
