// Goal: web pages, other machines and other users of this one get no access. Method: the built program, attacked by raw sockets and with stock clients.
import { createHmac } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { CosmosClient } from '@azure/cosmos';
import {
  AzureNamedKeyCredential,
  generateAccountSas,
  TableClient,
  TableServiceClient,
} from '@azure/data-tables';
import { describe, expect, test } from 'vitest';
import { WELL_KNOWN_KEY, WELL_KNOWN_STORAGE_KEY } from '../../src/base/index.ts';
import { authorization } from '../../src/cli/client.ts';
import { ChildServer, runProgram, temporaryFolder } from './child-server.ts';
import { openSocket, readReply, signedHeaders } from './wire.ts';

const ACCOUNT = 'devstoreaccount1';
const STRONG = Buffer.alloc(64, 'of our own').toString('base64');
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };

function tablePort({ ready }: ChildServer): number {
  return Number(new URL(String(ready.endpoints.table)).port);
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function statusOf(port: number, { method = 'GET', path, headers, body = '' }: Sent) {
  const socket = await openSocket(port);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === '' ? '' : `content-length: ${body.length}\r\n`;
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`);
  const { status } = await readReply(socket);
  socket.destroy();
  return status;
}

describe('web pages, while the key is public', () => {
  const sas = (): string =>
    generateAccountSas(new AzureNamedKeyCredential(ACCOUNT, WELL_KNOWN_STORAGE_KEY), {
      permissions: { query: true, add: true, list: true },
      resourceTypes: 'sco',
    });

  test('a foreign name that resolves to this machine is not served', async () => {
    await using server = await ChildServer.start(['--memory', '--tls-names', 'db.internal']);
    const list = (host: string) =>
      statusOf(server.port, {
        path: '/dbs',
        headers: { host, ...signedHeaders({ verb: 'GET', path: ['dbs'] }) },
      });
    for (const path of ['/_mesocosm/health', '/_mesocosm/metrics', '/dbs'])
      expect(await statusOf(server.port, { path, headers: { host: 'evil.example' } })).toBe(421);
    expect(await list('evil.example:8081')).toBe(421);
    for (const host of [`localhost:${server.port}`, '127.0.0.1', '[::1]:8081', 'db.internal'])
      expect(await list(host)).toBe(200);
    const path = `/${ACCOUNT}/Tables?${sas()}`;
    const table = (host: string) => statusOf(tablePort(server), { path, headers: { host } });
    expect(await table('evil.example')).toBe(421);
    expect(await table('localhost')).toBe(200);
    expect(await table('127.0.0.1:8902')).toBe(200);
    const { stderr } = await server.stop();
    expect(stderr).toContain(
      'accessRefused api=nosql from=127.0.0.1 method=GET status=421 reason="the host is not a name of this machine"',
    );
  });

  test('a page of another origin writes nothing, with or without a preflight, unless a rule lets it', async () => {
    await using server = await ChildServer.start(['--memory']);
    const credential = new AzureNamedKeyCredential(ACCOUNT, WELL_KNOWN_STORAGE_KEY);
    const endpoint = `${server.ready.endpoints.table}${ACCOUNT}`;
    const table = new TableClient(endpoint, 'people', credential, options);
    await table.createTable();
    const insert = (origin: string, rowKey: string, type = 'text/plain') =>
      statusOf(tablePort(server), {
        method: 'POST',
        path: `/${ACCOUNT}/people?${sas()}`,
        headers: { host: 'localhost', origin, 'content-type': type },
        body: JSON.stringify({ PartitionKey: 'p', RowKey: rowKey }),
      });
    const rows = async (): Promise<readonly (string | undefined)[]> => {
      const found: (string | undefined)[] = [];
      for await (const { rowKey } of table.listEntities()) found.push(rowKey);
      return found;
    };
    expect(await insert('https://evil.example', 'a')).toBe(403);
    expect(await insert('https://evil.example', 'b', 'application/json')).toBe(403);
    expect(await insert('null', 'c')).toBe(403);
    expect(await rows()).toEqual([]);
    expect(await insert('http://localhost', 'own', 'application/json')).toBe(201);
    await new TableServiceClient(endpoint, credential, options).setProperties({
      cors: [
        {
          allowedOrigins: 'https://friend.example',
          allowedMethods: 'POST',
          allowedHeaders: '*',
          exposedHeaders: '',
          maxAgeInSeconds: 5,
        },
      ],
    });
    expect(await insert('https://friend.example', 'd', 'application/json')).toBe(201);
    expect(await insert('https://evil.example', 'e', 'application/json')).toBe(403);
    expect(await rows()).toEqual(['d', 'own']);
    const listed = { path: '/dbs', headers: signedHeaders({ verb: 'GET', path: ['dbs'] }) };
    const from = (origin: string) => ({
      ...listed,
      headers: { host: 'localhost', origin, ...listed.headers },
    });
    expect(await statusOf(server.port, from('https://evil.example'))).toBe(403);
    expect(await statusOf(server.port, from('http://localhost'))).toBe(200);
  });

  test.each<[string, string[]]>([
    ['a key that can be guessed', ['--key', 'AAAA']],
    ['every identity taken', ['--key', STRONG, '--identity-any']],
  ])('%s is as good as none', async (_, flags) => {
    await using server = await ChildServer.start(['--memory', ...flags]);
    const health = (headers: Record<string, string>) =>
      statusOf(server.port, { path: '/_mesocosm/health', headers });
    expect(await health({ host: 'evil.example' })).toBe(421);
    expect(await health({ host: 'localhost', origin: 'http://evil.example' })).toBe(403);
    expect(await health({ host: 'localhost' })).toBe(200);
  });

  test('stock clients of this machine notice nothing', async () => {
    await using server = await ChildServer.start(['--memory']);
    for (const name of ['localhost', '127.0.0.1']) {
      const client = new CosmosClient({
        endpoint: `http://${name}:${server.port}/`,
        key: WELL_KNOWN_KEY,
      });
      await client.databases.createIfNotExists({ id: name });
      for (const path of ['', `/${ACCOUNT}`]) {
        if (name === '127.0.0.1' && path === '') continue;
        const endpoint = `http://${name}:${tablePort(server)}${path}`;
        const credential = new AzureNamedKeyCredential(ACCOUNT, WELL_KNOWN_STORAGE_KEY);
        const table = `t${name.length}${path.length}`;
        await new TableServiceClient(endpoint, credential, options).createTable(`a${table}`);
      }
    }
    const byHost = `http://${ACCOUNT}.table.localhost:${tablePort(server)}`;
    const signed = new Date().toUTCString();
    const key = Buffer.from(WELL_KNOWN_STORAGE_KEY, 'base64');
    const text = `${signed}\n/${ACCOUNT}/Tables`;
    const signature = createHmac('sha256', key).update(text).digest('base64');
    const status = await statusOf(tablePort(server), {
      path: '/Tables',
      headers: {
        host: new URL(byHost).host,
        'x-ms-date': signed,
        authorization: `SharedKeyLite ${ACCOUNT}:${signature}`,
      },
    });
    expect(status).toBe(200);
  });
});

