/**
 * The space of geography coordinates: the WGS 84 ellipsoid. A line between two points is in the plane through them
 * and the centre (a great elliptic arc), and lengths are measured along it. The documented distances of the service
 * agree with this to a few parts in 10^8, and not with a sphere. Points are directions from the centre, so that
 * everything but lengths is geometry on the unit sphere.
 */
import { ringArea } from './earth-area.ts';
import type { Space } from './space.ts';

export type Direction = readonly [x: number, y: number, z: number];

const EQUATOR_RADIUS_M = 6_378_137;
const FLATTENING = 1 / 298.257223563;
const POLE_RADIUS_M = EQUATOR_RADIUS_M * (1 - FLATTENING);
const RADIANS = Math.PI / 180;
/** Directions nearer than this are one point: less than a millimetre on the ground. */
const TINY = 1e-10;

/** Nodes and weights of 8-point Gauss–Legendre quadrature on [-1, 1]; far finer than the flattening needs. */
const QUADRATURE: readonly (readonly [node: number, weight: number])[] = [
  [0.1834346424956498, 0.362683783378362],
  [0.525532409916329, 0.3137066458778873],
  [0.7966664774136267, 0.2223810344533745],
  [0.9602898564975363, 0.1012285362903763],
].flatMap(([node, weight]) => [
  [node as number, weight as number] as const,
  [-(node as number), weight as number] as const,
]);

export const earth: Space<Direction> = {
  toPoint(longitude, latitude) {
    if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90) return undefined;
    const radius = Math.cos(latitude * RADIANS);
    return normalize([
      radius * Math.cos(longitude * RADIANS),
      radius * Math.sin(longitude * RADIANS),
      (1 - FLATTENING) ** 2 * Math.sin(latitude * RADIANS),
    ]);
  },
  whyOutside: (_, latitude) =>
    Math.abs(latitude) > 90
      ? 'Latitude values must be between -90 and 90 degrees.'
      : 'Longitude values must be between -180 and 180 degrees.',
  distance: arcLength,
  distanceToSegment(point, start, end) {
    return arcLength(point, nearestOnArc(point, start, end));
  },
  segmentsCross,
  ringHolds(ring, point) {
    let turned = 0;
    for (let at = 0; at + 1 < ring.length; at++) {
      const a = ring[at] as Direction;
      const b = ring[at + 1] as Direction;
      if (angle(point, nearestOnArc(point, a, b)) < TINY) return true;
      turned += azimuthChange(point, a, b);
    }
    // A full turn to the ring's own side; the opposite turn means that the antipode is inside.
    return (earth.isCounterClockwise(ring) ? turned : -turned) > Math.PI;
  },
  /** The orientation is seen from the centre of its corners, on the side where the ring is smaller. */
  isCounterClockwise(ring) {
    let area: Direction = [0, 0, 0];
    let middle: Direction = [0, 0, 0];
    for (let at = 0; at + 1 < ring.length; at++) {
      area = add(area, cross(ring[at] as Direction, ring[at + 1] as Direction));
      middle = add(middle, ring[at] as Direction);
    }
    return dot(area, middle) > 0;
  },
  ringArea: (ring) => ringArea(ring, QUADRATURE),
  gap: angle,
  gapToSegment: (point, start, end) => angle(point, nearestOnArc(point, start, end)),
  // The pole radius is the shortest; the factor covers the rounding of lengths.
  gapOf: (distanceM) => (distanceM / POLE_RADIUS_M) * (1 + 1e-9),
  middle(points) {
    let sum: Direction = [0, 0, 0];
    for (const point of points) sum = add(sum, point);
    return normalize(sum);
  },
  gapMax: 80 * RADIANS,
};

function arcLength(a: Direction, b: Direction): number {
  const total = angle(a, b);
  if (total < 1e-15) return 0;
  const along = towards(a, b);
  const squash = 1 / POLE_RADIUS_M ** 2 - 1 / EQUATOR_RADIUS_M ** 2;
  let length = 0;
  for (const [node, weight] of QUADRATURE) {
    const theta = (total * (1 + node)) / 2;
    const height = a[2] * Math.cos(theta) + along[2] * Math.sin(theta);
    const slope = along[2] * Math.cos(theta) - a[2] * Math.sin(theta);
    const inverseSquare = 1 / EQUATOR_RADIUS_M ** 2 + squash * height * height;
    const radius = 1 / Math.sqrt(inverseSquare);
    const radiusChange = -squash * height * slope * radius ** 3;
    length += weight * Math.hypot(radius, radiusChange);
  }
  return (length * total) / 2;
}

/** The point of the arc nearest to a direction: its foot on the great circle, or an end. */
function nearestOnArc(point: Direction, start: Direction, end: Direction): Direction {
  const normal = cross(start, end);
  if (Math.hypot(...normal) < 1e-15) return start;
  const unit = normalize(normal);
  const foot = add(point, scale(unit, -dot(point, unit)));
  if (Math.hypot(...foot) > 1e-15) {
    const onCircle = normalize(foot);
    if (isWithinArc(onCircle, start, end, unit)) return onCircle;
  }
  return dot(point, start) >= dot(point, end) ? start : end;
}

/** The point must be on the great circle of the arc. */
function isWithinArc(point: Direction, start: Direction, end: Direction, normal: Direction) {
  return dot(cross(start, point), normal) >= -TINY && dot(cross(point, end), normal) >= -TINY;
}

function segmentsCross(a: Direction, b: Direction, c: Direction, d: Direction): boolean {
  const first = cross(a, b);
  const second = cross(c, d);
  const line = cross(first, second);
  if (Math.hypot(...line) < TINY)
    return [
      [c, a, b],
      [d, a, b],
      [a, c, d],
      [b, c, d],
    ].some(([point, start, end]) => {
      const touched = nearestOnArc(point as Direction, start as Direction, end as Direction);
      return angle(point as Direction, touched) < TINY;
    });
  const meeting = normalize(line);
  return [meeting, scale(meeting, -1)].some(
    (point) =>
      isWithinArc(point, a, b, normalize(first)) && isWithinArc(point, c, d, normalize(second)),
  );
}

/** The angle by which the view from a point turns, to the left positive, along the arc from a to b. */
function azimuthChange(from: Direction, a: Direction, b: Direction): number {
  const left = cross(from, a);
  const right = cross(from, b);
  return Math.atan2(dot(from, cross(left, right)), dot(left, right));
}

function towards(a: Direction, b: Direction): Direction {
  return normalize(add(b, scale(a, -dot(a, b))));
}

function angle(a: Direction, b: Direction): number {
  return Math.atan2(Math.hypot(...cross(a, b)), dot(a, b));
}

function add(a: Direction, b: Direction): Direction {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

function scale(a: Direction, factor: number): Direction {
  return [a[0] * factor, a[1] * factor, a[2] * factor];
}

function dot(a: Direction, b: Direction): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: Direction, b: Direction): Direction {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function normalize(a: Direction): Direction {
  const length = Math.hypot(...a);
  return length === 0 ? a : scale(a, 1 / length);
}
