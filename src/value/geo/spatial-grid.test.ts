/**
 * Goal: every geometry within a distance is found by its cells, and few others. Method: seeded random geometries of
 * every kind and size, with rings that cross themselves or are clockwise, near poles and the date line; the functions
 * of the queries decide.
 */
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../base/index.ts';
import type { Value } from '../value.ts';
import { namesAround } from './cell.ts';
import { earth } from './earth.ts';
import { parseGeoJson } from './geo-json.ts';
import { plane } from './plane.ts';
import { distance } from './relations.ts';
import type { Space } from './space.ts';
import { earthGrid, planeGrid, type SpatialGrid } from './spatial-grid.ts';

const SEED = 20261115;
const PAIRS = process.env.MESOCOSM_LONG === '1' ? 20_000 : 300;

type Pair = readonly [number, number];

/** A geometry around a point, of the given size. */
function randomGeometry(random: Random, centre: Pair, size: number, clamp: (pair: Pair) => Pair) {
  const near = (): Pair =>
    clamp([
      centre[0] + (random.below(2001) / 1000 - 1) * size,
      centre[1] + (random.below(2001) / 1000 - 1) * size,
    ]);
  const some = (count: number): Pair[] => Array.from({ length: count }, near);
  const star = (): Pair[] => {
    const count = 3 + random.below(5);
    const sign = random.below(8) === 0 ? -1 : 1;
    const ring = Array.from({ length: count }, (_, at): Pair => {
      const angle = (sign * 2 * Math.PI * at) / count;
      const far = (size * (300 + random.below(700))) / 1000;
      return clamp([centre[0] + far * Math.cos(angle), centre[1] + far * Math.sin(angle)]);
    });
    return [...ring, ring[0] as Pair];
  };
  const tangle = (): Pair[] => {
    const ring = some(4 + random.below(3));
    return [...ring, ring[0] as Pair];
  };
  switch (random.below(7)) {
    case 0:
    case 1:
      return { type: 'Point', coordinates: near() };
    case 2:
      return { type: 'LineString', coordinates: some(2 + random.below(4)) };
    case 3:
      return { type: 'Polygon', coordinates: [tangle()] };
    case 4:
      return { type: 'MultiPoint', coordinates: some(1 + random.below(4)) };
    case 5:
      return { type: 'MultiPolygon', coordinates: [[star()], [star()]] };
    default:
      return { type: 'Polygon', coordinates: [star()] };
  }
}

function overlap(cells: readonly string[], others: readonly string[]): boolean {
  return cells.some((cell) =>
    others.some((other) => cell.startsWith(other) || namesAround(other).includes(cell)),
  );
}

interface World<Point> {
  readonly space: Space<Point>;
  readonly grid: SpatialGrid;
  readonly sizes: readonly number[];
  /** Distance units per coordinate unit. */
  readonly unit: number;
  centre(random: Random): Pair;
  clamp(pair: Pair): Pair;
}

function check<Point>(world: World<Point>, seed: number): void {
  const random = seededRandom(seed);
  const { space, grid, sizes, unit } = world;
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
  let found = 0;
  let near = 0;
  for (let pair = 0; pair < PAIRS; pair++) {
    const centre = world.centre(random);
    const size = pick(sizes);
    const a = randomGeometry(random, centre, pick(sizes), world.clamp) as unknown as Value;
    const aside: Pair = world.clamp([centre[0] + (random.below(401) / 100 - 2) * size, centre[1]]);
    const b = randomGeometry(random, aside, size, world.clamp) as unknown as Value;
    const within = pick([0, size * unit, size * unit * 3]);
    const left = parseGeoJson(a, space);
    const right = parseGeoJson(b, space);
    if (left.kind === 'invalid' || right.kind === 'invalid') continue;
    const cells = grid.cellsNear(b, within);
    const isCandidate = cells === 'everywhere' || overlap(grid.cellsOf(a), cells ?? []);
    const isNear = distance(space, left.shape, right.shape) <= within;
    if (isNear && !isCandidate)
      expect.fail(`seed ${seed}, pair ${pair}: ${JSON.stringify({ a, b, within })}`);
    if (isCandidate) found++;
    if (isNear) near++;
  }
  expect(near).toBeGreaterThan(PAIRS / 10);
  expect(found).toBeLessThan(near + PAIRS / 3);
}

describe('cells', () => {
  it(`find what is near on the Earth (seed ${SEED})`, () => {
    const clamp = ([x, y]: Pair): Pair => [
      x > 180 ? x - 360 : x < -180 ? x + 360 : x,
      Math.max(-90, Math.min(90, y)),
    ];
    const centres: readonly Pair[] = [
      [12.5, 55.6],
      [179.99, 10],
      [-180, -45],
      [0, 0],
      [45, 35.26],
      [30, 89.99],
      [0, -90],
      [90, 0],
    ];
    check(
      {
        space: earth,
        grid: earthGrid,
        sizes: [0.00001, 0.001, 0.1, 1, 10, 40],
        unit: 111_000,
        centre: (random) => centres[random.below(centres.length)] as Pair,
        clamp,
      },
      SEED,
    );
  });

  it(`find what is near in the plane (seed ${SEED})`, () => {
    check(
      {
        space: plane,
        grid: planeGrid({ xmin: -100, ymin: 0, xmax: 100, ymax: 50 }),
        sizes: [0.0001, 0.01, 1, 10, 60],
        unit: 1,
        centre: (random) => [random.below(220) - 110, random.below(60) - 5],
        clamp: (pair) => pair,
      },
      SEED,
    );
  });

  it('are few: one for a point, none for values that are no geometry', () => {
    expect(earthGrid.cellsOf({ type: 'Point', coordinates: [12.5, 55.6] })).toHaveLength(1);
    expect(earthGrid.cellsOf({ type: 'Point', coordinates: [12.5, 155.6] })).toEqual([]);
    expect(earthGrid.cellsOf('text')).toEqual([]);
    expect(earthGrid.cellsNear({ type: 'Point' }, 1)).toBe(undefined);
    const square = [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
      [0, 0],
    ];
    const cells = earthGrid.cellsOf({ type: 'Polygon', coordinates: [square] });
    expect(cells.length).toBeLessThanOrEqual(10);
    const turned = earthGrid.cellsOf({ type: 'Polygon', coordinates: [square.toReversed()] });
    expect(overlap(earthGrid.cellsOf({ type: 'Point', coordinates: [100, -50] }), turned)).toBe(
      true,
    );
  });
});
