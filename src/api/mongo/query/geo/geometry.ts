/** Geometries as MongoDB stores them: GeoJSON on a sphere, pairs of numbers in the plane or on the sphere. */
import {
  type Bson,
  type BsonDocument,
  type Direction,
  earth,
  intersects,
  isArray,
  isDocument,
  type PlanePoint,
  plane,
  type Shape,
  type Space,
} from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import { printBson } from '../../bson/print.ts';
import { MongoError } from '../../errors.ts';

const RADIANS = Math.PI / 180;
/** Metres; MongoDB's own. */
export const EARTH_RADIUS_M = 6_378_100;

/** A sphere, where WGS 84 would be an ellipsoid. */
export const sphere: Space<Direction> = {
  ...earth,
  toPoint(longitude, latitude) {
    if (!(Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90)) return undefined;
    const radius = Math.cos(latitude * RADIANS);
    return [
      radius * Math.cos(longitude * RADIANS),
      radius * Math.sin(longitude * RADIANS),
      Math.sin(latitude * RADIANS),
    ];
  },
};

export type Pair = readonly [x: number, y: number];

export interface Geometry {
  /** GeoJSON, or a pair of numbers. */
  readonly isGeoJson: boolean;
  readonly type: string;
  /** The one point, where it is one. */
  readonly pair: Pair | undefined;
  /** Undefined where the coordinates are no place on the Earth. */
  readonly shape: Shape<Direction> | undefined;
}

/** The geometry of a document's value; undefined where it has none. */
export function storedGeometry(value: Bson | undefined): Geometry | undefined {
  try {
    if (isArray(value)) return ofPair(pairOf(value));
    if (!isDocument(value) || value.size === 0) return undefined;
    if (value.has('type') && value.has('coordinates')) return parseGeoJson(value);
    if (value.get('type') === 'GeometryCollection') return parseGeoJson(value);
    return ofPair(pairOf([...value.values()]));
  } catch (error) {
    if (error instanceof MongoError) return undefined;
    throw error;
  }
}

function ofPair(pair: Pair | undefined): Geometry | undefined {
  if (pair === undefined) return undefined;
  const point = sphere.toPoint(pair[0], pair[1]);
  return {
    isGeoJson: false,
    type: 'Point',
    pair,
    shape: point === undefined ? undefined : { points: [point], lines: [], regions: [] },
  };
}

/** The first two values, where they are numbers. */
function pairOf(values: readonly Bson[]): Pair | undefined {
  const [x, y] = values;
  if (x === undefined || y === undefined || !isNumber(x) || !isNumber(y)) return undefined;
  const pair = [doubleOf(x), doubleOf(y)] as const;
  return Number.isFinite(pair[0]) && Number.isFinite(pair[1]) ? pair : undefined;
}

/** A point of a query: an array, or a document of two numbers. */
export function queryPair(value: Bson | undefined, what: string, isExact = true): Pair {
  const values = isArray(value) ? value : isDocument(value) ? [...value.values()] : undefined;
  if (values === undefined) throw bad(`${what} must be an array or object`);
  for (const each of values.slice(0, 2))
    if (!isNumber(each)) throw bad('Point must only contain numeric elements');
  if (isExact && isArray(value) && value.length > 2)
    throw bad('Point must only contain two numeric elements');
  const pair = pairOf(values);
  if (pair === undefined) throw bad(`${what} must contain two finite numbers`);
  return pair;
}

const TYPES: ReadonlySet<string> = new Set([
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
]);

const CRS_84 = 'urn:ogc:def:crs:OGC:1.3:CRS84';
const EPSG_4326 = 'EPSG:4326';
const STRICT_CRS = 'urn:x-mongodb:crs:strictwinding:EPSG:4326';

/** The geometry of a query: GeoJSON, or a pair. Throws BadValue. */
export function queryGeometry(value: Bson | undefined): Geometry {
  if (isDocument(value) && (value.has('type') || value.has('coordinates')))
    return parseGeoJson(value);
  const pair =
    isArray(value) || isDocument(value) ? ofPair(queryPair(value, 'Point', false)) : undefined;
  if (pair?.shape === undefined) throw bad(`unknown GeoJSON type: ${printBson(value)}`);
  return pair;
}

