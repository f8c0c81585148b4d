/** How shapes lie to each other: the same code on the Earth and in the plane. */
import type { Shape } from './geo-json.ts';
import type { Space } from './space.ts';

export type Segment<Point> = readonly [Point, Point];

/** Lines and borders, piece by piece. */
export function segmentsOf<Point>({ lines, regions }: Shape<Point>): readonly Segment<Point>[] {
  return [...lines, ...regions.flat()].flatMap((line) =>
    line.slice(1).map((end, at) => [line[at] as Point, end] as const),
  );
}

export function cornersOf<Point>({ points, lines, regions }: Shape<Point>): readonly Point[] {
  return [...points, ...lines.flat(), ...regions.flat(2)];
}

/** In the outer ring, or outside it if it turns right, and in no hole. */
function regionHolds<Point>(
  space: Space<Point>,
  [outer, ...holes]: readonly (readonly Point[])[],
  point: Point,
): boolean {
  if (!outer) return false;
  const isInside = space.ringHolds(outer, point) === space.isCounterClockwise(outer);
  return isInside && !holes.some((hole) => isStrictlyInside(space, hole, point));
}

/** The border of a hole belongs to the region. */
function isStrictlyInside<Point>(space: Space<Point>, ring: readonly Point[], point: Point) {
  if (!space.ringHolds(ring, point)) return false;
  return ring
    .slice(1)
    .every((end, at) => space.distanceToSegment(point, ring[at] as Point, end) > 0);
}

export function holds<Point>(space: Space<Point>, shape: Shape<Point>, point: Point): boolean {
  return shape.regions.some((region) => regionHolds(space, region, point));
}

function segmentsMeet<Point>(space: Space<Point>, a: Shape<Point>, b: Shape<Point>): boolean {
  const others = segmentsOf(b);
  return segmentsOf(a).some((one) =>
    others.some((other) => space.segmentsCross(one[0], one[1], other[0], other[1])),
  );
}

export function intersects<Point>(space: Space<Point>, a: Shape<Point>, b: Shape<Point>): boolean {
  return (
    cornersOf(a).some((corner) => holds(space, b, corner)) ||
    cornersOf(b).some((corner) => holds(space, a, corner)) ||
    segmentsMeet(space, a, b) ||
    cornerDistance(space, a, b) === 0
  );
}

/** Every corner inside, and no border crossed where the inner shape has extent. */
export function isWithin<Point>(space: Space<Point>, a: Shape<Point>, b: Shape<Point>): boolean {
  if (b.regions.length === 0) return distance(space, a, b) === 0 && segmentsOf(a).length === 0;
  return cornersOf(a).every((corner) => holds(space, b, corner)) && !bordersCut(space, a, b);
}

/** Whether the middle of a piece that meets the border lies outside. */
function bordersCut<Point>(space: Space<Point>, a: Shape<Point>, b: Shape<Point>): boolean {
  const borders = segmentsOf(b);
  return segmentsOf(a).some(([start, end]) =>
    borders.some(
      ([from, to]) =>
        space.segmentsCross(start, end, from, to) &&
        space.distanceToSegment(start, from, to) > 0 &&
        space.distanceToSegment(end, from, to) > 0 &&
        space.distanceToSegment(from, start, end) > 0 &&
        space.distanceToSegment(to, start, end) > 0,
    ),
  );
}

export function distance<Point>(space: Space<Point>, a: Shape<Point>, b: Shape<Point>): number {
  return intersects(space, a, b) ? 0 : cornerDistance(space, a, b);
}

/** Of shapes that do not cross, the nearest pair has a corner in it. */
function cornerDistance<Point>(space: Space<Point>, a: Shape<Point>, b: Shape<Point>): number {
  return Math.min(cornersToShape(space, a, b), cornersToShape(space, b, a));
}

function cornersToShape<Point>(space: Space<Point>, a: Shape<Point>, b: Shape<Point>): number {
  const segments = segmentsOf(b);
  let nearest = Number.POSITIVE_INFINITY;
  for (const corner of cornersOf(a)) {
    for (const point of b.points) nearest = Math.min(nearest, space.distance(corner, point));
    for (const [start, end] of segments)
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
