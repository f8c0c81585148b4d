/** `$near` and `$nearSphere`: documents by their distance from a point. */
import {
  type Bson,
  type BsonDocument,
  type Direction,
  intersects,
  isArray,
  isDocument,
  plane,
  type Shape,
} from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import { printBson } from '../../bson/print.ts';
import { MongoError } from '../../errors.ts';
import { type FieldPath, someAt } from '../path.ts';
import type { GeoArea } from './geo-tests.ts';
import {
  bad,
  EARTH_RADIUS_M,
  type Geometry,
  type Pair,
  parseGeoJson,
  planePoint,
  queryPair,
  sphere,
  storedGeometry,
} from './geometry.ts';

export interface NearQuery {
  readonly center: Pair;
  /** Metres for GeoJSON, radians for pairs on the sphere, the unit of the pairs in the plane. */
  readonly unit: 'metres' | 'radians' | 'plane';
  readonly min: number;
  readonly max: number;
  readonly isGeoJson: boolean;
}

/** @param operators - all operators of the field: older queries have the distances beside the point. */
export function parseNear(
  name: '$near' | '$nearSphere' | '$geoNear',
  sent: Bson,
  operators: BsonDocument,
): NearQuery {
  if (!isArray(sent) && !isDocument(sent))
    throw bad(`${name} requires a point, given ${printBson(sent)}`);
  const options = isDocument(sent) && sent.has('$geometry') ? sent : undefined;
  if (options === undefined) {
    const point = geoJsonPoint(sent);
    return point === undefined
      ? legacyNear(name, sent, operators)
      : geoJsonNear(name, new Map([['$geometry', point]]), operators);
  }
  for (const option of options.keys())
    if (option !== '$geometry' && option !== '$minDistance' && option !== '$maxDistance')
      throw bad(`invalid argument in geo near query: ${option}`);
  return geoJsonNear(name, options, operators);
}

/** A document whose first value is no number is a point of GeoJSON, also where no `$geometry` is around it. */
function geoJsonPoint(sent: BsonDocument | readonly Bson[]): BsonDocument | undefined {
  if (!isDocument(sent)) return undefined;
  const [first] = sent.values();
  const isGeoJson = first !== undefined && !isNumber(first) && sent.get('type') === 'Point';
  return isGeoJson ? sent : undefined;
}

function legacyNear(
  name: string,
  sent: BsonDocument | readonly Bson[],
  operators: BsonDocument,
): NearQuery {
  const isSphere = name !== '$near' && name !== '$geoNear';
  if (isDocument(sent)) {
    const [first = ''] = sent.keys();
    if (sent.size === 0) throw bad(`${name} requires a point, given ${printBson(sent)}`);
    if (first.startsWith('$')) throw bad(`invalid argument in geo near query: ${first}`);
  }
  const { pair, inlineMax } = legacyPoint(sent);
  if (isSphere && sphere.toPoint(pair[0], pair[1]) === undefined)
    throw bad('Legacy point is out of bounds for spherical query');
  return {
    center: pair,
    unit: isSphere ? 'radians' : 'plane',
    min: distanceIn(operators, '$minDistance', true) ?? 0,
    max: distanceIn(operators, '$maxDistance', true) ?? inlineMax ?? Number.POSITIVE_INFINITY,
    isGeoJson: false,
  };
}

/** A third number of an older query is the greatest distance. */
function legacyPoint(sent: Bson): { readonly pair: Pair; readonly inlineMax: number | undefined } {
  const pair = queryPair(sent, 'Point', false);
  const values = isArray(sent) ? sent : isDocument(sent) ? [...sent.values()] : [];
  const third = values[2];
  if (third === undefined || !isNumber(third)) return { pair, inlineMax: undefined };
  if (!(doubleOf(third) >= 0)) throw bad('max distance must be non-negative');
  return { pair, inlineMax: doubleOf(third) };
}

function geoJsonNear(name: string, options: BsonDocument, operators: BsonDocument): NearQuery {
  const sent = options.get('$geometry');
  const isPoint = isDocument(sent) && sent.has('coordinates');
  if (!isDocument(sent)) throw bad(`${name} $geometry must be an object`);
  const geometry: Geometry = isPoint
    ? parseGeoJson(sent.has('type') ? sent : new Map([['type', 'Point'], ...sent]))
    : parseGeoJson(sent);
  if (geometry.type !== 'Point' || geometry.pair === undefined)
    throw bad(`invalid point in geo near query $geometry argument: ${printBson(sent)}`);
  return {
    center: geometry.pair,
    unit: 'metres',
    min: distanceIn(options, '$minDistance') ?? distanceIn(operators, '$minDistance') ?? 0,
    max:
      distanceIn(options, '$maxDistance') ??
      distanceIn(operators, '$maxDistance') ??
      Number.POSITIVE_INFINITY,
    isGeoJson: true,
  };
}