/** Throws BadValue. */
export function parseGeoJson(value: BsonDocument): Geometry {
  const type = value.get('type');
  if (typeof type !== 'string' || !TYPES.has(type))
    throw bad(`unknown GeoJSON type: ${printBson(value)}`);
  const isStrict = checkCrs(value.get('crs'), type);
  const shape =
    type === 'GeometryCollection'
      ? collectionOf(value.get('geometries'))
      : shapeOf(type, value.get('coordinates'), isStrict);
  const coordinates = value.get('coordinates');
  return {
    isGeoJson: true,
    type,
    pair: type === 'Point' && isArray(coordinates) ? pairOf(coordinates) : undefined,
    shape,
  };
}

/** True for the system in which the direction of a ring says which side is inside. */
function checkCrs(crs: Bson | undefined, type: string): boolean {
  if (crs === undefined) return false;
  if (!isDocument(crs)) throw bad('GeoJSON CRS must be an object');
  const properties = crs.get('properties');
  if (crs.get('type') !== 'name') throw bad('GeoJSON CRS must have field "type": "name"');
  if (!isDocument(properties)) throw bad('CRS must have field "properties" which is an object');
  const name = properties.get('name');
  if (typeof name !== 'string') throw bad('In CRS, "properties.name" must be a string');
  if (name === STRICT_CRS) {
    if (type !== 'Polygon') throw bad('Strict winding order is only supported by Polygon');
    return true;
  }
  if (name !== CRS_84 && name !== EPSG_4326) throw bad(`Unknown CRS name: ${name}`);
  return false;
}

function collectionOf(sent: Bson | undefined): Shape<Direction> {
  if (!isArray(sent) || sent.length === 0)
    throw bad('GeometryCollection geometries must be a non-empty array');
  const shapes = sent.map((each) => {
    if (!isDocument(each)) throw bad('Element of "geometries" must be an object');
    if (each.get('type') === 'GeometryCollection')
      throw bad('GeometryCollections cannot be nested: geometries');
    return parseGeoJson(each).shape as Shape<Direction>;
  });
  return {
    points: shapes.flatMap(({ points }) => points),
    lines: shapes.flatMap(({ lines }) => lines),
    regions: shapes.flatMap(({ regions }) => regions),
  };
}

function shapeOf(type: string, coordinates: Bson | undefined, isStrict: boolean): Shape<Direction> {
  const none = { points: [], lines: [], regions: [] };
  const region = (rings: Bson) => regionOf(rings, isStrict);
  switch (type) {
    case 'Point':
      return { ...none, points: [positionOf(coordinates)] };
    case 'MultiPoint':
      return { ...none, points: listOf(coordinates, type).map(positionOf) };
    case 'LineString':
      return { ...none, lines: [lineOf(coordinates)] };
    case 'MultiLineString':
      return { ...none, lines: listOf(coordinates, type).map(lineOf) };
    case 'Polygon':
      return { ...none, regions: [region(coordinates as Bson)] };
    default:
      return { ...none, regions: listOf(coordinates, type).map(region) };
  }
}

/** Points of one geometry; more would take long to check. */
const POINTS_MAX = 100_000;

function listOf(value: Bson | undefined, type: string): readonly Bson[] {
  if (!isArray(value)) throw bad(`${type} coordinates must be an array`);
  if (value.length === 0) throw bad(`${type} coordinates must have at least 1 element`);
  if (value.length > POINTS_MAX) throw bad(`${type} has too many points`);
  return value;
}

function positionOf(value: Bson | undefined): Direction {
  const list = isDocument(value) ? [...value.values()] : value;
  if (!isArray(list)) throw bad('Point must be an array or object');
  const pair = pairOf(list);
  if (pair === undefined) throw bad('Point must only contain numeric elements');
  const point = sphere.toPoint(pair[0], pair[1]);
  if (point === undefined)
    throw bad(`longitude/latitude is out of bounds, lng: ${pair[0]} lat: ${pair[1]}`);
  return point;
}

