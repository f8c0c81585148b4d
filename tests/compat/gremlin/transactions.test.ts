// Goal: a script that writes is applied as a whole or not at all, over several partitions, also beside others. Method:
// scripts that fail at their end, and 16 clients that write the same elements; then the graph is looked at.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, ENGINES, MIMES, recordOf, startAccount } from './harness.ts';

const CLIENTS = 16;
/** Keys of different partitions, as the tests below check. */
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

describe.each(ENGINES)('%s', (engine) => {
  let account: Account;

  beforeAll(async () => {
    account = await startAccount({ engine, partitions: 4 });
  });

  afterAll(async () => {
    expect(account.failures).toEqual([]);
    await account.close();
  });

  async function values(script: string, bindings: object = {}): Promise<unknown[]> {
    return (await account.client().submit(script, bindings)).toArray();
  }

  /** The status code of the service; 200 where it succeeded. */
  async function statusOf(script: string, bindings: object = {}): Promise<unknown> {
    const client = account.client({ mimeType: MIMES.graphson2 });
    return client.submit(script, bindings).then(
      () => 200,
      (error: { statusAttributes: Record<string, unknown> }) =>
        error.statusAttributes['x-ms-status-code'],
    );
  }

  const ADD = KEYS.map((pk) => `addV('t').property('id','${pk}').property('pk','${pk}')`).join('.');

  test('a script that writes several partitions and fails leaves nothing', async () => {
    expect(recordOf(account.service).partitions).toHaveLength(4);
    expect(await statusOf(`g.${ADD}.constant('x').sum()`)).toBe(1000);
    expect(await statusOf(`g.${ADD}; g.V('a').addE('k').to(V('nobody'))`)).toBe(1000);
    expect(await statusOf(`g.${ADD}.addV()`)).toBe(1000);
    expect(await values('g.V().count()')).toEqual([0]);
    await values("g.addV('t').property('id','h').property('pk','h')");
    expect(await statusOf(`g.${ADD}`)).toBe(409);
    expect(await values('g.V().id()')).toEqual(['h']);
    await values('g.V().drop()');
  });

  test('a script that writes several partitions is applied', async () => {
    await values(`g.${ADD}`);
    await values("g.V().hasLabel('t').as('x').V().hasLabel('t').addE('k').from('x')");
    expect(await values('g.V().count()')).toEqual([8]);
    expect(await values('g.E().count()')).toEqual([64]);
    expect(await values("g.V('a').out('k').out('k').count()")).toEqual([64]);
    await values("g.V('a').drop()");
    expect(await values('g.E().count()')).toEqual([49]);
    await values('g.V().drop()');
    expect(await values('g.E().count()')).toEqual([0]);
  });

  test('16 clients that upsert one vertex make one', async () => {
    const upsert =
      "g.V(['u','u']).fold().coalesce(unfold(), addV('u').property('id','u').property('pk','u')).property(list,'by',n)";
    const codes = await Promise.all(
      Array.from({ length: CLIENTS }, (_, n) => statusOf(upsert, { n })),
    );
    expect(codes.filter((code) => code !== 200 && code !== 412)).toEqual([]);
    const [written] = await values("g.V('u').properties('by').count()");
    expect(written).toBe(codes.filter((code) => code === 200).length);
    expect(await values("g.V().hasLabel('u').count()")).toEqual([1]);
    await values('g.V().drop()');
  });

  test('vertices dropped while others add edges to them leave no edge behind', async () => {
    await values(`g.${ADD}`);
    const codes = await Promise.all(
      Array.from({ length: CLIENTS }, async (_, at) => {
        const found: unknown[] = [];
        for (let round = 0; round < 6; round++) {
          const a = KEYS[(at + round) % KEYS.length];
          const b = KEYS[(at * 3 + round) % KEYS.length];
          const script = (at + round) % 5 === 4 ? 'g.V(a).drop()' : "g.V(a).addE('k').to(V(b))";
          found.push(await statusOf(script, { a, b }));
        }
        return found;
      }),
    );
    // 1000: the target of an edge was dropped before.
    expect(codes.flat().filter((code) => ![200, 412, 1000].includes(code as number))).toEqual([]);
    const left = new Set(await values('g.V().id()'));
    const ends = (await values('g.E().bothV().id()')) as string[];
    const stored = await account.container.items
      .query<{ a: string; b: string }>(
        'SELECT c._vertexId AS a, c._sink AS b FROM c WHERE c._isEdge',
      )
      .fetchAll();
    for (const { a, b } of stored.resources)
      expect([a, b].filter((id) => !left.has(id))).toEqual([]);
    expect(ends).toHaveLength(2 * stored.resources.length);
  });
});
