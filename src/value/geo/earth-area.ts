/**
 * The area inside a ring on the WGS 84 ellipsoid whose edges are great elliptic arcs, as for lengths. It is the sum
 * over the edges of the strip between the edge and a pole: the area per unit of longitude, known in closed form,
 * integrated along the edge. The documented area of the service agrees to one part in 10^10; a sphere of the same
 * surface is 0.2 % off near the equator.
 *
 * A library for geodesics was rejected: its edges are shortest paths, not the arcs that the rest of this space (and
 * the service) uses.
 */
import type { Direction } from './earth.ts';

const EQUATOR_RADIUS_M = 6_378_137;
const FLATTENING = 1 / 298.257223563;
const POLE_RADIUS_M = EQUATOR_RADIUS_M * (1 - FLATTENING);
const ECCENTRICITY_SQUARE = FLATTENING * (2 - FLATTENING);
const ECCENTRICITY = Math.sqrt(ECCENTRICITY_SQUARE);

/** Half of the surface for a full turn of longitude. */
const POLE_STRIP_M2 = stripTo(1);
export const EARTH_SURFACE_M2 = 4 * Math.PI * POLE_STRIP_M2;

/** Longer arcs are integrated in pieces, because near a pole the strip changes quickly. */
const PIECE_RADIANS_MAX = 0.25;
/** Nearer to the axis than this there is no strip to the pole, and no longitude. */
const AXIS_SQUARE_MIN = 1e-24;

/** Rings whose corners are all this far from the axis can be measured from a latitude between them. */
const FAR_FROM_AXIS_SQUARE = 0.05;
/** The cosine of an edge that is too short to come near the axis between two such corners. */
const SHORT_EDGE_COSINE = Math.cos(0.1);

type Quadrature = readonly (readonly [node: number, weight: number])[];

/** The area of the smaller side of the ring. */
export function ringArea(ring: readonly Direction[], quadrature: Quadrature): number {
  const baseM2 = baseOf(ring);
  let area = 0;
  for (let at = 0; at + 1 < ring.length; at++)
    area += edgeArea(ring[at] as Direction, ring[at + 1] as Direction, baseM2, quadrature);
  const inside = Math.abs(area);
  return Math.min(inside, Math.abs(EARTH_SURFACE_M2 - inside));
}

/**
 * The base from which strips are measured: the nearer pole, where they shrink to nothing as fast as longitude turns.
 * A ring that goes around no pole may use any latitude, and one between its corners keeps the digits of small rings.
 */
function baseOf(ring: readonly Direction[]): number {
  let height = 0;
  let turned = 0;
  let isFar = true;
  for (const [at, [x, y, z]] of ring.entries()) {
    height += z;
    isFar &&= x * x + y * y > FAR_FROM_AXIS_SQUARE;
    const [nextX, nextY, nextZ] = ring[at + 1] ?? [x, y, z];
    turned += Math.atan2(x * nextY - y * nextX, x * nextX + y * nextY);
    isFar &&= x * nextX + y * nextY + z * nextZ > SHORT_EDGE_COSINE;
  }
  if (!isFar || Math.abs(turned) > 1) return height < 0 ? -POLE_STRIP_M2 : POLE_STRIP_M2;
  const mean = height / ring.length;
  return stripTo(sineOfLatitude(mean, 1 - mean * mean));
}

function edgeArea(
  [ax, ay, az]: Direction,
  [bx, by, bz]: Direction,
  baseM2: number,
  quadrature: Quadrature,
): number {
  const nx = ay * bz - az * by;
  const ny = az * bx - ax * bz;
  const nz = ax * by - ay * bx;
  const sine = Math.hypot(nx, ny, nz);
  // An edge along a meridian sweeps no longitude, and an edge of no length sweeps nothing.
  if (sine < 1e-15 || nz === 0) return 0;
  const total = Math.atan2(sine, ax * bx + ay * by + az * bz);
  // The direction of travel at the start: the cross product of the normal and the start, of unit length.
  const tx = (ny * az - nz * ay) / sine;
  const ty = (nz * ax - nx * az) / sine;
  const tz = (nx * ay - ny * ax) / sine;
  const turn = nz / sine;
  const pieces = Math.ceil(total / PIECE_RADIANS_MAX);
  const half = total / pieces / 2;
  let sum = 0;
  for (let piece = 0; piece < pieces; piece++) {
    const middle = (2 * piece + 1) * half;
    for (const [node, weight] of quadrature) {
      const cosine = Math.cos(middle + half * node);
      const along = Math.sin(middle + half * node);
      const x = ax * cosine + tx * along;
      const y = ay * cosine + ty * along;
      const z = az * cosine + tz * along;
      const axisSquare = x * x + y * y;
      if (axisSquare < AXIS_SQUARE_MIN) continue;
      const strip = stripTo(sineOfLatitude(z, axisSquare)) - baseM2;
      sum += weight * strip * (turn / axisSquare);
    }
  }
  return sum * half;
}

/** The sine of the geodetic latitude of a direction from the centre. */
function sineOfLatitude(z: number, axisSquare: number): number {
  return z / Math.sqrt(z * z + (1 - ECCENTRICITY_SQUARE) ** 2 * axisSquare);
}

/** The area between the equator and a latitude, per radian of longitude. */
function stripTo(sine: number): number {
  const bulge = sine / (1 - ECCENTRICITY_SQUARE * sine * sine);
  return (POLE_RADIUS_M ** 2 / 2) * (bulge + Math.atanh(ECCENTRICITY * sine) / ECCENTRICITY);
}
