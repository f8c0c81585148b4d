/** GeoJSON → shapes of a space, or the reason why it is invalid. */
import { spend } from '../../base/index.ts';
import { isList, isMap, type Value } from '../value.ts';
import type { Space } from './space.ts';

/** Single points, open lines, and regions with an outer ring and holes. */
export interface Shape<Point> {
  readonly points: readonly Point[];
  readonly lines: readonly (readonly Point[])[];
  readonly regions: readonly (readonly (readonly Point[])[])[];
}

type ParsedShape<Point> =
  | { readonly kind: 'valid'; readonly shape: Shape<Point> }
  | { readonly kind: 'invalid'; readonly reason: string };

/** Documented bound of the service for one polygon. */
const POINTS_MAX = 4096;
const RING_POINTS_MIN = 4;

export function parseGeoJson<Point>(value: Value, space: Space<Point>): ParsedShape<Point> {
  try {
    return { kind: 'valid', shape: toShape(value, space) };
  } catch (error) {
    if (error instanceof InvalidShape) return { kind: 'invalid', reason: error.message };
    throw error;
  }
}

/** Ends the nested reading early; never thrown outside this file. */
class InvalidShape extends Error {}

function toShape<Point>(value: Value, space: Space<Point>): Shape<Point> {
  if (!isMap(value) || typeof value.type !== 'string')
    throw new InvalidShape('The input is not a GeoJSON object.');
  const { type, coordinates } = value;
  const point = (pair: Value) => toPoint(pair, type, space);
  const line = (pairs: Value) => toLine(pairs, type, space);
  const region = (rings: Value) =>
    listOf(rings, type).map((ring, at) => toRing(ring, at, type, space));
  const none = { points: [], lines: [], regions: [] };
  switch (type) {
    case 'Point':
      return { ...none, points: [point(coordinates)] };
    case 'MultiPoint':
      return { ...none, points: listOf(coordinates, type).map(point) };
    case 'LineString':
      return { ...none, lines: [line(coordinates)] };
    case 'MultiLineString':
      return { ...none, lines: listOf(coordinates, type).map(line) };
    case 'Polygon':
      return { ...none, regions: [region(coordinates)] };
    case 'MultiPolygon':
      return { ...none, regions: listOf(coordinates, type).map(region) };
    default:
      throw new InvalidShape(`The GeoJSON type '${type}' is not supported.`);
  }
}

function listOf(value: Value, type: string): readonly Value[] {
  if (!isList(value) || value.length === 0)
    throw new InvalidShape(
      `The ${type} input is not valid because its coordinates are not a list.`,
    );
  if (value.length > POINTS_MAX)
    throw new InvalidShape(`The ${type} input is not valid because it has too many points.`);
  return value;
}

function toPoint<Point>(value: Value, type: string, space: Space<Point>): Point {
  spend(30);
  const [x, y] = isList(value) ? value : [];
  if (typeof x !== 'number' || typeof y !== 'number')
    throw new InvalidShape(`The ${type} input is not valid because a position is not two numbers.`);
  const point = space.toPoint(x, y);
  if (point === undefined) throw new InvalidShape(space.whyOutside(x, y));
  return point;
}

function toLine<Point>(value: Value, type: string, space: Space<Point>): readonly Point[] {
  const points = listOf(value, type).map((pair) => toPoint(pair, type, space));
  if (points.length < 2)
    throw new InvalidShape(`The ${type} input is not valid because it has less than two points.`);
  return points;
}

function toRing<Point>(value: Value, at: number, type: string, space: Space<Point>) {
  const pairs = listOf(value, type);
  const points = pairs.map((pair) => toPoint(pair, type, space));
  if (points.length < RING_POINTS_MIN)
    throw new InvalidShape(
      `The ${type} input is not valid because the ring number ${at + 1} does not have at least 4 points.`,
    );
  if (JSON.stringify(pairs[0]) !== JSON.stringify(pairs.at(-1)))
    throw new InvalidShape(
      `The ${type} input is not valid because the start and end points of the ring number ${at + 1} are not the same. Each ring of a polygon must have the same start and end points.`,
    );
  return points;
}
