/** Goal: stock clients over TLS with nothing but ca.pem. Method: the built program with --tls, twice on the same data. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, get as secureGet } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { CosmosClient } from '@azure/cosmos';
import cassandra from 'cassandra-driver';
import gremlin from 'gremlin';
import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { authorization } from '../../src/cli/client.ts';
import { ChildServer, runProgram, temporaryFolder } from './child-server.ts';
import { openSocket } from './wire.ts';

const data = join(temporaryFolder(), 'data');

async function authorityOf(server: ChildServer): Promise<string> {
  // The same port speaks plain HTTP, which is how a client gets what it needs to speak the other.
  return (await fetch(`http://localhost:${server.port}/_mesocosm/ca.pem`)).text();
}

test('the stock client trusts the authority, before and after a restart', async () => {
  let trusted: string;
  {
    await using server = await ChildServer.start(['--tls', '--data', data]);
    expect(server.endpoint).toBe(`https://127.0.0.1:${server.port}/`);
    trusted = await authorityOf(server);
    expect(trusted).toBe(readFileSync(join(data, 'tls', 'ca.pem'), 'utf8'));
    await using client = clientOf(server, trusted);
    const { database } = await client.databases.create({ id: 'kept' });
    expect((await database.read()).resource?.id).toBe('kept');
    const { readableLocations, writableLocations } = await accountOf(server, trusted);
    const here = { name: 'Local', databaseAccountEndpoint: `https://localhost:${server.port}/` };
    expect([readableLocations, writableLocations]).toEqual([[here], [here]]);
    await server.stop();
  }
  await using server = await ChildServer.start(['--tls', '--data', data]);
  await using client = clientOf(server, trusted);
  expect((await client.databases.readAll().fetchAll()).resources).toHaveLength(1);
});

test('any name a client uses is in the certificate, and none is trusted without the authority', async () => {
  await using server = await ChildServer.start(['--tls', '--memory']);
  const ca = await authorityOf(server);
  const health = (options: object): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      secureGet(
        { host: '127.0.0.1', port: server.port, path: '/_mesocosm/health', ...options },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      ).on('error', reject);
    });
  expect(await health({ ca })).toBe(200);
  expect(await health({ ca, servername: 'cosmos.compose.internal' })).toBe(200);
  await expect(health({})).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
});

test('drivers of MongoDB, Cassandra and Gremlin speak TLS and plain on one port', async () => {
  await using server = await ChildServer.start(['--tls', '--memory']);
  const { key, endpoints } = server.ready;
  const ca = await authorityOf(server);
  const portOf = (api: string) =>
    Number(/:(\d+)/.exec(String(endpoints[api]).replace(/^.*@/, ''))?.[1]);
  const uri = `mongodb://localhost:${encodeURIComponent(key)}@127.0.0.1:${portOf('mongo')}/?directConnection=true`;
  await using setUp = clientOf(server, ca);
  const { database } = await setUp.databases.create({ id: 'g' });
  await database.containers.create({ id: 'graph', partitionKey: { paths: ['/pk'] } });
  for (const isEncrypted of [true, false]) {
    const mongo = new MongoClient(uri, isEncrypted ? { tls: true, ca } : {});
    expect(await mongo.db('d').command({ ping: 1 })).toMatchObject({ ok: 1 });
    await mongo.close();
    const cql = new cassandra.Client({
      contactPoints: [`127.0.0.1:${portOf('cassandra')}`],
      localDataCenter: 'datacenter1',
      credentials: { username: 'localhost', password: key },
      ...(isEncrypted && { sslOptions: { ca: [ca] } }),
    });
    const { rows } = await cql.execute('SELECT key FROM system.local');
    expect(rows.map((row) => row.key)).toEqual(['local']);
    await cql.shutdown();
    const graph = new gremlin.driver.Client(
      `${isEncrypted ? 'wss' : 'ws'}://127.0.0.1:${portOf('gremlin')}/`,
      {
        authenticator: new gremlin.driver.auth.PlainTextSaslAuthenticator(
          '/dbs/g/colls/graph',
          key,
        ),
        ...(isEncrypted && { ca: [ca] }),
      },
    );
    expect((await graph.submit('g.V().count()')).toArray()).toEqual([0]);
    await graph.close();
  }
});

test('the certificate is where scripts for the official emulator look for it', async () => {
  await using server = await ChildServer.start(['--tls', '--memory']);
  const found = await fetch(`http://localhost:${server.port}/_explorer/emulator.pem`);
  expect(found.status).toBe(200);
  expect(await found.text()).toBe(await authorityOf(server));
  const ca = await authorityOf(server);
  await using client = clientOf(server, ca);
  expect((await client.databases.readAll().fetchAll()).resources).toEqual([]);
});

test('idle TLS connections do not delay the stop, whatever they have got to', async () => {
  await using server = await ChildServer.start(['--tls', '--memory']);
  const secured = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(secured, 'secureConnect');
  // One that begins a handshake, and one whose client does not like the certificate.
  const begun = await openSocket(server.port);
  begun.write(Buffer.from([22, 3, 1]));
  const untrusting = connect({ port: server.port, host: '127.0.0.1' });
  await once(untrusting, 'error');
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  await new Promise((resolve, reject) => {
    secureGet(`${server.endpoint}_mesocosm/health`, { agent }, (response) => {
      response.resume().on('end', resolve);
    }).on('error', reject);
  });
  for (const socket of [secured, begun]) socket.on('error', () => undefined);
  const startedMs = performance.now();
  expect(await server.stop('SIGINT')).toMatchObject({ code: 0 });
  // The server waits 10 s for connections that are not idle.
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  agent.destroy();
});

test('commands take the authority as a file', async () => {
  await using server = await ChildServer.start(['--tls-only', '--data', data]);
  const ca = join(data, 'tls', 'ca.pem');
  const listed = await runProgram(['db', 'list', '--endpoint', server.endpoint, '--ca', ca]);
  expect(listed).toMatchObject({ code: 0, stdout: 'kept\n' });
  const untrusted = await runProgram(['db', 'list', '--endpoint', server.endpoint]);
  expect(untrusted.code).toBe(1);
  expect(untrusted.stderr).toContain('unable to verify the first certificate');
  expect(untrusted.stderr).toContain('with --ca FILE');
  const plain = await runProgram(['db', 'list', '--endpoint', `http://127.0.0.1:${server.port}/`]);
  expect(plain.stderr).toContain('This port speaks TLS only');
});

/** The account document as it is on the wire: the client keeps the locations to itself. */
function accountOf(server: ChildServer, ca: string): Promise<Record<string, unknown>> {
  const date = new Date().toUTCString();
  const signed = authorization({ verb: 'GET', path: [], date, key: server.ready.key });
  const headers = { authorization: signed, 'x-ms-date': date };
  return new Promise((resolve, reject) => {
    secureGet({ host: 'localhost', port: server.port, ca, headers }, (response) =>
      json(response).then((body) => resolve(body as Record<string, unknown>), reject),
    ).on('error', reject);
  });
}

function clientOf(server: ChildServer, ca: string): CosmosClient & AsyncDisposable {
  const agent = new Agent({ ca, keepAlive: true });
  const client = new CosmosClient({
    endpoint: `https://localhost:${server.port}`,
    key: server.ready.key,
    agent,
    connectionPolicy: { enableBackgroundEndpointRefreshing: false },
  });
  return Object.assign(client, {
    async [Symbol.asyncDispose]() {
      client.dispose();
      agent.destroy();
    },
  });
}
