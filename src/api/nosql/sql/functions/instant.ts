/** Points in time as ticks of 100 nanoseconds since 1970, and their parts, texts and calendar arithmetic, all in UTC. */

const TICKS_PER_MS = 10_000n;
const TICKS_PER_SECOND = 10_000_000;
/** Years 0001 to 9999. */
const TICKS_MIN = -621_355_968_000_000_000n;
const TICKS_MAX = 2_534_023_007_999_999_999n;

const FORMAT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,7})\d*)?)?)?(?:Z|[+-]00:00)?$/;

export interface InstantParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** 0 to 9,999,999. */
  readonly ticks: number;
}

/** ISO 8601 in UTC, from a date alone up to seven decimals of a second. */
export function parseInstant(text: string): bigint | undefined {
  const found = FORMAT.exec(text);
  if (!found) return undefined;
  const [year, month, day, hour, minute, second] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  return instantOf({
    year: year as number,
    month: month as number,
    day: day as number,
    hour: hour as number,
    minute: minute as number,
    second: second as number,
    ticks: Number((found[7] ?? '').padEnd(7, '0')),
  });
}

/** Undefined for invalid parts, such as a 30th of February. */
export function instantOf(parts: InstantParts): bigint | undefined {
  const { year, month, day, hour, minute, second, ticks } = parts;
  const isInRange =
    year >= 1 &&
    year <= 9999 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= daysInMonth(year, month) &&
    hour >= 0 &&
    hour <= 23 &&
    minute >= 0 &&
    minute <= 59 &&
    second >= 0 &&
    second <= 59 &&
    ticks >= 0 &&
    ticks < TICKS_PER_SECOND;
  if (!isInRange) return undefined;
  const date = new Date(0);
  // Date.UTC would take years below 100 for the twentieth century.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return BigInt(date.getTime()) * TICKS_PER_MS + BigInt(ticks);
}

export function partsOf(instant: bigint): InstantParts {
  const ms = floorDivide(instant, TICKS_PER_MS);
  const date = new Date(Number(ms));
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    ticks: date.getUTCMilliseconds() * 10_000 + Number(instant - ms * TICKS_PER_MS),
  };
}

export function formatInstant(instant: bigint): string | undefined {
  if (instant < TICKS_MIN || instant > TICKS_MAX) return undefined;
  const { year, month, day, hour, minute, second, ticks } = partsOf(instant);
  const two = (value: number) => String(value).padStart(2, '0');
  return (
    `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}` +
    `T${two(hour)}:${two(minute)}:${two(second)}.${String(ticks).padStart(7, '0')}Z`
  );
}

export function msToInstant(ms: number): bigint {
  return BigInt(ms) * TICKS_PER_MS;
}

export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

export type InstantUnit =
  | 'year'
  | 'month'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'millisecond'
  | 'microsecond'
  | 'nanosecond';

const UNITS: ReadonlyMap<string, InstantUnit> = new Map<string, InstantUnit>(
  Object.entries({
    year: ['year', 'yyyy', 'yy'],
    month: ['month', 'mm', 'm'],
    day: ['day', 'dd', 'd'],
    hour: ['hour', 'hh'],
    minute: ['minute', 'mi', 'n'],
    second: ['second', 'ss', 's'],
    millisecond: ['millisecond', 'ms'],
    microsecond: ['microsecond', 'mcs'],
    nanosecond: ['nanosecond', 'ns'],
  }).flatMap(([unit, names]) => names.map((name) => [name, unit as InstantUnit] as const)),
);

/** No unit has a longer name. */
const UNIT_LENGTH_MAX = 20;

export function unitOf(name: string): InstantUnit | undefined {
  return name.length <= UNIT_LENGTH_MAX ? UNITS.get(name.toLowerCase()) : undefined;
}

/** Units of fixed length, in ticks; a nanosecond is a hundredth of one. */
export const UNIT_TICKS: Readonly<
  Record<Exclude<InstantUnit, 'year' | 'month' | 'nanosecond'>, bigint>
> = {
  day: 864_000_000_000n,
  hour: 36_000_000_000n,
  minute: 600_000_000n,
  second: 10_000_000n,
  millisecond: 10_000n,
  microsecond: 10n,
};

/** Adds whole units; the day is limited to the length of the resulting month. */
export function addUnits(instant: bigint, unit: InstantUnit, count: number): bigint | undefined {
  if (unit === 'nanosecond') return instant + floorDivide(BigInt(count), 100n);
  if (unit !== 'year' && unit !== 'month') return instant + UNIT_TICKS[unit] * BigInt(count);
  const parts = partsOf(instant);
  const months = parts.year * 12 + parts.month - 1 + (unit === 'year' ? 12 * count : count);
  const year = Math.floor(months / 12);
  const month = months - year * 12 + 1;
  return instantOf({ ...parts, year, month, day: Math.min(parts.day, daysInMonth(year, month)) });
}

/** The count of boundaries of the unit between two instants. */
export function unitsBetween(start: bigint, end: bigint, unit: InstantUnit): number {
  if (unit === 'nanosecond') return Number((end - start) * 100n);
  if (unit !== 'year' && unit !== 'month') {
    const ticks = UNIT_TICKS[unit];
    return Number(floorDivide(end, ticks) - floorDivide(start, ticks));
  }
  const from = partsOf(start);
  const to = partsOf(end);
  const years = to.year - from.year;
  return unit === 'year' ? years : years * 12 + to.month - from.month;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
