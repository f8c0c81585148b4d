// Goal: a query of one partition key without an index reads the items of the key only, in the order of all queries.
// Method: random items without and with an index, queries of every kind in pages, against the items themselves.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executableQuery, parseQuery } from '../../src/api/nosql/sql/index.ts';
import { seededRandom } from '../../src/base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { asyncEngine } from '../../src/engine/async-engine.ts';
import { memoryEngine } from '../../src/engine/memory/index.ts';
import { epkToHex } from '../../src/value/index.ts';
import { EVERYWHERE, parsedRows, World } from './world.ts';

interface Document {
  readonly id: string;
  readonly pk: string;
  readonly n: number;
  readonly tags: readonly number[];
}

const KEYS = 12;

describe.each([
  ['memory', memoryEngine],
  ['async', () => asyncEngine(memoryEngine())],
])('on the %s engine', (_, makeEngine) => {
  let world: World;

  beforeAll(async () => {
    world = await World.open(1, { engine: makeEngine() });
  });

  afterAll(() => world.close());

  async function filled(id: string, seed: number, isIndexed: boolean) {
    const random = seededRandom(seed);
    const policy = isIndexed ? {} : { indexingMode: 'none', automatic: false };
    const container = await world.newContainer(id, {
      indexingPolicy: normalizeIndexingPolicy(policy),
    });
    const documents: Document[] = [];
    for (let at = 0; at < 240; at++) {
      // Half of the items have one key: it has too many for a list.
      const pk = `k${random.below(2) === 0 ? 0 : random.below(KEYS)}`;
      const tags = Array.from({ length: random.below(4) }, () => random.below(9));
      const document = { id: `${random.below(1e9)}`, pk, n: random.below(20), tags };
      await world.create(container, { ...document });
      documents.push(document);
    }
    return { container, documents };
  }

  async function run(container: ContainerRecord, text: string, limit: number, pk?: string) {
    const query = executableQuery(parseQuery(text), { startMs: 0 });
    const place = pk === undefined ? '' : epkToHex(world.service.items.epkOf(container, [pk]));
    const ranges = pk === undefined ? EVERYWHERE : [{ min: place, max: `${place}00` }];
    const rows: unknown[] = [];
    let itemsLoaded = 0;
    for await (const page of world.pages(container, query, limit, ranges)) {
      rows.push(...parsedRows(page));
      itemsLoaded += page.stats.itemsLoaded;
    }
    return { rows, itemsLoaded };
  }

  test.each([1, 2, 3])('the items of one key in pages, seed %d', async (seed) => {
    const { container, documents } = await filled(`keys ${seed}`, seed, false);
    const random = seededRandom(seed + 100);
    for (let round = 0; round < 40; round++) {
      const pk = `k${random.below(KEYS + 1)}`;
      const own = documents.filter((document) => document.pk === pk);
      const matching = own.filter(({ n }) => n < 10);
      const limit = 1 + random.below(30);
      const note = `seed ${seed} round ${round} key ${pk} limit ${limit}`;
      const all = await run(container, 'SELECT VALUE c.id FROM c WHERE c.n < 10', limit, pk);
      expect(all.rows, note).toEqual(matching.map(({ id }) => id));
      const sum = await run(container, 'SELECT VALUE SUM(c.n) FROM c', limit, pk);
      expect(sum.rows, note).toEqual([own.reduce((total, { n }) => total + n, 0)]);
      const sorted = await run(container, 'SELECT VALUE c.n FROM c ORDER BY c.n DESC', limit, pk);
      expect(sorted.rows, note).toEqual(own.map(({ n }) => n).sort((a, b) => b - a));
    }
  });

  test('only items of the key are loaded, unless it has a large part of all', async () => {
    const { container, documents } = await filled('loaded', 9, false);
    for (const pk of ['k3', 'k5', 'nobody']) {
      const own = documents.filter((document) => document.pk === pk).length;
      const { itemsLoaded } = await run(container, 'SELECT * FROM c', 1000, pk);
      expect(itemsLoaded).toBe(own);
    }
    const { itemsLoaded } = await run(container, 'SELECT * FROM c', 1000, 'k0');
    expect(itemsLoaded).toBe(documents.length);
  });

  test.each([4, 5])('IN finds the items of all values once, arrays too, seed %d', async (seed) => {
    const { container, documents } = await filled(`in ${seed}`, seed, true);
    const random = seededRandom(seed);
    for (let round = 0; round < 40; round++) {
      const values = Array.from({ length: 1 + random.below(6) }, () => random.below(25));
      const limit = 1 + random.below(20);
      const note = `seed ${seed} round ${round}`;
      const list = values.join(', ');
      const found = await run(container, `SELECT VALUE c.id FROM c WHERE c.n IN (${list})`, limit);
      expect(found.rows, note).toEqual(
        documents.filter(({ n }) => values.includes(n)).map(({ id }) => id),
      );
      const any = `SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t IN (${list}))`;
      expect((await run(container, any, limit)).rows, note).toEqual(
        documents.filter(({ tags }) => tags.some((t) => values.includes(t))).map(({ id }) => id),
      );
    }
  });
});
