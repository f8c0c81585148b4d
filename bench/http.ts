/** Single signed requests, to prepare servers and to take samples of their responses. */
import { Agent, request } from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';
import { WELL_KNOWN_KEY } from '../src/base/index.ts';
import { authorization } from '../src/cli/client.ts';
import { DATABASE } from './compare.ts';
import { itemId, itemText, partitionKeyOf } from './load/item.ts';
import type { CapturedResponse, CapturedResponses } from './servers/bare-server.ts';
import type { BenchServer } from './servers/processes.ts';

/** Headers that node:http sends by itself. */
const OWN_HEADERS = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);
const LOAD_CONNECTIONS = 16;

interface Sent {
  readonly verb: string;
  readonly path: readonly string[];
  readonly query?: string;
  readonly key?: string;
  readonly body?: string;
}

/** The body of a response that must be 200. */
export async function getJson(
  port: number,
  agent: Agent,
  path: readonly string[],
  query: string,
): Promise<unknown> {
  const { status, body } = await send(port, agent, { verb: 'GET', path, query });
  if (status !== 200) throw new Error(`${path.join('/')}: ${status} ${body}`);
  return JSON.parse(body);
}

/** Makes a procedure or a function of a container. */
export async function createScript(
  port: number,
  container: string,
  script: { readonly type: 'sprocs' | 'udfs'; readonly id: string; readonly body: string },
): Promise<void> {
  const { type, id, body } = script;
  const path = ['dbs', DATABASE, 'colls', container, type];
  const sent = { verb: 'POST', path, body: JSON.stringify({ id, body }) };
  const { status } = await send(port, new Agent(), sent);
  if (status !== 201) throw new Error(`${type}/${id}: ${status}`);
}

/** Runs a procedure; how it ends is the caller's business. */
export async function executeScript(port: number, container: string, id: string): Promise<number> {
  const path = ['dbs', DATABASE, 'colls', container, 'sprocs', id];
  const sent = { verb: 'POST', path, key: partitionKeyOf(0), body: '[]' };
  return (await send(port, new Agent(), sent)).status;
}

function send(
  port: number,
  agent: Agent,
  { verb, path, query, key, body }: Sent,
): Promise<CapturedResponse> {
  const open = agent instanceof TlsAgent ? requestTls : request;
  const date = new Date().toUTCString();
  const headers = {
    authorization: authorization({ verb, path, date, key: WELL_KNOWN_KEY }),
    'x-ms-date': date,
    'x-ms-version': '2020-07-15',
    ...(key === undefined ? {} : { 'x-ms-documentdb-partitionkey': JSON.stringify([key]) }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const options = {
    port,
    host: '127.0.0.1',
    agent,
    method: verb,
    path: `/${path.join('/')}${query === undefined ? '' : `?${query}`}`,
    headers,
  };
  return new Promise((resolve, reject) => {
    const sent = open(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: withoutOwn(response.rawHeaders),
          body: Buffer.concat(chunks).toString('latin1'),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function withoutOwn(rawHeaders: readonly string[]): readonly string[] {
  return rawHeaders.filter(
    (_, at) => !OWN_HEADERS.has(String(rawHeaders[at - (at % 2)]).toLowerCase()),
  );
}

/** Database, container and items over HTTP: for a server whose files cannot be filled beforehand. */
export async function fillOverHttp(
  { port, scheme }: BenchServer,
  container: string,
  count: number,
): Promise<void> {
  const limits = { keepAlive: true, maxSockets: LOAD_CONNECTIONS };
  const agent =
    scheme === 'http' ? new Agent(limits) : new TlsAgent({ ...limits, rejectUnauthorized: false });
  const create = async (path: readonly string[], body: object): Promise<void> => {
    await send(port, agent, { verb: 'POST', path, body: JSON.stringify(body) });
  };
  await create(['dbs'], { id: DATABASE });
  const partitionKey = { paths: ['/pk'], kind: 'Hash' };
  await create(['dbs', DATABASE, 'colls'], { id: container, partitionKey });
  const path = ['dbs', DATABASE, 'colls', container, 'docs'];
  let next = 0;
  const fill = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      const key = partitionKeyOf(number);
      const body = itemText(itemId(number), key);
      const { status } = await send(port, agent, { verb: 'POST', path, key, body });
      if (status !== 201) throw new Error(`filling: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: LOAD_CONNECTIONS }, fill));
  agent.destroy();
}

/** Responses of our server to a read, a creation and a replacement, for the bare server to send. */
export async function captureResponses(
  port: number,
  container: string,
): Promise<CapturedResponses> {
  const agent = new Agent();
  const docs = ['dbs', DATABASE, 'colls', container, 'docs'];
  const key = partitionKeyOf(0);
  const id = itemId(0);
  const newId = itemId(99_999_999);
  return {
    GET: await send(port, agent, { verb: 'GET', path: [...docs, id], key }),
    POST: await send(port, agent, { verb: 'POST', path: docs, key, body: itemText(newId, key) }),
    PUT: await send(port, agent, {
      verb: 'PUT',
      path: [...docs, id],
      key,
      body: itemText(id, key),
    }),
  };
}
