// Goal: areas on the ellipsoid are right for rings large and small, near poles and across the date line. Method:
// areas known in closed form, and sums of parts.
import { describe, expect, it } from 'vitest';
import { earth } from './earth.ts';
import { EARTH_SURFACE_M2 } from './earth-area.ts';

type Pair = readonly [longitude: number, latitude: number];

function areaOf(...corners: readonly Pair[]): number {
  const ring = [...corners, corners[0] as Pair].map(([longitude, latitude]) => {
    const point = earth.toPoint(longitude, latitude);
    if (!point) throw new Error(`no point: ${longitude} ${latitude}`);
    return point;
  });
  return earth.ringArea(ring);
}

it('knows the surface of the Earth', () => {
  expect(Math.round(EARTH_SURFACE_M2)).toBe(510_065_621_724_088);
});

describe('shares of the surface', () => {
  it.each<readonly [string, number, readonly Pair[]]>([
    [
      'an octant',
      1 / 8,
      [
        [0, 0],
        [90, 0],
        [0, 90],
      ],
    ],
    [
      'an octant, the other way around',
      1 / 8,
      [
        [0, 90],
        [90, 0],
        [0, 0],
      ],
    ],
    [
      'an octant of the south across the date line',
      1 / 8,
      [
        [-135, 0],
        [135, 0],
        [0, -90],
      ],
    ],
    [
      'a lune of a quarter around the south pole',
      1 / 4,
      [
        [0, 0],
        [90, 0],
        [180, 0],
        [0, -90],
      ],
    ],
    [
      'half, by the equator',
      1 / 2,
      [
        [0, 0],
        [120, 0],
        [-120, 0],
      ],
    ],
  ])('%s', (_, share, corners) => {
    expect(areaOf(...corners) / EARTH_SURFACE_M2).toBeCloseTo(share, 10);
  });
});

it('is the sum of its parts, around the pole and away from it', () => {
  const cap: readonly Pair[] = [
    [0, 80],
    [90, 80],
    [180, 80],
    [-90, 80],
  ];
  const parts = cap.map((corner, at) => areaOf(corner, cap[(at + 1) % 4] as Pair, [0, 90]));
  expect(areaOf(...cap) / parts.reduce((sum, part) => sum + part)).toBeCloseTo(1, 11);
  const whole = areaOf([10, 50], [20, 50], [20, 60], [10, 60]);
  const halves = areaOf([10, 50], [20, 50], [20, 60]) + areaOf([10, 50], [20, 60], [10, 60]);
  expect(whole / halves).toBeCloseTo(1, 11);
});

it('keeps the digits of a small ring', () => {
  // A hundred-thousandth of a degree at the equator is 1.1 m: a ring of 1.1 m by 1.1 m.
  const side = 1e-5;
  const area = areaOf([30, 0], [30 + side, 0], [30 + side, side], [30, side]);
  const expected = (side * Math.PI * 6_378_137 * side * Math.PI * 6_335_439.327) / 180 ** 2;
  expect(area / expected).toBeCloseTo(1, 7);
});
