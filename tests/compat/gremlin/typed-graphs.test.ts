// Goal: graphs without a partition key keep ids and values of any type; sessions, aliases, HTTP and resource tokens work
// on them. Method: the stock client, and fetch.
import gremlin from 'gremlin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_INDEXING_POLICY } from '../../../src/catalog/index.ts';
import { type Account, KEY, MIMES, READONLY_KEY, recordOf, startAccount } from './harness.ts';

const PATH = '/dbs/graphs/colls/things';
let account: Account;

beforeAll(async () => {
  account = await startAccount({ partitions: 2 });
  const { databaseRid } = recordOf(account.service);
  await account.service.containers.create(databaseRid, {
    id: 'things',
    partitionKey: { paths: ['/_vertexId'], kind: 'Hash', version: 2 },
    home: 'gremlin',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
  });
});

afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

async function values(script: string, options: object = {}): Promise<unknown[]> {
  const client = account.client(options, { user: PATH });
  return (await client.submit(script)).toArray();
}

describe('values of any type', () => {
  test('ids, numbers, lists, sets, maps and dates come back as they were', async () => {
    await values(`g.addV('t').property(T.id,1).property('i',1i).property('l',1L).property('d',1.0d)
      .property('list',[1,'a']).property('set',{1,2}).property('map',[k:[1]])
      .property('when',datetime('2024-02-29T12:00:00Z')).property('big',123456789012345678901n)`);
    expect(await values('g.V(1).id()')).toEqual([1]);
    expect(await values("g.V('1').values('i','l','d').is(typeOf(GType.LONG))")).toEqual([1]);
    expect(await values("g.V(1).values('list')")).toEqual([[1, 'a']]);
    expect(await values("g.V(1).values('set')")).toEqual([new Set([1, 2])]);
    expect(await values("g.V(1).values('map')")).toEqual([new Map([['k', [1]]])]);
    expect(await values("g.V(1).values('when')")).toEqual([new Date('2024-02-29T12:00:00Z')]);
    expect(await values("g.V().has('big',gt(5)).has('d',1).count()")).toEqual([1]);
    await values('g.V().drop()');
  });

  test('a key has several values, and values have properties of their own', async () => {
    await values(
      "g.addV('t').property(T.id,'x').property('n','a').property('n','b','since',2020L)",
    );
    expect(await values("g.V('x').values('n')")).toEqual(['a', 'b']);
    expect(await values("g.V('x').properties('n').has('since',2020).value()")).toEqual(['b']);
    await values("g.V('x').properties('n').has('since').drop()");
    expect(await values("g.V('x').values('n')")).toEqual(['a']);
    await values('g.V().drop()');
  });

  test('an edge lies with its source and is found from both ends', async () => {
    await values(
      "g.addV('t').property(T.id,1).as('a').addV('t').property(T.id,2).as('b').addE('k').from('a').to('b').property(T.id,1)",
    );
    expect(await values('g.V(1).out().id()')).toEqual([2]);
    expect(await values('g.V(2).in().id()')).toEqual([1]);
    expect(await values('g.E(1).label()')).toEqual(['k']);
    await values('g.V(2).drop()');
    expect(await values('g.E().count()')).toEqual([0]);
    await values('g.V().drop()');
  });
});

test('an alias names another graph of the database', async () => {
  await values("g.addV('t').property(T.id,'here')");
  const client = account.client({ traversalSource: 'things' });
  expect((await client.submit('g.V().id()')).toArray()).toEqual(['here']);
  expect((await client.submit('things.V().id()')).toArray()).toEqual(['here']);
  await values('g.V().drop()');
});

describe('sessions', () => {
  test('writes become visible with the commit, and are gone after a rollback', async () => {
    const session = account.client({ session: 'one' }, { user: PATH });
    await session.submit("g.addV('t').property(T.id,'s')");
    expect((await session.submit('g.V().count()')).toArray()).toEqual([1]);
    expect(await values('g.V().count()')).toEqual([0]);
    await session.submit('g.tx().rollback()');
    expect((await session.submit('g.V().count()')).toArray()).toEqual([0]);
    await session.submit("g.addV('t').property(T.id,'s')");
    await session.submit('g.tx().commit()');
    expect(await values('g.V().id()')).toEqual(['s']);
    await values('g.V().drop()');
  });

  test('a request that fails rolls the session back', async () => {
    const session = account.client({ session: 'two' }, { user: PATH });
    await session.submit("g.addV('t').property(T.id,'s')");
    await expect(session.submit("g.addV('t').fail('no')")).rejects.toThrow('no');
    await session.submit('g.tx().commit()');
    expect(await values('g.V().count()')).toEqual([0]);
  });

  test('transactions of the traversal API', async () => {
    const { traversal } = gremlin.process.AnonymousTraversalSource;
    const connection = new gremlin.driver.DriverRemoteConnection(
      `ws://127.0.0.1:${account.port}/gremlin`,
      { authenticator: new gremlin.driver.auth.PlainTextSaslAuthenticator(PATH, KEY) },
    );
    const g = traversal().with_(connection) as unknown as {
      tx(): {
        begin(): { addV(label: string): { iterate(): Promise<unknown> } };
        commit(): Promise<unknown>;
      };
    };
    const tx = g.tx();
    const own = tx.begin();
    await own.addV('t').iterate();
    expect(await values('g.V().count()')).toEqual([0]);
    await tx.commit();
    expect(await values('g.V().count()')).toEqual([1]);
    await connection.close();
    await values('g.V().drop()');
  });
});

describe('plain HTTP', () => {
  async function post(
    body: unknown,
    password = KEY,
    accept = 'application/json',
  ): Promise<Response> {
    const login = Buffer.from(`${PATH}:${password}`).toString('base64');
    return fetch(`http://127.0.0.1:${account.port}/gremlin`, {
      method: 'POST',
      headers: { authorization: `Basic ${login}`, accept },
      body: JSON.stringify(body),
    });
  }

  test('a script is answered in one response', async () => {
    const response = await post({ gremlin: 'g.inject(x).math("_ * 2")', bindings: { x: 21 } });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: { code: 200, attributes: { 'x-ms-status-code': 200 } },
      result: { data: [42] },
    });
    const typed = await post({ gremlin: 'g.inject(1L)' }, KEY, MIMES.graphson3);
    expect(await typed.json()).toMatchObject({
      result: { data: { '@type': 'g:List', '@value': [{ '@type': 'g:Int64', '@value': 1 }] } },
    });
  });

  test.each([
    [{ gremlin: 'g.V(' }, KEY, 400],
    [{}, KEY, 400],
    [{ gremlin: "g.addV('t')" }, READONLY_KEY, 403],
    [{ gremlin: 'g.V()' }, 'wrong', 401],
  ])('%j is refused', async (body, password, status) => {
    expect((await post(body, password)).status).toBe(status);
  });
});
