/** `$geoWithin` and `$geoIntersects` as tests of a document's value. */
import {
  type Bson,
  type Direction,
  intersects,
  isArray,
  isDocument,
  isWithin,
  type PlanePoint,
  plane,
  type Shape,
} from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import { printBson } from '../../bson/print.ts';
import {
  bad,
  type Geometry,
  type Pair,
  parseGeoJson,
  planePoint,
  queryGeometry,
  queryPair,
  sphere,
  storedGeometry,
} from './geometry.ts';

type GeoTest = (value: Bson | undefined) => boolean;

/** A shape that everything which passes a test comes near to. `reach` is an angle, or a length in the plane. */
export type GeoArea =
  | { readonly kind: 'sphere'; readonly shape: Shape<Direction>; readonly reach: number }
  | { readonly kind: 'plane'; readonly shape: Shape<PlanePoint>; readonly reach: number };

export interface GeoSearch {
  readonly test: GeoTest;
  /** Undefined where places are not limited. */
  readonly area: GeoArea | undefined;
}

/** A test of geometries, and where those that pass it are. */
interface GeometrySearch {
  readonly test: GeometryTest;
  readonly area: GeoArea | undefined;
}
type GeometryTest = (geometry: Geometry) => boolean;

/** Options beside the shape that mean nothing any more. */
const IGNORED: ReadonlySet<string> = new Set(['$uniqueDocs']);

export function parseGeoWithin(name: string, sent: Bson): GeoSearch {
  if (!isDocument(sent)) throw bad(`${name} must be an object: ${printBson(sent)}`);
  let test: GeometrySearch | undefined;
  for (const [shape, argument] of sent) {
    if (IGNORED.has(shape)) continue;
    if (test !== undefined) throw bad(`${name} has more than one shape`);
    test = withinShape(shape, argument);
  }
  if (test === undefined)
    throw bad(`${name} not supported with provided geometry: ${printBson(sent)}`);
  return tested(test);
}

function tested({ test, area }: GeometrySearch): GeoSearch {
  return {
    test(value) {
      const geometry = storedGeometry(value);
      return geometry !== undefined && test(geometry);
    },
    area,
  };
}

function withinShape(shape: string, argument: Bson): GeometrySearch {
  switch (shape) {
    case '$geometry':
      return withinGeometry(argument);
    case '$box':
      return withinBox(argument);
    case '$polygon':
      return withinPolygon(argument);
    case '$center':
      return withinCenter(argument);
    case '$centerSphere':
      return withinCap(argument);
    default:
      throw bad(`unknown geo specifier: ${shape}: ${printBson(argument)}`);
  }
}

function withinGeometry(argument: Bson): GeometrySearch {
  if (!isDocument(argument)) throw bad(`unknown GeoJSON type: ${printBson(argument)}`);
  const outer = parseGeoJson(argument);
  if (outer.type !== 'Polygon' && outer.type !== 'MultiPolygon')
    throw bad(`$geoWithin not supported with provided geometry: ${printBson(argument)}`);
  const shape = outer.shape as Shape<Direction>;
  return {
    test: (inner) => inner.shape !== undefined && isWithin(sphere, inner.shape, shape),
    area: { kind: 'sphere', shape, reach: 0 },
  };
}

/** Flat shapes hold points only. */
function flat(
  shape: Shape<PlanePoint>,
  reach: number,
  holds: (point: PlanePoint) => boolean,
): GeometrySearch {
  return {
    test: ({ pair }) => pair !== undefined && holds(planePoint(pair)),
    area: { kind: 'plane', shape, reach },
  };
}

/** The box around some corners; a line or a point where it has no area. */
function boxAround(corners: readonly PlanePoint[]): Shape<PlanePoint> {
  const low = { x: Infinity, y: Infinity };
  const high = { x: -Infinity, y: -Infinity };
  for (const { x, y } of corners) {
    low.x = Math.min(low.x, x);
    low.y = Math.min(low.y, y);
    high.x = Math.max(high.x, x);
    high.y = Math.max(high.y, y);
  }
  if (low.x === high.x || low.y === high.y)
    return { points: [low, high], lines: [[low, high]], regions: [] };
  const ring = [low, { x: high.x, y: low.y }, high, { x: low.x, y: high.y }, low];
  return { points: [], lines: [], regions: [[ring]] };
}

