/** Relations between shapes: the same code on the Earth and in the plane. */
import { spend } from '../../base/index.ts';
import type { Shape } from './geo-json.ts';
import type { Space } from './space.ts';

export type Segment<Point> = readonly [Point, Point];

/** The segments of lines and borders. */
export function segmentsOf<Point>({ lines, regions }: Shape<Point>): readonly Segment<Point>[] {
  return [...lines, ...regions.flat()].flatMap((line) =>
    line.slice(1).map((end, at) => [line[at] as Point, end] as const),
  );
}

export function cornersOf<Point>({ points, lines, regions }: Shape<Point>): readonly Point[] {
  return [...points, ...lines.flat(), ...regions.flat(2)];
}

/** One point, line or region of a shape, with a circle around it. */
interface Part<Point> {
  readonly shape: Shape<Point>;
  readonly corners: readonly Point[];
  readonly segments: readonly Segment<Point>[];
  readonly middle: Point;
  /** A gap; Infinity where no circle bounds the part. */
  readonly radius: number;
}

/** Steps to compare a corner with a line; comparing circles takes fewer. */
const SEGMENT_STEPS = 50;
const CIRCLE_STEPS = 10;

/** Shapes of many parts are compared part by part, except where their circles are apart. */
function partsOf<Point>(space: Space<Point>, shape: Shape<Point>): readonly Part<Point>[] {
  const { points, lines, regions } = shape;
  const none = { points: [], lines: [], regions: [] };
  return [
    ...points.map((point) => partOf(space, { ...none, points: [point] })),
    ...lines.map((line) => partOf(space, { ...none, lines: [line] })),
    ...regions.map((region) => partOf(space, { ...none, regions: [region] })),
  ];
}

function partOf<Point>(space: Space<Point>, shape: Shape<Point>): Part<Point> {
  const corners = cornersOf(shape);
  const middle = space.middle(corners);
  spend(SEGMENT_STEPS * corners.length);
  let radius = 0;
  let reach = 0;
  for (const corner of corners) {
    radius = Math.max(radius, space.gap(middle, corner));
    reach = Math.max(reach, space.gap(corners[0] as Point, corner));
  }
  const outer = shape.regions[0]?.[0];
  // Corners all around the Earth have no centre.
  const hasNoMiddle = reach > 2 * radius * (1 + ROUNDING) + ROUNDING;
  // A clockwise ring bounds everything outside of it.
  const isOpen = outer !== undefined && !space.isCounterClockwise(outer);
  return {
    shape,
    corners,
    segments: segmentsOf(shape),
    middle,
    radius: isOpen || hasNoMiddle || radius > space.gapMax ? Number.POSITIVE_INFINITY : radius,
  };
}

/** A lower bound of the gap between any points of the two parts. */
function gapBetween<Point>(space: Space<Point>, a: Part<Point>, b: Part<Point>): number {
  spend(CIRCLE_STEPS);
  const reach = a.radius + b.radius;
  return space.gap(a.middle, b.middle) * (1 - ROUNDING) - reach * (1 + ROUNDING) - ROUNDING;
}

/** A margin that is larger than the rounding errors of gaps. */
const ROUNDING = 1e-9;

/** Pairs of parts that may touch. */
function* nearPairs<Point>(
  space: Space<Point>,
  a: readonly Part<Point>[],
  b: readonly Part<Point>[],
): Generator<readonly [Part<Point>, Part<Point>]> {
  for (const one of a)
    for (const other of b) if (!(gapBetween(space, one, other) > 0)) yield [one, other];
}

/** In the outer ring, or outside of it if it is clockwise, and in no hole. */
function regionHolds<Point>(
  space: Space<Point>,
  [outer, ...holes]: readonly (readonly Point[])[],
  point: Point,
): boolean {
  if (!outer) return false;
  spend(SEGMENT_STEPS * outer.length);
  const isInside = space.ringHolds(outer, point) === space.isCounterClockwise(outer);
  return isInside && !holes.some((hole) => isStrictlyInside(space, hole, point));
}

/** The border of a hole belongs to the region. */
function isStrictlyInside<Point>(space: Space<Point>, ring: readonly Point[], point: Point) {
  spend(2 * SEGMENT_STEPS * ring.length);
  if (!space.ringHolds(ring, point)) return false;
  return ring
    .slice(1)
    .every((end, at) => space.distanceToSegment(point, ring[at] as Point, end) > 0);
}

export function holds<Point>(space: Space<Point>, shape: Shape<Point>, point: Point): boolean {
  return shape.regions.some((region) => regionHolds(space, region, point));
}

