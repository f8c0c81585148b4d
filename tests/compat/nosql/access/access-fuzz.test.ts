// Goal: a caller without a master key cannot read, write, list or query anything outside its scope. Method: every route
// with every verb, then seeded random requests, as callers of every kind; all items carry marks, and whatever changed
// or came back is held against the scope. The seed is printed; MESOCOSM_SEED replays it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SHAPES } from '../../../../src/api/nosql/routes.ts';
import { seededRandom } from '../../../../src/base/index.ts';
import type { Account } from '../harness.ts';
import { type RawRequest, sendRaw } from '../raw-request.ts';
import { pick, randomRequest } from './access-requests.ts';
import {
  type Caller,
  containerIds,
  databaseIds,
  fill,
  itemsIn,
  KEYS,
  scopeViolations,
  startWorld,
  stateOf,
} from './access-world.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? 20_261_115);
const REQUESTS = process.env.MESOCOSM_LONG === undefined ? 3000 : 50_000;
/** State is compared after so many requests. */
const ROUND = 40;

let account: Account;
let callers: readonly Caller[] = [];
/** Items that came back, to know that the doors are not all shut. */
let seenCount = 0;

beforeAll(async () => {
  console.info(`access fuzz: MESOCOSM_SEED=${SEED}`);
  ({ account, callers } = await startWorld());
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function sendAs(caller: Caller, raw: RawRequest & { method: string }) {
  const date = new Date().toUTCString();
  const headers = { ...raw.headers, authorization: caller.authorization({ ...raw, date }) };
  return sendRaw(account, { ...raw, date, headers });
}

/** Containers may be deleted and changed by those who may do everything with them; the others must not go with it. */
function isOwnContainer(
  caller: Caller,
  { method, path }: { method: string; path: string },
): boolean {
  const isContainer = /^\/+dbs\/+[^/]+\/+colls\/+[^/]+\/*$/.test(path);
  return (
    isContainer &&
    method !== 'GET' &&
    caller.name.startsWith('token: container') &&
    caller.name.endsWith('all')
  );
}

function checkReply(
  caller: Caller,
  what: string,
  reply: { status: number; text: string; headers: object },
): void {
  const context = `${caller.name}: ${what} -> ${reply.status} ${reply.text.slice(0, 200)}`;
  const seen = itemsIn(`${reply.text} ${JSON.stringify(reply.headers)}`);
  expect(
    seen.filter((item) => !caller.mayRead(item)),
    context,
  ).toEqual([]);
  expect(reply.status, context).toBeLessThan(500);
  seenCount += seen.length;
}

const VERBS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'MERGE', 'QUERY'];
const QUERY_HEADERS = {
  'x-ms-documentdb-isquery': 'true',
  'content-type': 'application/query+json',
};

describe('every route with every verb', () => {
  test('is closed outside the scope', async () => {
    const before = await stateOf(account);
    for (const caller of callers)
      for (const shape of SHAPES)
        for (const method of VERBS)
          for (const path of pathsOf(shape)) {
            for (const headers of method === 'POST' ? [{}, QUERY_HEADERS] : [{}]) {
              const body =
                method === 'POST' || method === 'PUT'
                  ? { id: 'x', query: 'SELECT * FROM c' }
                  : undefined;
              const raw = { method, path, headers, ...(body === undefined ? {} : { body }) };
              const reply = await sendAs(caller, raw);
              checkReply(caller, `${method} ${path}`, reply);
              if (!caller.isReader && shape !== '')
                expect([400, 403, 404, 405], `${caller.name}: ${method} ${path}`).toContain(
                  reply.status,
                );
            }
          }
    for (const caller of callers)
      expect(scopeViolations(caller, before, await stateOf(account))).toEqual([]);
  }, 240_000);

  /** Links outside every scope: the other database, and the other container by name and number. */
  function pathsOf(shape: string): string[] {
    if (shape === '') return ['/'];
    const kinds = shape.split('/');
    const path = (ids: readonly string[]) =>
      kinds.map((kind, at) => `/${kind}${ids[at] === undefined ? '' : `/${ids[at]}`}`).join('');
    const bank = databaseIds.get('bank') ?? '';
    const all = [
      ['bank', 'orders', '1', '1'],
      [bank, containerIds.get('bank/orders') ?? '', '1', '1'],
      ['shop', 'others', '1', '1'],
    ];
    // The shop database itself is outside of scopes that lie in it.
    return all.flatMap((ids) => [
      path(ids.slice(0, kinds.length)),
      path(ids.slice(0, kinds.length - 1)),
    ]);
  }
});

describe('random requests', () => {
  test('stay within the scope', async () => {
    const random = seededRandom(SEED);
    const tokens = await continuations();
    let before = await stateOf(account);
    for (let done = 0; done < REQUESTS; done += ROUND) {
      const caller = pick(random, callers);
      const sent: string[] = [];
      for (let at = 0; at < ROUND; at++) {
        const raw = randomRequest(random, tokens);
        if (isOwnContainer(caller, raw)) continue;
        const what = JSON.stringify(raw);
        sent.push(what);
        checkReply(caller, what, await sendAs(caller, raw));
      }
      const after = await stateOf(account);
      expect(scopeViolations(caller, before, after), `${caller.name}\n${sent.join('\n')}`).toEqual(
        [],
      );
      await restore();
      before = await stateOf(account);
    }
    expect(seenCount).toBeGreaterThan(REQUESTS / 10);
  }, 600_000);

  /** Puts back what callers rightfully deleted, so that the next caller finds all data. */
  async function restore(): Promise<void> {
    const container = account.client().database('shop').container('orders');
    await fill('shop', 'orders', async (item) => {
      if ((await container.item(item.id, item.key).read()).resource?.mark !== item.mark)
        await container.items.upsert(item);
    });
  }

  /** Positions that the server gave to others: a caller who got hold of one, or makes one up, must not get further. */
  async function continuations(): Promise<string[]> {
    const tokens: string[] = [];
    for (const key of KEYS) {
      const reply = await sendRaw(account, {
        path: '/dbs/shop/colls/orders/docs',
        headers: {
          'x-ms-documentdb-partitionkey': JSON.stringify([key]),
          'x-ms-max-item-count': '1',
        },
      });
      const token = String(reply.headers['x-ms-continuation']);
      const { left } = JSON.parse(Buffer.from(token, 'base64').toString());
      for (const after of ['00', 'ff', '', '0a', left[0][2]])
        for (const [min, max] of [
          [left[0][0], left[0][1]],
          ['', 'FF'],
        ])
          tokens.push(
            Buffer.from(JSON.stringify({ v: 1, left: [[min, max, after]] })).toString('base64'),
          );
      tokens.push(token);
    }
    const query = await sendRaw(account, {
      method: 'POST',
      path: '/dbs/shop/colls/orders/docs',
      headers: {
        ...QUERY_HEADERS,
        'x-ms-documentdb-query-enablecrosspartition': 'true',
        'x-ms-max-item-count': '1',
      },
      body: { query: 'SELECT * FROM c' },
    });
    tokens.push(String(query.headers['x-ms-continuation']));
    return tokens;
  }
});

test('the position of another partition key does not lead out of one', async () => {
  const headersOf = (key: string) => ({ 'x-ms-documentdb-partitionkey': JSON.stringify([key]) });
  const path = '/dbs/shop/colls/orders/docs';
  const segments: [string, string, string][] = [];
  for (const key of KEYS) {
    const headers = { ...headersOf(key), 'x-ms-max-item-count': '1' };
    const reply = await sendRaw(account, { path, headers });
    const token = Buffer.from(String(reply.headers['x-ms-continuation']), 'base64').toString();
    segments.push(JSON.parse(token).left[0]);
  }
  for (const [at, key] of KEYS.entries())
    for (const after of [...segments.map(([, , position]) => position), '00', 'ff', '10']) {
      const [min, max] = segments[at] as [string, string, string];
      const made = JSON.stringify({ v: 1, left: [[min, max, after]] });
      const continuation = Buffer.from(made).toString('base64');
      const headers = { ...headersOf(key), 'x-ms-continuation': continuation };
      const reply = await sendRaw(account, { path, headers });
      expect(reply.status).toBe(200);
      for (const item of itemsIn(reply.text)) expect(item.key).toBe(key);
    }
});