function withinBox(argument: Bson): GeometrySearch {
  const corners = cornersOf(argument, '$box');
  if (corners.length < 2) throw bad('Point must be an array or object');
  const [a, b] = corners as readonly [Pair, Pair];
  const [xMin, xMax] = [Math.min(a[0], b[0]), Math.max(a[0], b[0])];
  const [yMin, yMax] = [Math.min(a[1], b[1]), Math.max(a[1], b[1])];
  return flat(
    boxAround([planePoint(a), planePoint(b)]),
    0,
    ({ x, y }) => x >= xMin && x <= xMax && y >= yMin && y <= yMax,
  );
}

function cornersOf(argument: Bson, shape: string): readonly Pair[] {
  const list = isArray(argument)
    ? argument
    : isDocument(argument)
      ? [...argument.values()]
      : undefined;
  if (list === undefined) throw bad(`unknown geo specifier: ${shape}: ${printBson(argument)}`);
  return list.map((corner) => queryPair(corner, 'Point'));
}

function withinPolygon(argument: Bson): GeometrySearch {
  const corners = cornersOf(argument, '$polygon').map(planePoint);
  if (corners.length < 3) throw bad('Polygon must have at least 3 points');
  const ring = [...corners, corners[0] as PlanePoint];
  // A ring may cross itself, or turn either way.
  return flat(boxAround(corners), 0, (point) => plane.ringHolds(ring, point));
}

function circleOf(
  argument: Bson,
  shape: string,
): { readonly center: Pair; readonly radius: number } {
  const list = isArray(argument)
    ? argument
    : isDocument(argument)
      ? [...argument.values()]
      : undefined;
  if (list === undefined) throw bad(`unknown geo specifier: ${shape}: ${printBson(argument)}`);
  const [center, radius] = list;
  const pair = queryPair(center, 'Point');
  if (radius === undefined || !isNumber(radius)) throw bad('radius must be a non-negative number');
  const number = doubleOf(radius);
  if (!(number >= 0)) throw bad('radius must be a non-negative number');
  if (list.length > 2) throw bad('Only 2 fields allowed for circular region');
  return { center: pair, radius: number };
}

function withinCenter(argument: Bson): GeometrySearch {
  const { center, radius } = circleOf(argument, '$center');
  const middle = planePoint(center);
  const at = { points: [middle], lines: [], regions: [] };
  return flat(at, radius, (point) => plane.distance(middle, point) <= radius);
}

/** Allows for the rounding of points on the edge. */
const ROUNDING = 1e-12;

function withinCap(argument: Bson): GeometrySearch {
  const { center, radius } = circleOf(argument, '$centerSphere');
  const middle = sphere.toPoint(center[0], center[1]);
  if (middle === undefined)
    throw bad(`longitude/latitude is out of bounds, lng: ${center[0]} lat: ${center[1]}`);
  if (radius >= Math.PI) return { test: ({ shape }) => shape !== undefined, area: undefined };
  const test: GeometryTest = ({ shape }) => {
    if (shape === undefined) return false;
    const corners = [...shape.points, ...shape.lines.flat(), ...shape.regions.flat(2)];
    return corners.every((corner) => sphere.gap(middle, corner) <= radius + ROUNDING);
  };
  const at = { points: [middle], lines: [], regions: [] };
  return { test, area: { kind: 'sphere', shape: at, reach: radius + ROUNDING } };
}

export function parseGeoIntersects(sent: Bson): GeoSearch {
  if (!isDocument(sent)) throw bad(`$geoIntersects must be an object: ${printBson(sent)}`);
  const [name] = sent.keys();
  const geometry = sent.get('$geometry');
  if (sent.size !== 1 || name !== '$geometry')
    throw bad(`$geoIntersects not supported with provided geometry: ${printBson(sent)}`);
  const shape = queryGeometry(geometry).shape as Shape<Direction>;
  return tested({
    test: (other) => other.shape !== undefined && intersects(sphere, other.shape, shape),
    area: { kind: 'sphere', shape, reach: 0 },
  });
}
