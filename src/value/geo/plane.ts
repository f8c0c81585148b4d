/** The flat space of containers with geometry coordinates: straight lines, lengths in their own unit. */
import type { Space } from './space.ts';

export interface PlanePoint {
  readonly x: number;
  readonly y: number;
}

export const plane: Space<PlanePoint> = {
  toPoint: (x, y) => ({ x, y }),
  whyOutside: () => 'The coordinates lie outside the plane.',
  distance: (a, b) => Math.hypot(a.x - b.x, a.y - b.y),
  distanceToSegment(point, start, end) {
    const dx = end.x - start.x;
    const dy = end.y - start.y;
    const squares = dx * dx + dy * dy;
    const along =
      squares === 0 ? 0 : ((point.x - start.x) * dx + (point.y - start.y) * dy) / squares;
    const clamped = Math.min(1, Math.max(0, along));
    return Math.hypot(point.x - start.x - clamped * dx, point.y - start.y - clamped * dy);
  },
  segmentsCross(a, b, c, d) {
    const abc = turn(a, b, c);
    const abd = turn(a, b, d);
    const cda = turn(c, d, a);
    const cdb = turn(c, d, b);
    if (abc * abd < 0 && cda * cdb < 0) return true;
    return (
      (abc === 0 && isOnSegment(c, a, b)) ||
      (abd === 0 && isOnSegment(d, a, b)) ||
      (cda === 0 && isOnSegment(a, c, d)) ||
      (cdb === 0 && isOnSegment(b, c, d))
    );
  },
  ringHolds(ring, point) {
    let isInside = false;
    for (let at = 0; at + 1 < ring.length; at++) {
      const a = ring[at] as PlanePoint;
      const b = ring[at + 1] as PlanePoint;
      if (turn(a, b, point) === 0 && isOnSegment(point, a, b)) return true;
      const crosses =
        a.y > point.y !== b.y > point.y &&
        point.x < ((b.x - a.x) * (point.y - a.y)) / (b.y - a.y) + a.x;
      if (crosses) isInside = !isInside;
    }
    return isInside;
  },
  isCounterClockwise: (ring) => signedArea(ring) > 0,
  ringArea: (ring) => Math.abs(signedArea(ring)),
  gap: (a, b) => plane.distance(a, b),
  gapToSegment: (point, start, end) => plane.distanceToSegment(point, start, end),
  gapOf: (distance) => distance,
  middle(points) {
    let x = 0;
    let y = 0;
    for (const point of points) {
      x += point.x / points.length;
      y += point.y / points.length;
    }
    return { x, y };
  },
  gapMax: Number.POSITIVE_INFINITY,
};

/** Positive if c is left of the line from a to b. */
function turn(a: PlanePoint, b: PlanePoint, c: PlanePoint): number {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/** The point must be on the line through a and b. */
function isOnSegment(point: PlanePoint, a: PlanePoint, b: PlanePoint): boolean {
  return (
    point.x >= Math.min(a.x, b.x) &&
    point.x <= Math.max(a.x, b.x) &&
    point.y >= Math.min(a.y, b.y) &&
    point.y <= Math.max(a.y, b.y)
  );
}

function signedArea(ring: readonly PlanePoint[]): number {
  let doubled = 0;
  for (let at = 0; at + 1 < ring.length; at++) {
    const a = ring[at] as PlanePoint;
    const b = ring[at + 1] as PlanePoint;
    doubled += a.x * b.y - b.x * a.y;
  }
  return doubled / 2;
}