/** @param isLegacy - the distances beside a pair have codes of their own. */
function distanceIn(
  options: BsonDocument,
  name: '$minDistance' | '$maxDistance',
  isLegacy = false,
): number | undefined {
  const value = options.get(name);
  if (value === undefined) return undefined;
  const isMin = name === '$minDistance';
  if (!isNumber(value))
    throw isLegacy
      ? new MongoError(isMin ? 'Location16893' : 'Location16895', `${name} must be a number`)
      : bad(`${name} must be a number`);
  const distance = doubleOf(value);
  if (!(distance >= 0))
    throw isLegacy && isMin
      ? new MongoError('Location16894', `${name} must be non-negative`)
      : bad(`${name} must be non-negative`);
  if (!Number.isFinite(distance)) throw bad(`${name} must be finite`);
  return distance;
}

/** Where everything within a distance is, in the unit of the query. */
export function areaWithin({ center, unit }: NearQuery, distance: number): GeoArea {
  if (unit === 'plane')
    return { kind: 'plane', shape: pointShape(planePoint(center)), reach: distance };
  const angle = unit === 'radians' ? distance : distance / EARTH_RADIUS_M;
  const point = sphere.toPoint(center[0], center[1]) as Direction;
  return { kind: 'sphere', shape: pointShape(point), reach: angle * (1 + ROUNDING) };
}

/** A distance within which everything is, or nearly so in the plane. */
export function radiusMax({ unit }: NearQuery): number {
  if (unit === 'plane') return PLANE_WIDTH;
  return unit === 'radians' ? Math.PI : Math.PI * EARTH_RADIUS_M;
}

/** Twice the width of the plane of most 2d indexes, in degrees. */
const PLANE_WIDTH = 720;

/** Allows for the rounding of distances. */
const ROUNDING = 1e-9;

function pointShape<Point>(point: Point): Shape<Point> {
  return { points: [point], lines: [], regions: [] };
}

/** The distance of a value in the unit of the query; undefined where it has no place or is out of range. */
export function nearDistance(near: NearQuery, value: Bson | undefined): number | undefined {
  const geometry = storedGeometry(value);
  if (geometry === undefined) return undefined;
  const distance = distanceTo(near, geometry);
  return distance !== undefined && distance >= near.min && distance <= near.max
    ? distance
    : undefined;
}

function distanceTo({ center, unit }: NearQuery, { pair, shape }: Geometry): number | undefined {
  if (unit === 'plane')
    return pair === undefined ? undefined : plane.distance(planePoint(center), planePoint(pair));
  if (shape === undefined) return undefined;
  const angle = angleTo(sphere.toPoint(center[0], center[1]) as Direction, shape);
  return unit === 'radians' ? angle : angle * EARTH_RADIUS_M;
}

function angleTo(point: Direction, shape: Shape<Direction>): number {
  if (
    shape.regions.length > 0 &&
    intersects(sphere, { points: [point], lines: [], regions: [] }, shape)
  )
    return 0;
  let nearest = Number.POSITIVE_INFINITY;
  for (const other of shape.points) nearest = Math.min(nearest, sphere.gap(point, other));
  for (const line of [...shape.lines, ...shape.regions.flat()])
    for (let at = 0; at + 1 < line.length; at++)
      nearest = Math.min(
        nearest,
        sphere.gapToSegment(point, line[at] as Direction, line[at + 1] as Direction),
      );
  return nearest;
}

/** The nearest place of a document, with its distance. */
export function nearestPlace(
  document: BsonDocument,
  path: FieldPath,
  near: NearQuery,
): { readonly distance: number; readonly place: Bson } {
  let distance = Number.POSITIVE_INFINITY;
  let place: Bson = null;
  someAt(document, path, (value) => {
    const own = nearDistance(near, value);
    if (own !== undefined && own < distance) [distance, place] = [own, value as Bson];
    return false;
  });
  return { distance, place };
}
