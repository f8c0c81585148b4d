/**
 * 2dsphere and 2d: the fields in front, the name of the field, a cell of a place in it.
 *
 *   [a, 'place', 'a03213…']      one entry for every cell of every place of the field
 *
 * The cells of a place contain all of it, as the functions that decide see it (value/geo/covering.ts), and what passes
 * a test comes near the area of the test. So one of the cells of each is in one of the other, or contains it. Values
 * that are no places have no entry and pass no test. Fields behind the places are read from the documents.
 */
import { cellRanges, equalTo } from '../../../../query/index.ts';
import {
  boxGrid,
  type Direction,
  directionGrid,
  fieldReader,
  type PlanePoint,
  type ShapeGrid,
} from '../../../../value/index.ts';
import type { FieldTest, Filter } from '../../query/filter.ts';
import type { GeoArea } from '../../query/geo/geo-tests.ts';
import { planePoint, sphere, storedGeometry } from '../../query/geo/geometry.ts';
import { someAt, splitPath } from '../../query/path.ts';
import { combined, ENTRIES_MAX, type IndexKey, type IndexKind } from './kind.ts';
import { leadingPoints, leadingValues } from './leading-fields.ts';

const SPHERE_GRID = directionGrid(sphere);

type PlaceKind = '2dsphere' | '2d';
type Grid =
  | { readonly kind: 'sphere'; readonly cells: ShapeGrid<Direction> }
  | { readonly kind: 'plane'; readonly cells: ShapeGrid<PlanePoint> };

export function geoKind({ key, spec }: IndexKey, kind: PlaceKind): IndexKind {
  const all = [...key];
  const fields = all.filter(([, own]) => own === kind).map(([field]) => field);
  const leading = all
    .slice(
      0,
      all.findIndex(([, own]) => own === kind),
    )
    .map(([field]) => field);
  const grid = gridOf(kind, Number(spec.get('min') ?? -180), Number(spec.get('max') ?? 180));
  const read = fieldReader(fields.map((field) => splitPath(field)[0] as string));
  return {
    entriesOf({ value, body }) {
      const places = new Map<string, readonly string[]>();
      const document = read(body);
      for (const field of fields)
        someAt(document, splitPath(field), (each) => {
          for (const cell of placeCells(each, grid)) places.set(`${field}\n${cell}`, [field, cell]);
          return places.size > ENTRIES_MAX;
        });
      if (places.size === 0) return [];
      if (places.size > ENTRIES_MAX) return undefined;
      const before = leadingValues(leading, value);
      return before && combined(before, [...places.values()]);
    },
    search(parts, compare) {
      const before = leadingPoints(leading, parts, compare);
      if (before === undefined) return undefined;
      for (const part of parts) {
        const found = placeTest(part, fields);
        const cells = found?.area && cellsOf(found.area, grid);
        if (found === undefined || cells === undefined || cells === 'everywhere') continue;
        const values = [...before, [equalTo(found.field)], cellRanges(cells)];
        return { values, isWhole: true };
      }
      return undefined;
    },
  };
}

function gridOf(kind: PlaceKind, min: number, max: number): Grid {
  if (kind === '2dsphere') return { kind: 'sphere', cells: SPHERE_GRID };
  return { kind: 'plane', cells: boxGrid({ xmin: min, ymin: min, xmax: max, ymax: max }) };
}

function placeCells(value: Parameters<typeof storedGeometry>[0], grid: Grid): readonly string[] {
  const geometry = storedGeometry(value);
  if (geometry === undefined) return [];
  if (grid.kind === 'sphere')
    return geometry.shape === undefined ? [] : grid.cells.cellsOf(geometry.shape);
  const { pair } = geometry;
  return pair === undefined
    ? []
    : grid.cells.cellsOf({ points: [planePoint(pair)], lines: [], regions: [] });
}

interface PlaceTest {
  readonly field: string;
  readonly area: GeoArea | undefined;
}

function placeTest(part: Filter, fields: readonly string[]): PlaceTest | undefined {
  if (part.kind !== 'field') return undefined;
  const field = part.path.join('.');
  const area = areaOf(part.test);
  return area !== undefined && fields.includes(field) ? { field, area } : undefined;
}

/** Orders by distance are read in rings, each with an area of its own (near-rows.ts). */
function areaOf(test: FieldTest): GeoArea | undefined {
  return test.kind === 'geo' ? test.area : undefined;
}

/** A sphere and a plane know nothing of each other. */
function cellsOf(area: GeoArea, grid: Grid): readonly string[] | 'everywhere' | undefined {
  if (area.kind === 'sphere' && grid.kind === 'sphere')
    return grid.cells.cellsNear(area.shape, area.reach);
  if (area.kind === 'plane' && grid.kind === 'plane')
    return grid.cells.cellsNear(area.shape, area.reach);
  return undefined;
}
