/** Spatial functions over GeoJSON, the same code on the Earth and in the plane. */
import {
  area,
  distance,
  earth,
  intersects,
  isWithin,
  parseGeoJson,
  plane,
  type Shape,
  type Space,
  type Value,
} from '../../../../value/index.ts';
import { define, finite, type SystemFunction } from './function.ts';

export function spatialFunctions(geospatial: 'geography' | 'geometry'): readonly SystemFunction[] {
  return geospatial === 'geography' ? functionsOf(earth) : functionsOf(plane);
}

function functionsOf<Point>(space: Space<Point>): readonly SystemFunction[] {
  const pairwise = (
    names: readonly string[],
    compute: (a: Shape<Point>, b: Shape<Point>) => Value,
  ): SystemFunction[] =>
    names.map((name) =>
      define(name, 2, (left, right) => {
        const a = parseGeoJson(left, space);
        const b = parseGeoJson(right, space);
        return a.kind === 'valid' && b.kind === 'valid' ? compute(a.shape, b.shape) : undefined;
      }),
    );
  return [
    ...pairwise(['ST_DISTANCE', '_ST_DISTANCE'], (a, b) => finite(distance(space, a, b))),
    ...pairwise(['ST_INTERSECTS', '_ST_INTERSECTS'], (a, b) => intersects(space, a, b)),
    ...pairwise(['ST_WITHIN', '_ST_WITHIN'], (a, b) => isWithin(space, a, b)),
    define('ST_ISVALID', 1, (value) => parseGeoJson(value, space).kind === 'valid'),
    define('ST_ISVALIDDETAILED', 1, (value) => {
      const parsed = parseGeoJson(value, space);
      return parsed.kind === 'valid' ? { valid: true } : { valid: false, reason: parsed.reason };
    }),
    define('ST_AREA', 1, (value) => {
      const parsed = parseGeoJson(value, space);
      return parsed.kind === 'valid' ? area(space, parsed.shape) : undefined;
    }),
  ];
}