function segmentsMeet<Point>(space: Space<Point>, a: Part<Point>, b: Part<Point>): boolean {
  return a.segments.some((one) => {
    spend(SEGMENT_STEPS * b.segments.length);
    return b.segments.some((other) => space.segmentsCross(one[0], one[1], other[0], other[1]));
  });
}

export function intersects<Point>(space: Space<Point>, a: Shape<Point>, b: Shape<Point>): boolean {
  return partsIntersect(space, partsOf(space, a), partsOf(space, b));
}

function partsIntersect<Point>(
  space: Space<Point>,
  a: readonly Part<Point>[],
  b: readonly Part<Point>[],
): boolean {
  for (const [one, other] of nearPairs(space, a, b)) if (touch(space, one, other)) return true;
  return false;
}

function touch<Point>(space: Space<Point>, a: Part<Point>, b: Part<Point>): boolean {
  return (
    a.corners.some((corner) => holds(space, b.shape, corner)) ||
    b.corners.some((corner) => holds(space, a.shape, corner)) ||
    segmentsMeet(space, a, b) ||
    cornerDistance(space, a, b) === 0
  );
}

/** Every corner is inside, and no border is crossed where the inner shape has extent. */
export function isWithin<Point>(space: Space<Point>, a: Shape<Point>, b: Shape<Point>): boolean {
  if (b.regions.length === 0) return distance(space, a, b) === 0 && segmentsOf(a).length === 0;
  const inner = partsOf(space, a);
  const regions = partsOf(space, { points: [], lines: [], regions: b.regions });
  const isHeld = (corner: Point): boolean =>
    regions.some((region) => mayHold(space, region, corner) && holds(space, region.shape, corner));
  return inner.every(({ corners }) => corners.every(isHeld)) && !bordersCut(space, inner, b);
}

function mayHold<Point>(space: Space<Point>, { middle, radius }: Part<Point>, point: Point) {
  spend(CIRCLE_STEPS);
  return space.gap(middle, point) * (1 - ROUNDING) <= radius * (1 + ROUNDING) + ROUNDING;
}

/** Whether the centre of a piece that meets the border is outside. */
function bordersCut<Point>(
  space: Space<Point>,
  a: readonly Part<Point>[],
  b: Shape<Point>,
): boolean {
  for (const [inner, outer] of nearPairs(space, a, partsOf(space, b)))
    if (inner.segments.some((segment) => isCut(space, segment, outer.segments))) return true;
  return false;
}

function isCut<Point>(
  space: Space<Point>,
  [start, end]: Segment<Point>,
  borders: readonly Segment<Point>[],
): boolean {
  spend(SEGMENT_STEPS * borders.length);
  return borders.some(
    ([from, to]) =>
      space.segmentsCross(start, end, from, to) &&
      space.distanceToSegment(start, from, to) > 0 &&
      space.distanceToSegment(end, from, to) > 0 &&
      space.distanceToSegment(from, start, end) > 0 &&
      space.distanceToSegment(to, start, end) > 0,
  );
}

export function distance<Point>(space: Space<Point>, a: Shape<Point>, b: Shape<Point>): number {
  const left = partsOf(space, a);
  const right = partsOf(space, b);
  if (partsIntersect(space, left, right)) return 0;
  let nearest = Number.POSITIVE_INFINITY;
  let gapMax = Number.POSITIVE_INFINITY;
  for (const one of left)
    for (const other of right) {
      if (gapBetween(space, one, other) > gapMax) continue;
      const found = cornerDistance(space, one, other);
      if (found >= nearest) continue;
      nearest = found;
      gapMax = space.gapOf(found);
    }
  return nearest;
}

/** The nearest pair of points of shapes that do not cross includes a corner. */
function cornerDistance<Point>(space: Space<Point>, a: Part<Point>, b: Part<Point>): number {
  return Math.min(cornersToPart(space, a, b), cornersToPart(space, b, a));
}

function cornersToPart<Point>(space: Space<Point>, a: Part<Point>, b: Part<Point>): number {
  let nearest = Number.POSITIVE_INFINITY;
  for (const corner of a.corners) {
    spend(SEGMENT_STEPS * (1 + b.segments.length));
    for (const point of b.shape.points) nearest = Math.min(nearest, space.distance(corner, point));
    for (const [start, end] of b.segments)
      nearest = Math.min(nearest, space.distanceToSegment(corner, start, end));
  }
  return nearest;
}

export function area<Point>(space: Space<Point>, { regions }: Shape<Point>): number {
  let total = 0;
  for (const [outer, ...holes] of regions) {
    total += outer ? space.ringArea(outer) : 0;
    for (const hole of holes) total -= space.ringArea(hole);
  }
  return total;
}
