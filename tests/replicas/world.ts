/** A replica set of real members with a node on it, and writers that keep books of what they were promised. */
import { Agent } from 'node:http';
import { LocalReplicaSet } from '../../src/engine/postgres/local/local-replica-set.ts';
import { ChildServer } from '../server/child-server.ts';
import { send } from '../server/wire.ts';

export const isLong = process.env.MESOCOSM_LONG === '1';

/** Undefined with the reason where PostgreSQL cannot run here. */
export async function startSet(
  options: Partial<Parameters<typeof LocalReplicaSet.start>[0]> = {},
): Promise<LocalReplicaSet | string> {
  try {
    const set = await LocalReplicaSet.start({ members: 4, ...options });
    await set.untilStreaming(set.members.length - 1);
    return set;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function startNode(url: string, ...flags: readonly string[]): Promise<ChildServer> {
  return ChildServer.start(['--engine', url, '--log', 'json', ...flags]);
}

/** Database d with container c of two partitions. */
export async function createContainer(port: number): Promise<void> {
  const agent = new Agent();
  const headers = { 'x-ms-offer-throughput': '20000' };
  await send(port, agent, { verb: 'POST', path: ['dbs'], body: JSON.stringify({ id: 'd' }) });
  const body = JSON.stringify({ id: 'c', partitionKey: { paths: ['/pk'], kind: 'Hash' } });
  const { status } = await send(port, agent, {
    verb: 'POST',
    path: ['dbs', 'd', 'colls'],
    headers,
    body,
  });
  agent.destroy();
  if (status !== 201 && status !== 409) throw new Error(`create container: ${status}`);
}

interface Book {
  /** The last version that was acknowledged. */
  acknowledged: number;
  /** Later versions whose outcome is unknown. */
  unknown: number[];
  /** Versions of which the server said that nothing was applied. */
  readonly refused: Set<number>;
}

const ITEMS = 10;

/** Writes versions of its items one after the other; each version is sent once. */
export class BookWriter {
  readonly #name: string;
  readonly #books = new Map<string, Book>();
  #version = 0;
  #isStopped = false;
  acknowledged = 0;
  /** How often each status came; 0 is a broken connection. */
  readonly statuses = new Map<number, number>();

  constructor(name: string) {
    this.#name = name;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Writes until it is stopped. A status that has no meaning here fails the test. */
  async write(port: number): Promise<void> {
    this.#isStopped = false;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!this.#isStopped) {
      const id = `${this.#name}-${this.#version % ITEMS}`;
      const version = ++this.#version;
      const status = await put(port, agent, id, version);
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      const book = this.#book(id);
      if (status === 200 || status === 201) {
        book.acknowledged = version;
        book.unknown = [];
        this.acknowledged++;
      } else if (status === 408 || status === 0) book.unknown.push(version);
      else if (status === 503) book.refused.add(version);
      else throw new Error(`a write returned ${status}`);
      // A node that is gone, or refuses, is not asked without pause.
      if (status === 0 || status === 503) await delay(20);
    }
    agent.destroy();
  }

  /** Reads all items; returns what is wrong with them. */
  async check(port: number): Promise<readonly string[]> {
    const agent = new Agent({ keepAlive: true });
    const wrong: string[] = [];
    for (const [id, book] of this.#books) {
      const { status, body } = await get(port, agent, id);
      const found = status === 200 ? Number(JSON.parse(body).version) : 0;
      if (status !== 200 && status !== 404) wrong.push(`${id}: status ${status}`);
      else if (book.refused.has(found)) wrong.push(`${id}: refused version ${found} is there`);
      else if (found !== book.acknowledged && !book.unknown.includes(found))
        wrong.push(`${id}: found ${found}, acknowledged ${book.acknowledged}`);
      // What was found is the truth from now on.
      book.acknowledged = found;
      book.unknown = [];
    }
    agent.destroy();
    return wrong;
  }

  /** Reads all items while nothing more can be acknowledged; returns those that are not as they were acknowledged last. */
  async checkMemory(port: number): Promise<readonly string[]> {
    const agent = new Agent({ keepAlive: true });
    const wrong: string[] = [];
    for (const [id, { acknowledged }] of this.#books) {
      const { status, body } = await get(port, agent, id);
      const found = status === 200 ? JSON.parse(body).version : `status ${status}`;
      if (found !== acknowledged) wrong.push(`${id}: found ${found}, acknowledged ${acknowledged}`);
    }
    agent.destroy();
    return wrong;
  }

  #book(id: string): Book {
    let book = this.#books.get(id);
    if (book === undefined) {
      book = { acknowledged: 0, unknown: [], refused: new Set() };
      this.#books.set(id, book);
    }
    return book;
  }
}

export async function put(
  port: number,
  agent: Agent,
  id: string,
  version: number,
): Promise<number> {
  try {
    const { status } = await send(port, agent, {
      verb: 'POST',
      path: ['dbs', 'd', 'colls', 'c', 'docs'],
      headers: {
        'x-ms-documentdb-partitionkey': JSON.stringify([id]),
        'x-ms-documentdb-is-upsert': 'true',
      },
      body: JSON.stringify({ id, pk: id, version, text: 'x'.repeat(200) }),
    });
    return status;
  } catch {
    return 0;
  }
}

export function get(port: number, agent: Agent, id: string) {
  return send(port, agent, {
    verb: 'GET',
    path: ['dbs', 'd', 'colls', 'c', 'docs', id],
    headers: { 'x-ms-documentdb-partitionkey': JSON.stringify([id]) },
  });
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Polls until the condition holds; the bound is only there so that a failure ends. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadlineMs = Date.now() + 120_000; Date.now() < deadlineMs; ) {
    if (await holds()) return;
    await delay(20);
  }
  throw new Error(`did not happen: ${what}`);
}
