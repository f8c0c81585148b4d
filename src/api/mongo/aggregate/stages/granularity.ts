/** Series of preferred numbers, to which the boundaries of `$bucketAuto` are rounded. */
import { MongoError } from '../../errors.ts';

export interface Rounder {
  up(value: number): number;
  down(value: number): number;
}

/** The numbers of one decade, from 1 or 10 on. */
const SERIES: Readonly<Record<string, readonly number[]>> = {
  '1-2-5': [1, 2, 5],
  R5: [10, 16, 25, 40, 63],
  R10: [100, 125, 160, 200, 250, 315, 400, 500, 630, 800],
  R20: [
    100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800,
    900,
  ],
  R40: [
    100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280,
    300, 315, 335, 355, 375, 400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850,
    900, 950,
  ],
  R80: [
    103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258, 272, 290,
    307, 325, 345, 365, 387, 412, 437, 462, 487, 515, 545, 575, 615, 650, 690, 730, 775, 825, 875,
    925, 975,
  ],
  E6: [10, 15, 22, 33, 47, 68],
  E12: [10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82],
  E24: [
    10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91,
  ],
  E48: geometric(48),
  E96: geometric(96),
  E192: geometric(192),
};

function geometric(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => Math.round(100 * 10 ** (at / count)));
}

export function rounder(name: string): Rounder {
  if (name === 'POWERSOF2') return POWERS;
  const series = Object.hasOwn(SERIES, name) ? SERIES[name] : undefined;
  if (series === undefined)
    throw new MongoError('Location40257', `Unknown rounding granularity '${name}'`);
  return ofSeries(series);
}

const POWERS: Rounder = {
  up(value) {
    if (value === 0) return 0;
    const power = 2 ** Math.floor(Math.log2(value));
    return power > value ? power : power * 2;
  },
  down(value) {
    if (value === 0) return 0;
    const power = 2 ** Math.floor(Math.log2(value));
    return power < value ? power : power / 2;
  },
};

function ofSeries(series: readonly number[]): Rounder {
  const first = series[0] as number;
  const scaleOf = (value: number): number => 10 ** Math.floor(Math.log10(value / first));
  return {
    up(value) {
      if (value === 0) return 0;
      const scale = scaleOf(value);
      for (const number of series)
        if (product(number, scale) > value) return product(number, scale);
      return product(first * 10, scale);
    },
    down(value) {
      if (value === 0) return 0;
      const scale = scaleOf(value);
      for (const number of series.toReversed())
        if (product(number, scale) < value) return product(number, scale);
      return product(series[series.length - 1] as number, scale / 10);
    },
  };
}

/** Without the noise of binary fractions. */
function product(number: number, scale: number): number {
  return Number((number * scale).toPrecision(15));
}