function lineOf(value: Bson | undefined): readonly Direction[] {
  const points = listOf(value, 'LineString').map(positionOf).filter(isFirstOfRun);
  if (points.length < 2) throw bad('GeoJSON LineString must have at least 2 vertices');
  return points;
}

function isFirstOfRun(point: Direction, at: number, points: readonly Direction[]): boolean {
  return at === 0 || !isSame(point, points[at - 1] as Direction);
}

/** Directions nearer than this are one point: at a pole every longitude is. */
const TINY = 1e-14;

function isSame(a: Direction, b: Direction): boolean {
  return (
    Math.abs(a[0] - b[0]) < TINY && Math.abs(a[1] - b[1]) < TINY && Math.abs(a[2] - b[2]) < TINY
  );
}

function regionOf(value: Bson | undefined, isStrict: boolean): readonly (readonly Direction[])[] {
  const rings = listOf(value, 'Polygon').map((ring, at) => ringOf(ring, isStrict && at === 0));
  const outer = rings[0] as readonly Direction[];
  const holes = rings.slice(1);
  for (const hole of holes)
    if (
      !isStrict &&
      !hole.every(
        (corner) =>
          sphere.ringHolds(outer, corner) && !outer.some((other) => isSame(corner, other)),
      )
    )
      throw bad(
        'Secondary loops not contained by first exterior loop - secondary loops must be holes',
      );
  for (const [at, hole] of holes.entries())
    for (const other of holes.slice(0, at))
      if (intersects(sphere, regionShape(hole), regionShape(other)) && isSameRing(hole, other))
        throw bad('Polygon has duplicate holes');
  return rings;
}

function isSameRing(a: readonly Direction[], b: readonly Direction[]): boolean {
  return a.length === b.length && a.every((corner) => b.some((other) => isSame(corner, other)));
}

function regionShape(ring: readonly Direction[]): Shape<Direction> {
  return { points: [], lines: [], regions: [[ring]] };
}

function ringOf(value: Bson, keepsDirection: boolean): readonly Direction[] {
  const sent = listOf(value, 'Polygon').map(positionOf);
  const [first] = sent;
  if (first === undefined || !isSame(first, sent.at(-1) as Direction))
    throw bad(`Loop is not closed: ${printBson(value)}`);
  const ring = sent.filter(isFirstOfRun);
  if (ring.length < 4)
    throw bad(`Loop must have at least 3 different vertices: ${printBson(value)}`);
  checkSimple(ring, value);
  return keepsDirection || sphere.isCounterClockwise(ring) ? ring : ring.toReversed();
}

/** Corners of a ring of which all pairs of edges are compared. */
const CHECKED_CORNERS_MAX = 1000;

/** No corner twice, and no two edges that cross. */
function checkSimple(ring: readonly Direction[], value: Bson): void {
  const seen = new Set(ring.slice(1).map((corner) => corner.join()));
  if (seen.size < ring.length - 1) throw bad(`Duplicate vertices: ${printBson(value)}`);
  const edges = ring.length - 1;
  if (edges > CHECKED_CORNERS_MAX) return;
  for (let a = 0; a < edges; a++)
    for (let b = a + 2; b < edges; b++) {
      if (a === 0 && b === edges - 1) continue;
      const [from, to] = [ring[a] as Direction, ring[a + 1] as Direction];
      if (sphere.segmentsCross(from, to, ring[b] as Direction, ring[b + 1] as Direction))
        throw bad(`Edges ${a} and ${b} cross. Edge locations in degrees: ${printBson(value)}`);
    }
}

export function planePoint([x, y]: Pair): PlanePoint {
  return plane.toPoint(x, y) as PlanePoint;
}

export function bad(message: string): MongoError {
  return new MongoError('BadValue', message);
}
