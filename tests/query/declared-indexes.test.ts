// Goal: an index that is declared later is built while the others serve, is used, and leaves nothing behind when it is
// dropped. Method: a service with few items per partition; results with and without the index, and its access paths.
import { describe, expect, test } from 'vitest';
import { executableQuery, parseQuery } from '../../src/api/nosql/sql/index.ts';
import { DomainError } from '../../src/base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { asyncEngine } from '../../src/engine/async-engine.ts';
import { memoryEngine } from '../../src/engine/memory/index.ts';
import { bsonCodec, Extended, type Value, type ValueMap } from '../../src/value/index.ts';
import { parsedRows, World } from './world.ts';

const ENGINES = [
  ['memory', () => memoryEngine()],
  ['delayed', () => asyncEngine(memoryEngine())],
] as const;

const PLAIN = { collation: 'cosmos', isMultikey: false, isSparse: false } as const;
const part = (path: string, isDescending = false) => ({ path, isDescending });

/** No path but the key is indexed automatically. */
const BARE = normalizeIndexingPolicy({ includedPaths: [], excludedPaths: [{ path: '/*' }] });

async function run(
  world: World,
  container: ContainerRecord,
  text: string,
): Promise<{ readonly rows: readonly ValueMap[]; readonly paths: readonly string[] }> {
  const program = executableQuery(parseQuery(text), { parameters: [], startMs: 0 });
  const rows: ValueMap[] = [];
  const paths: string[] = [];
  for await (const page of world.pages(container, program, 100)) {
    rows.push(...parsedRows<ValueMap>(page));
    paths.push(...page.stats.accessPaths);
  }
  return { rows, paths: [...new Set(paths)] };
}

async function filled(world: World, policy = BARE, count = 300): Promise<ContainerRecord> {
  const container = await world.newContainer('c', { indexingPolicy: policy });
  for (let id = 0; id < count; id++)
    await world.create(container, {
      id: String(id),
      pk: `p${id % 7}`,
      city: `city ${id % 10}`,
      age: id % 50,
      tags: [`t${id % 3}`, `t${id % 20}`],
      ...(id % 4 === 0 ? { rare: id } : {}),
    });
  return container;
}

