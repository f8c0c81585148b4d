/** The cells of a spatial index: those of a geometry, and those in which geometries near another one have theirs. */
import type { Value } from '../value.ts';
import { leafAt, nameOf } from './cell.ts';
import { coveringOf, type Grid } from './covering.ts';
import { type Direction, earth } from './earth.ts';
import { parseGeoJson, type Shape } from './geo-json.ts';
import { type PlanePoint, plane } from './plane.ts';
import { cornersOf } from './relations.ts';
import type { Space } from './space.ts';

export interface SpatialGrid {
  /** The cells by which a geometry is found; none where the value is no valid GeoJSON. */
  cellsOf(value: Value): readonly string[];
  /**
   * Cells such that every geometry within that distance has one of them, one inside them, or one that contains one of
   * them. `everywhere` if it can be any geometry; undefined if the value is no valid GeoJSON.
   */
  cellsNear(value: Value, distance: number): readonly string[] | 'everywhere' | undefined;
}

export interface Box {
  readonly xmin: number;
  readonly ymin: number;
  readonly xmax: number;
  readonly ymax: number;
}

/** Every cell of an item is an entry of its index. */
const ITEM_CELLS_MAX = 10;
/** Every cell of a search is a range to read, and a few single cells around it. */
const SEARCH_CELLS_MAX = 24;

/** The cell of geometries that are not completely in the box. Every search reads it. */
const OUTSIDE = '!';

/** A position in a root; undefined for a point outside all roots. */
type Locate<Point> = (point: Point) => readonly [root: number, x: number, y: number] | undefined;

/** The cells of shapes in one space. */
export interface ShapeGrid<Point> {
  /** The cells by which a shape is found. */
  cellsOf(shape: Shape<Point>): readonly string[];
  /** As `cellsNear` of a spatial grid. `reach` is a gap. */
  cellsNear(shape: Shape<Point>, reach: number): readonly string[] | 'everywhere';
}

function shapeGrid<Point>(
  grid: Grid<Point>,
  locate: Locate<Point>,
  isBounded: boolean,
): ShapeGrid<Point> {
  const { space } = grid;
  const everywhere = Array.from({ length: grid.rootCount }, (_, root) =>
    nameOf({ root, level: 0, column: 0, row: 0 }),
  );
  /** Whether the shape reaches outside of all cells. */
  const leaves = (shape: Shape<Point>): boolean =>
    isBounded &&
    (cornersOf(shape).some((corner) => locate(corner) === undefined) ||
      shape.regions.some(([outer]) => outer && !space.isCounterClockwise(outer)));
  return {
    cellsOf(shape) {
      const [point, ...others] = shape.points;
      const isOne = others.length + shape.lines.length + shape.regions.length === 0;
      const position = point !== undefined && isOne ? locate(point) : undefined;
      if (position !== undefined) return [nameOf(leafAt(...position))];
      if (leaves(shape)) return [OUTSIDE];
      return coveringOf(grid, shape, { reach: 0, cellsMax: ITEM_CELLS_MAX }) ?? everywhere;
    },
    cellsNear(shape, reach) {
      const cells = coveringOf(grid, shape, { reach, cellsMax: SEARCH_CELLS_MAX });
      if (cells === undefined) return 'everywhere';
      return isBounded ? [...cells, OUTSIDE] : cells;
    },
  };
}

/** The cells of geometries that are written as GeoJSON. */
function spatialGrid<Point>(space: Space<Point>, shapes: ShapeGrid<Point>): SpatialGrid {
  return {
    cellsOf(value) {
      const parsed = parseGeoJson(value, space);
      return parsed.kind === 'invalid' ? [] : shapes.cellsOf(parsed.shape);
    },
    cellsNear(value, distance) {
      const parsed = parseGeoJson(value, space);
      if (parsed.kind === 'invalid') return undefined;
      return shapes.cellsNear(parsed.shape, Math.max(0, space.gapOf(distance)));
    },
  };
}

const QUARTER_TURN = Math.PI / 4;

/**
 * Directions from the centre of the Earth, projected on the six sides of a cube: lines on a side are great circles.
 * The tangent makes cells of one level nearly the same size everywhere.
 */
const cubeOf = (space: Space<Direction>): Grid<Direction> => ({
  space,
  rootCount: 6,
  margin: 1e-8,
  pointAt(root, x, y) {
    const u = Math.tan((2 * x - 1) * QUARTER_TURN);
    const v = Math.tan((2 * y - 1) * QUARTER_TURN);
    const length = Math.hypot(1, u, v);
    const [a, b, c] = [(root < 3 ? 1 : -1) / length, u / length, v / length];
    switch (root % 3) {
      case 0:
        return [a, b, c];
      case 1:
        return [b, a, c];
      default:
        return [b, c, a];
    }
  },
});

function locateOnCube([x, y, z]: Direction): readonly [root: number, x: number, y: number] {
  const [ax, ay, az] = [Math.abs(x), Math.abs(y), Math.abs(z)];
  const [axis, a, b, c] =
    ax >= ay && ax >= az ? [0, x, y, z] : ay >= az ? [1, y, x, z] : [2, z, x, y];
  const coordinate = (part: number) => (Math.atan(part / Math.abs(a)) / QUARTER_TURN + 1) / 2;
  return [axis + (a < 0 ? 3 : 0), coordinate(b), coordinate(c)];
}

/** The grid of geography coordinates. */
export const earthGrid: SpatialGrid = spatialGrid(earth, directionGrid(earth));

/** The grid of directions from a centre, in a space of them. */
export function directionGrid(space: Space<Direction>): ShapeGrid<Direction> {
  return shapeGrid(cubeOf(space), locateOnCube, false);
}

/** The grid of geometry coordinates in a box. */
export function planeGrid(box: Box): SpatialGrid {
  return spatialGrid(plane, boxGrid(box));
}

/** The grid of shapes in a box of the plane. */
export function boxGrid({ xmin, ymin, xmax, ymax }: Box): ShapeGrid<PlanePoint> {
  const width = xmax - xmin;
  const height = ymax - ymin;
  const largest = Math.max(...[xmin, ymin, xmax, ymax, width, height].map(Math.abs));
  const grid: Grid<PlanePoint> = {
    space: plane,
    rootCount: 1,
    margin: largest * 1e-9,
    pointAt: (_, x, y) => ({ x: xmin + x * width, y: ymin + y * height }),
  };
  const locate: Locate<PlanePoint> = ({ x, y }) =>
    x >= xmin && x <= xmax && y >= ymin && y <= ymax
      ? [0, (x - xmin) / width, (y - ymin) / height]
      : undefined;
  return shapeGrid(grid, locate, true);
}