describe('keys', () => {
  test.each<[string, string[], string]>([
    ['a short key', ['--key', 'AAAA'], 'the key of --key has 3 bytes'],
    ['the public key', [], 'the default key is public knowledge'],
    ['the public key of Storage', ['--key', WELL_KNOWN_STORAGE_KEY], 'is public knowledge'],
  ])('%s does not go beyond loopback', async (_, flags, message) => {
    const exit = await runProgram(['start', '--memory', '--host', '0.0.0.0', ...flags]);
    expect(exit).toMatchObject({ code: 2, stdout: '' });
    expect(exit.stderr).toContain(message);
  });

  test('no key leaves by an output that is no terminal', async () => {
    const folder = join(temporaryFolder(), 'data');
    await using server = await ChildServer.start(['--data', folder, '--key', STRONG]);
    expect(server.ready.key).toBe(STRONG);
    expect(statSync(server.readyFile).mode & 0o777).toBe(0o600);
    const { stdout, stderr } = await server.stop();
    expect(stdout).toContain('NoSQL');
    for (const key of [STRONG, WELL_KNOWN_KEY, WELL_KNOWN_STORAGE_KEY])
      expect(`${stdout}${stderr}`).not.toContain(key);
  });

  test('after a rotation nothing treats the public key as one', async () => {
    const data = join(temporaryFolder(), 'data');
    const tables = (server: ChildServer, key: string) =>
      new TableServiceClient(
        `http://127.0.0.1:${tablePort(server)}/${ACCOUNT}`,
        new AzureNamedKeyCredential(ACCOUNT, key),
        options,
      );
    let rotated: string;
    {
      await using server = await ChildServer.start(['--data', data]);
      const undated = (key: string): Sent => {
        const text = `\n/${ACCOUNT}/${ACCOUNT}/Tables`;
        const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(text);
        const credentials = `SharedKeyLite ${ACCOUNT}:${signature.digest('base64')}`;
        const headers = { host: 'localhost', authorization: credentials };
        return { path: `/${ACCOUNT}/Tables`, headers };
      };
      await tables(server, WELL_KNOWN_STORAGE_KEY).createTable('people');
      expect(await statusOf(tablePort(server), undated(WELL_KNOWN_STORAGE_KEY))).toBe(200);
      const command = ['keys', 'rotate', 'primary', '--endpoint', server.endpoint];
      rotated = (await runProgram([...command, '--key', WELL_KNOWN_KEY])).stdout.trim();
      for (const key of [WELL_KNOWN_KEY, WELL_KNOWN_STORAGE_KEY]) {
        await expect(tables(server, key).createTable('x')).rejects.toMatchObject({
          statusCode: 403,
        });
        expect(await statusOf(tablePort(server), undated(key))).toBe(403);
      }
      await tables(server, rotated).createTable('cats');
      // A request without a date could be any old one.
      expect(await statusOf(tablePort(server), undated(rotated))).toBe(403);
      const health = { path: '/_mesocosm/health', headers: { host: 'db.example' } };
      expect(await statusOf(server.port, health)).toBe(200);
    }
    await using server = await ChildServer.start(['--data', data, '--host', '0.0.0.0']);
    expect(server.ready.key).toBe(rotated);
    for (const key of [WELL_KNOWN_KEY, WELL_KNOWN_STORAGE_KEY])
      await expect(tables(server, key).createTable('x')).rejects.toMatchObject({ statusCode: 403 });
    await tables(server, rotated).createTable('dogs');
  });

  test('metrics need a key where other machines can reach the server', async () => {
    await using server = await ChildServer.start([
      '--memory',
      '--host',
      '0.0.0.0',
      '--key',
      STRONG,
      '--readonly-key',
      READER,
      '--tls',
    ]);
    const path = '/_mesocosm/metrics';
    const { port } = server;
    const plain = (headers: Record<string, string>) =>
      statusOf(port, { path, headers: { host: 'db.example', ...headers } });
    const signedWith = (key: string) => {
      const date = new Date().toUTCString();
      const words = { verb: 'GET', path: ['_mesocosm', 'metrics'], date, key };
      return { 'x-ms-date': date, authorization: authorization(words) };
    };
    expect(await plain({})).toBe(401);
    expect(await plain(signedWith(WELL_KNOWN_KEY))).toBe(401);
    expect(await plain({ authorization: `Bearer ${READER}` })).toBe(401);
    const byTls = (token: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}` };
        const sent = { host: '127.0.0.1', port, path, headers, rejectUnauthorized: false };
        request(sent, (reply) => {
          reply.resume();
          resolve(reply.statusCode ?? 0);
        })
          .on('error', reject)
          .end();
      });
    expect(await byTls(READER)).toBe(200);
    expect(await byTls(STRONG)).toBe(200);
    expect(await byTls(WELL_KNOWN_KEY)).toBe(401);
    expect(await byTls('')).toBe(401);
  });
});

const READER = Buffer.alloc(64, 'for reading').toString('base64');

test('files and folders of the data directory are for the owner alone', async () => {
  const data = join(temporaryFolder(), 'data');
  await using server = await ChildServer.start(['--data', data, '--tls']);
  const client = new CosmosClient({
    endpoint: `http://127.0.0.1:${server.port}/`,
    key: WELL_KNOWN_KEY,
  });
  const { database } = await client.databases.create({ id: 'd' });
  const { container } = await database.containers.create({ id: 'c' });
  await container.items.create({ id: '1' });
  const modes = readdirSync(data, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const wanted = entry.isDirectory() ? 0o700 : 0o600;
    return { path, isRight: (statSync(path).mode & 0o777) === wanted };
  });
  expect(modes.filter(({ isRight }) => !isRight)).toEqual([]);
  expect(statSync(data).mode & 0o777).toBe(0o700);
  const names = modes.map(({ path }) => path.slice(data.length + 1));
  for (const name of ['access.json', 'format.json', 'lock.sqlite', 'server.pid', 'tls/ca.pem'])
    expect(names).toContain(name);
  expect(names.filter((name) => name.endsWith('-wal')).length).toBeGreaterThan(1);
});
