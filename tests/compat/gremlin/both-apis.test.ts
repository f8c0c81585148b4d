// Goal: a graph is JSON documents for the NoSQL API, and documents are vertices for this one. Method: both stock clients
// on one container, on every engine.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, MIMES, startAccount } from './harness.ts';

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;

  beforeAll(async () => {
    account = await startAccount({ engine, partitions: 2 });
    const client = account.client();
    await client.submit(
      "g.addV('person').property('id','ana').property('pk','a').property('name','Ana').property('age',30)",
    );
    await client.submit(
      "g.addV('person').property('id','ben').property('pk','b').property('name','Ben')",
    );
    await client.submit(
      "g.V('ana').addE('knows').to(V('ben')).property('id','k1').property('since',2020)",
    );
  });

  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  async function sql(query: string): Promise<unknown[]> {
    return (await account.container.items.query(query).fetchAll()).resources;
  }

  test('SQL sees vertices and edges as documents', async () => {
    expect(
      await sql(
        "SELECT c.id, c.label, c.pk, c.name[0]._value AS name, c.age FROM c WHERE c.id = 'ana'",
      ),
    ).toEqual([
      {
        id: 'ana',
        label: 'person',
        pk: 'a',
        name: 'Ana',
        age: [{ id: expect.any(String), _value: 30 }],
      },
    ]);
    expect(
      await sql(
        'SELECT c.id, c.label, c.pk, c._vertexId, c._vertexLabel, c._sink, c._sinkLabel, c._sinkPartition, c.since FROM c WHERE c._isEdge',
      ),
    ).toEqual([
      {
        id: 'k1',
        label: 'knows',
        pk: 'a',
        _vertexId: 'ana',
        _vertexLabel: 'person',
        _sink: 'ben',
        _sinkLabel: 'person',
        _sinkPartition: 'b',
        since: 2020,
      },
    ]);
    expect(await sql("SELECT VALUE COUNT(1) FROM c WHERE c.label = 'person'")).toEqual([2]);
    expect(await sql('SELECT VALUE p._value FROM c JOIN p IN c.name ORDER BY c.id')).toEqual([
      'Ana',
      'Ben',
    ]);
  });

  test('a point read returns the document with its system properties', async () => {
    const { resource } = await account.container.item('k1', 'a').read();
    expect(resource).toMatchObject({
      id: 'k1',
      _isEdge: true,
      _etag: expect.any(String),
      _ts: expect.any(Number),
    });
  });

  test('documents that SQL writes are vertices and edges', async () => {
    const client = account.client();
    await account.container.items.upsert({
      id: 'cyd',
      pk: 'c',
      label: 'person',
      name: [{ id: 'n1', _value: 'Cyd' }],
      age: 40,
      nested: { city: 'x' },
    });
    await account.container.items.upsert({
      id: 'k2',
      pk: 'b',
      label: 'knows',
      _isEdge: true,
      _vertexId: 'ben',
      _vertexLabel: 'person',
      _sink: 'cyd',
      _sinkLabel: 'person',
      _sinkPartition: 'c',
    });
    expect(
      (await client.submit("g.V('ana').out('knows').out('knows').values('name','age')")).toArray(),
    ).toEqual(['Cyd', 40]);
    expect((await client.submit("g.V('cyd').in('knows').in('knows').id()")).toArray()).toEqual([
      'ana',
    ]);
    expect((await client.submit("g.V().has('age',gt(35)).id()")).toArray()).toEqual(['cyd']);
    await client.submit("g.V('cyd').property('name','Sid')");
    const { resource } = await account.container.item('cyd', 'c').read();
    expect(resource).toMatchObject({
      name: [{ _value: 'Sid' }],
      age: 40,
      nested: { city: 'x' },
    });
    await client.submit("g.V('cyd').drop()");
    expect(await sql("SELECT VALUE c.id FROM c WHERE c.id IN ('cyd', 'k2')")).toEqual([]);
  });

  test('a vertex that SQL deletes leaves edges that lead nowhere', async () => {
    const client = account.client({ mimeType: MIMES.graphson2 });
    await client.submit("g.addV('person').property('id','dee').property('pk','d')");
    await client.submit("g.V('ben').addE('likes').to(V('dee')).property('id','l1')");
    await account.container.item('dee', 'd').delete();
    expect((await client.submit("g.V('ben').outE('likes').id()")).toArray()).toEqual(['l1']);
    expect((await client.submit("g.V('ben').out('likes')")).toArray()).toEqual([]);
    expect((await client.submit("g.V('ben').out('likes').values('pk')")).toArray()).toEqual([]);
    await client.submit("g.E('l1').drop()");
  });

  test('a change between reading and writing is a refused precondition', async () => {
    const client = account.client({ mimeType: MIMES.graphson2 });
    await account.container.items.upsert({ id: 'race', pk: 'r', label: 'person' });
    const changes = Array.from({ length: 8 }, (_, at) =>
      client.submit("g.V(['r','race']).property('n',at)", { at }).then(
        () => 200,
        (error: { statusAttributes: Record<string, unknown> }) =>
          error.statusAttributes['x-ms-status-code'],
      ),
    );
    const codes = await Promise.all(changes);
    expect(codes).toContain(200);
    expect(codes.filter((code) => code !== 200 && code !== 412)).toEqual([]);
  });
});
