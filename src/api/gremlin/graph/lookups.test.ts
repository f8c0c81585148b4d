// Goal: look-ups go in batches, and through indexes. Method: a graph in four partitions; calls to partitions and loaded
// items are counted.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asyncEngine } from '../../../engine/async-engine.ts';
import type { Engine } from '../../../engine/index.ts';
import { memoryEngine } from '../../../engine/memory/index.ts';
import { sqliteEngine } from '../../../engine/sqlite/index.ts';
import { openWorld, type World } from '../world-suite.ts';

const LAYER = 20;
const directory = mkdtempSync(join(tmpdir(), 'mesocosm-lookups-'));

const ENGINES: readonly (readonly [string, () => Engine])[] = [
  ['memory', memoryEngine],
  ['sqlite', () => sqliteEngine({ directory })],
  ['late', () => asyncEngine(memoryEngine())],
];

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.each(ENGINES)('%s', (_, newEngine) => {
  let world: World;

  /** Three layers of vertices, spread over partition keys; each vertex has an edge to every one of the next layer. */
  beforeAll(async () => {
    world = await openWorld({ hasPeople: false, engine: newEngine() });
    await world.run("g.addV('root').property('id','root').property('pk','root')");
    for (const layer of ['x', 'y'])
      for (let at = 0; at < LAYER; at++)
        await world.run("g.addV(l).property('id',id).property('pk',pk).property('n',at)", {
          l: layer,
          id: `${layer}${at}`,
          pk: `${layer}${at}`,
          at,
        });
    await world.run("g.V('root').as('r').V().hasLabel('x').addE('first').from('r')");
    for (let at = 0; at < LAYER; at++)
      await world.run("g.V(a).addE('second').to(V(b))", { a: `x${at}`, b: `y${at}` });
    await world.run("g.V('x0').as('a').V().hasLabel('y').addE('all').from('a')");
    await world.splitTo(4);
  });

  afterAll(() => world.close());

  test('two hops over four partitions are one call for each partition and hop', async () => {
    const script = "g.V(['root','root']).out('first').out('second').id()";
    expect((await world.plain(script)).length).toBe(LAYER);
    // The root, its edges in its own partition, the edges of twenty vertices in four partitions.
    expect(world.usage.partitionCalls).toBe(1 + 1 + 4);
  });

  test('properties of the last hop are one more call for each partition', async () => {
    const script = "g.V(['root','root']).out('first').out('second').values('n').sum()";
    expect(await world.plain(script)).toEqual([190]);
    expect(world.usage.partitionCalls).toBe(1 + 1 + 4 + 4);
  });

  test('two hops back are one call for each partition and hop', async () => {
    const script = "g.V(['y3','y3']).in('second').in('first').id()";
    expect(await world.plain(script)).toEqual(['root']);
    expect(world.usage.partitionCalls).toBe(1 + 4 + 4);
  });

  test('a nested traversal makes the same calls for many traversers as for one', async () => {
    const script = "g.V(['root','root']).out('first').where(out('second').has('n',lt(3))).id()";
    expect((await world.plain(script)).length).toBe(3);
    expect(world.usage.partitionCalls).toBe(1 + 1 + 4 + 4);
  });

  test('a limit reads no more than it needs', async () => {
    expect(await world.plain('g.V().limit(1).count()')).toEqual([1]);
    expect(world.usage.partitionCalls).toBeLessThanOrEqual(4);
  });

  test('in() reads the edges that reach the vertex, not all', async () => {
    const loaded = async (script: string): Promise<number> => {
      await world.run(script);
      return world.usage.documentsLoaded;
    };
    // One vertex, two edges that reach it.
    expect(await loaded("g.V(['y3','y3']).inE().id()")).toBe(1 + 2);
    expect(await loaded("g.V(['y3','y3']).inE('all').id()")).toBeLessThanOrEqual(1 + 2);
    expect(await loaded("g.V().has('n',7).id()")).toBe(2);
    expect(await loaded("g.V().has('n',gt(17)).id()")).toBeLessThanOrEqual(4);
    expect(await loaded("g.V().hasLabel('root').id()")).toBe(1);
  });

  test('a look-up by id and key reads one item', async () => {
    expect(await world.plain("g.V('x5').has('pk','x5').values('n')")).toEqual([5]);
    expect(world.usage).toMatchObject({ partitionCalls: 1, documentsLoaded: 1 });
    expect(world.usage.charge).toBeGreaterThan(0);
  });

  test('by() of a path looked vertices up one by one', async () => {
    const script =
      "g.V(['root','root']).out('first').out('second').path().by(coalesce(values('n'),constant(0)))";
    const paths = (await world.plain(script)) as number[][];
    expect(paths.map(([, x, y]) => [x, y])).toContainEqual([7, 7]);
    expect(paths.length).toBe(LAYER);
    // Three hops, and the vertices on the ways.
    expect(world.usage.partitionCalls).toBeLessThanOrEqual(1 + 1 + 4 + 4);
  });

  test('by() of a simple path looked vertices up one by one', async () => {
    const script =
      "g.V(['root','root']).out('first').out('second').simplePath().by(coalesce(values('n'),constant(-1))).count()";
    // A vertex and its neighbour have the same number.
    expect(await world.plain(script)).toEqual([0]);
    expect(world.usage.partitionCalls).toBeLessThanOrEqual(1 + 1 + 4 + 4);
  });
});
