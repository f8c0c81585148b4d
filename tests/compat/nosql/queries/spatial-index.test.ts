// Goal: spatial functions find the same items with a spatial index and without, and read few with one.
// Method: a grid of points and areas in containers that differ in their policy only, through the stock client.
import type { Container } from '@azure/cosmos';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, startAccount } from '../harness.ts';
import { sendRaw } from '../raw-request.ts';

let account: Account;

beforeAll(async () => {
  account = await startAccount();
  await account.client().databases.create({ id: 'db' });
});
afterAll(async () => {
  expect(account.failures).toEqual([]);
  await account.close();
});

const SIDE = 20;
const square = (x: number, y: number, size: number) => [
  [x, y],
  [x + size, y],
  [x + size, y + size],
  [x, y + size],
  [x, y],
];
/** A point at every whole degree, and around every fifth a small area. */
const ITEMS = Array.from({ length: SIDE * SIDE }, (_, at) => {
  const [x, y] = [at % SIDE, Math.floor(at / SIDE)];
  return {
    id: `${x} ${y}`,
    at: { type: 'Point', coordinates: [x, y] },
    ...(at % 5 === 0 && {
      areas: [{ area: { type: 'Polygon', coordinates: [square(x + 0.2, y + 0.2, 0.5)] } }],
    }),
  };
});

const point = (x: number, y: number) => `{"type": "Point", "coordinates": [${x}, ${y}]}`;
const area = JSON.stringify({ type: 'Polygon', coordinates: [square(2.5, 2.5, 2)] });

/** Queries, how many rows they have on the Earth and in the plane, and how many items may be read at most. */
const QUERIES: readonly (readonly [filter: string, earth: number, plane: number, most: number])[] =
  [
    [`ST_DISTANCE(c.at, ${point(7, 7)}) = 0`, 1, 1, 2],
    [`ST_DISTANCE(c.at, ${point(7, 7)}) < 1.5`, 1, 9, 12],
    [`ST_DISTANCE(${point(7, 7)}, c.at) <= 112000`, 5, SIDE * SIDE, SIDE * SIDE],
    [`ST_WITHIN(c.at, ${area})`, 4, 4, 20],
    [`ST_INTERSECTS(c.at, ${area}) AND c.id > "4"`, 2, 2, 20],
    [
      `EXISTS(SELECT VALUE a FROM a IN c.areas WHERE ST_INTERSECTS(${point(5.5, 3.5)}, a.area))`,
      1,
      1,
      20,
    ],
    [`ST_DISTANCE(c.at, {"type": "Point"}) < 5`, 0, 0, 0],
  ];

const SPATIAL_TYPES = ['Point', 'Polygon'];

describe.each(['Geography', 'Geometry'] as const)('%s', (type) => {
  let indexed: Container;
  let plain: Container;

  beforeAll(async () => {
    const make = async (id: string, hasIndex: boolean) => {
      const box = { xmin: 0, ymin: 0, xmax: 50, ymax: 50 };
      const spatialIndexes = ['/at/*', '/areas/[]/area/?'].map((path) => ({
        path,
        types: SPATIAL_TYPES,
        ...(type === 'Geometry' && { boundingBox: box }),
      }));
      const { container } = await account
        .client()
        .database('db')
        .containers.create({
          id,
          partitionKey: '/id',
          geospatialConfig: { type },
          indexingPolicy: {
            includedPaths: [{ path: '/*' }],
            ...(hasIndex && { spatialIndexes }),
          },
        } as object);
      await Promise.all(ITEMS.map((item) => container.items.create(item)));
      return container;
    };
    indexed = await make(`${type}-indexed`, true);
    plain = await make(`${type}-plain`, false);
  });

  const run = async (container: Container, filter: string) => {
    const { headers, json } = await sendRaw(account, {
      method: 'POST',
      path: `/dbs/db/colls/${container.id}/docs`,
      headers: {
        'x-ms-documentdb-isquery': 'true',
        'x-ms-documentdb-query-enablecrosspartition': 'true',
        'content-type': 'application/query+json',
        'x-ms-documentdb-populatequerymetrics': 'true',
        'x-ms-max-item-count': '1000',
      },
      body: { query: `SELECT VALUE c.id FROM c WHERE ${filter}` },
    });
    const metrics = String(headers['x-ms-documentdb-query-metrics']);
    return {
      // Without an order: items were created at once, in either container in another order.
      ids: (json.Documents as string[]).sort(),
      read: Number(/retrievedDocumentCount=(\d+)/.exec(metrics)?.[1]),
    };
  };

  test.each(QUERIES)('%s', async (filter, earth, plane, most) => {
    const found = await run(indexed, filter);
    expect(found.ids).toHaveLength(type === 'Geography' ? earth : plane);
    expect(found.read).toBeLessThanOrEqual(most);
    const all = await run(plain, filter);
    expect(all.ids).toEqual(found.ids);
  });

  test('an item that moves is found where it is', async () => {
    const item = { id: 'mover', at: { type: 'Point', coordinates: [40, 40] } };
    await indexed.items.create(item);
    const here = `ST_DISTANCE(c.at, ${point(40, 40)}) < 1`;
    const there = `ST_DISTANCE(c.at, ${point(30, 30)}) < 1`;
    expect((await run(indexed, here)).ids).toEqual(['mover']);
    await indexed
      .item('mover', 'mover')
      .replace({ ...item, at: { type: 'Point', coordinates: [30, 30] } });
    expect((await run(indexed, here)).ids).toEqual([]);
    expect((await run(indexed, there)).ids).toEqual(['mover']);
    await indexed.item('mover', 'mover').delete();
    expect((await run(indexed, there)).ids).toEqual([]);
  });
});