describe.each(ENGINES)('on the %s engine', (_, engine) => {
  test('equal values of the first part and a range of the second are read from the index', async () => {
    const world = await World.open(1, { engine: engine() });
    const made = await filled(world);
    const text = "SELECT VALUE c.id FROM c WHERE c.city = 'city 3' AND c.age >= 13 AND c.age < 33";
    const before = await run(world, made, text);
    expect(before.paths).toEqual(['scan']);
    const { container, index } = await world.service.indexes.create(made, {
      ...PLAIN,
      parts: [part('/city'), part('/age', true)],
    });
    await world.service.indexes.whenBuilt(container, index.id);
    const after = await run(world, container, text);
    expect(after.rows).toEqual(before.rows);
    expect(after.rows.length).toBe(12);
    expect(after.paths).toEqual(['declared index on 2 of 2 parts']);
    await world.close();
  });

  test('rows are read in the order of the rest of an index behind equal values', async () => {
    const world = await World.open(2, { engine: engine() });
    const made = await filled(world);
    const { container, index } = await world.service.indexes.create(made, {
      ...PLAIN,
      parts: [part('/city'), part('/age')],
    });
    await world.service.indexes.whenBuilt(container, index.id);
    const { rows } = await run(
      world,
      container,
      "SELECT VALUE [c.age, c.id] FROM c WHERE c.city = 'city 3' ORDER BY c.age DESC",
    );
    const ages = rows.map((row) => (row as unknown as readonly number[])[0]);
    expect(ages.length).toBe(30);
    expect(ages).toEqual([...ages].sort((a, b) => (b as number) - (a as number)));
    await world.close();
  });

  test('a declared index is built while the automatic one serves', async () => {
    const world = await World.open(3, { engine: engine() });
    const made = await filled(world, normalizeIndexingPolicy({}));
    const { container, index } = await world.service.indexes.create(made, {
      ...PLAIN,
      parts: [part('/age'), part('/city')],
    });
    const during = await run(world, container, "SELECT VALUE c.id FROM c WHERE c.city = 'city 4'");
    expect(during.paths).toEqual(['index /city = one value']);
    await world.service.indexes.whenBuilt(container, index.id);
    expect(await world.service.indexes.builds(container)).toEqual([
      { id: index.id, percent: 100, isFailed: false },
    ]);
    await world.close();
  });

  test('a unique index that is declared later refuses what violates it', async () => {
    const world = await World.open(4, { engine: engine() });
    const made = await filled(world, BARE, 20);
    const { container, index } = await world.service.indexes.create(made, {
      ...PLAIN,
      parts: [part('/id'), part('/city')],
      unique: 'partitionKey',
    });
    await world.service.indexes.whenBuilt(container, index.id);
    const second = await world.service.indexes.create(container, {
      ...PLAIN,
      name: 'age_1',
      parts: [part('/age')],
      unique: 'partitionKey',
    });
    await world.service.indexes.whenBuilt(second.container, second.index.id);
    const refused = await world
      .create(second.container, { id: 'x', pk: 'p1', age: 8 })
      .catch((error: DomainError) => error);
    expect(refused).toBeInstanceOf(DomainError);
    expect(refused).toMatchObject({
      code: 'uniqueKeyViolation',
      details: { indexId: second.index.id, values: { '/age': 8 } },
    });
    await world.create(second.container, { id: 'x', pk: 'p2', age: 8 });
    await world.close();
  });

  test('a build continues when the service is opened again', async () => {
    const shared = engine();
    const world = await World.open(8, { engine: shared });
    const made = await filled(world);
    const parts = [part('/city'), part('/age')];
    const { index } = await world.service.indexes.create(made, { ...PLAIN, parts });
    await world.close();
    const again = await World.reopen(8, { engine: shared });
    const { databaseRid, rid } = made;
    const container = again.service.containers.findByRid(databaseRid, rid) as ContainerRecord;
    await again.service.indexes.whenBuilt(container, index.id);
    const text = "SELECT VALUE c.id FROM c WHERE c.city = 'city 3' AND c.age = 13";
    const found = await run(again, container, text);
    expect(found).toEqual({
      rows: ['13', '63', '113', '163', '213', '263'],
      paths: ['declared index on 2 of 2 parts'],
    });
    await again.close();
  });

  test('a unique index that items violate fails, and others go on', async () => {
    const world = await World.open(5, { engine: engine() });
    const made = await filled(world, BARE, 100);
    const { container, index } = await world.service.indexes.create(made, {
      ...PLAIN,
      parts: [part('/nothing')],
      unique: 'partitionKey',
    });
    await expect(world.service.indexes.whenBuilt(container, index.id)).rejects.toMatchObject({
      code: 'uniqueKeyViolation',
    });
    const dropped = await world.service.indexes.drop(container, index.id);
    await world.create(dropped, { id: 'x', pk: 'p1' });
    await world.close();
  });

  test('multikey and sparse indexes find what they should', async () => {
    const world = await World.open(6, { engine: engine() });
    const made = await filled(world);
    const tags = await world.service.indexes.create(made, {
      ...PLAIN,
      isMultikey: true,
      parts: [part('/tags')],
    });
    const rare = await world.service.indexes.create(tags.container, {
      ...PLAIN,
      isSparse: true,
      parts: [part('/rare')],
    });
    const { container } = rare;
    for (const { id } of [tags.index, rare.index])
      await world.service.indexes.whenBuilt(container, id);
    const found = await run(world, container, 'SELECT VALUE c.id FROM c WHERE c.rare > 290');
    expect(found.rows).toEqual(['292', '296']);
    expect(found.paths).toEqual(['declared index on 1 of 1 parts']);
    const everything = await run(world, container, 'SELECT VALUE c.id FROM c WHERE c.age = 7');
    expect(everything.rows.length).toBe(6);
    await world.close();
  });

  test('an index with a filter serves queries that say the same, and no others', async () => {
    const world = await World.open(10, { engine: engine() });
    const made = await filled(world);
    const { container, index } = await world.service.indexes.create(made, {
      ...PLAIN,
      parts: [part('/age')],
      filter: [{ path: '/city', kind: 'compare', comparison: '=', value: 'city 3' }],
    });
    await world.service.indexes.whenBuilt(container, index.id);
    const select = 'SELECT VALUE c.id FROM c WHERE c.age = 13';
    const same = await run(world, container, `${select} AND c.city = 'city 3'`);
    expect(same).toEqual({
      rows: ['13', '63', '113', '163', '213', '263'],
      paths: ['declared index on 1 of 1 parts'],
    });
    await world.create(container, { id: 'other', pk: 'p0', city: 'city 4', age: 13 });
    const other = await run(world, container, `${select} AND c.city = 'city 4'`);
    expect(other).toEqual({ rows: ['other'], paths: ['scan'] });
    const all = await run(world, container, select);
    expect([all.rows.length, all.paths]).toEqual([7, ['scan']]);
    await world.close();
  });

  test('a composite index that comes or goes does not stop the others', async () => {
    const world = await World.open(7, { engine: engine() });
    const composite = (paths: readonly string[]) => paths.map((path) => ({ path }));
    const policy = (...lists: readonly (readonly string[])[]) =>
      normalizeIndexingPolicy({ compositeIndexes: lists.map(composite) });
    const made = await filled(world, policy(['/city', '/age']));
    const first = made.indexes?.[0];
    const changed = await world.service.containers.replace(made, {
      indexingPolicy: policy(['/age', '/city'], ['/city', '/age']),
      policies: {},
    });
    expect(changed.indexes?.map(({ id }) => id)).toEqual([2, first?.id]);
    const ordered = 'SELECT VALUE c.id FROM c ORDER BY c.city, c.age';
    expect((await run(world, changed, ordered)).paths).toEqual(['composite index in order']);
    for (const { id } of changed.indexes ?? []) await world.service.indexes.whenBuilt(changed, id);
    const dropped = await world.service.containers.replace(changed, {
      indexingPolicy: policy(['/city', '/age']),
      policies: {},
    });
    expect((await run(world, dropped, ordered)).paths).toEqual(['composite index in order']);
    await world.close();
  });

  test('who waits for an index that is not complete may stop to wait', async () => {
    const world = await World.open(12, { engine: engine() });
    const made = await filled(world);
    const { container, index } = await world.service.indexes.create(made, {
      ...PLAIN,
      parts: [part('/city')],
    });
    const stopped = new DomainError('queryTimeout', 'The time is over.');
    const check = () => {
      throw stopped;
    };
    await expect(world.service.indexes.whenBuilt(container, index.id, check)).rejects.toBe(stopped);
    await world.service.indexes.whenBuilt(container, index.id);
    await world.close();
  });

  test('composite indexes and unique keys of a policy are indexes with ids for life', async () => {
    const world = await World.open(11, { engine: engine() });
    const made = await world.newContainer('c', {
      indexingPolicy: normalizeIndexingPolicy({
        compositeIndexes: [[{ path: '/city' }, { path: '/age', order: 'descending' }]],
      }),
      uniqueKeys: [{ paths: ['/age'] }],
    });
    expect(made.indexes).toEqual([
      { ...PLAIN, id: 1, origin: 'composite', parts: [part('/city'), part('/age', true)] },
      { ...PLAIN, id: 2, origin: 'uniqueKey', parts: [part('/age')], unique: 'partitionKey' },
    ]);
    await world.create(made, { id: '1', pk: 'p', age: 5 });
    await expect(world.create(made, { id: '2', pk: 'p', age: 5 })).rejects.toMatchObject({
      code: 'uniqueKeyViolation',
      details: { indexId: 2, values: { '/age': 5 } },
    });
    await world.close();
  });

  test('items expire by a date of their own', async () => {
    const home = { name: 'mongo', codec: bsonCodec } as const;
    const world = await World.open(9, { engine: engine(), homes: [home], sweepIntervalMs: 0 });
    const made = await world.newContainer('c', { home: 'mongo', indexingPolicy: BARE });
    const dateAt = (ms: number) => new Extended({ kind: 'date', ms });
    const nowMs = world.clock.nowMs();
    const items: readonly (readonly [string, Value])[] = [
      ['over', dateAt(nowMs - 11_000)],
      ['not yet', dateAt(nowMs - 9000)],
      ['none', 'a text'],
      ['of several', [dateAt(nowMs + 1000), dateAt(nowMs - 20_000)]],
    ];
    for (const [id, at] of items)
      await world.service.items.write(made, {
        kind: 'create',
        partitionKey: ['p'],
        rowKey: [id],
        body: bsonCodec.encode({ _id: id, pk: 'p', at }),
        ttlSec: 0,
      });
    const { container, index } = await world.service.indexes.create(made, {
      ...PLAIN,
      isMultikey: true,
      parts: [part('/at')],
      expireAfterSec: 10,
    });
    await world.service.indexes.whenBuilt(container, index.id);
    const left = async (): Promise<readonly string[]> => {
      await world.service.expirySweeper.round();
      const page = await world.service.items.scan(container, { partitionKey: ['p'], limit: 10 });
      return page.items.map(({ body }) => (bsonCodec.decode(body) as ValueMap)._id as string);
    };
    expect(await left()).toEqual(['none', 'not yet']);
    world.clock.advance(1000);
    expect(await left()).toEqual(['none']);
    await world.close();
  });
});
