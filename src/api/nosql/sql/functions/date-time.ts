/** Date and time functions over ISO 8601 texts in UTC, ticks and timestamps. */
import type { Clock } from '../../../../base/index.ts';
import type { Value } from '../../../../value/index.ts';
import { formatWithPattern } from './date-time-format.ts';
import { define, defineVolatile, type SystemFunction } from './function.ts';
import {
  addUnits,
  floorDivide,
  formatInstant,
  type InstantParts,
  type InstantUnit,
  instantOf,
  msToInstant,
  parseInstant,
  partsOf,
  UNIT_TICKS,
  unitOf,
  unitsBetween,
} from './instant.ts';

const TICKS_PER_MS = 10_000;

export const dateTimeFunctions: readonly SystemFunction[] = [
  define('DateTimeAdd', 3, (unit, count, text) => {
    const instant = toInstant(text);
    const named = toUnit(unit);
    if (instant === undefined || !named || !isWhole(count)) return undefined;
    return format(addUnits(instant, named, count));
  }),
  define('DateTimeBin', [2, 4], bin),
  define('DateTimeDiff', 3, (unit, start, end) => {
    const from = toInstant(start);
    const to = toInstant(end);
    const named = toUnit(unit);
    if (from === undefined || to === undefined || !named) return undefined;
    return unitsBetween(from, to, named);
  }),
  define('DateTimeFormat', 2, (text, pattern) => {
    const instant = toInstant(text);
    if (instant === undefined || typeof pattern !== 'string') return undefined;
    return formatWithPattern(instant, pattern);
  }),
  define('DateTimeFromParts', [3, 7], fromParts),
  define('DateTimePart', 2, (unit, text) => part(toUnit(unit), text)),
  define('DAY', 1, (text) => part('day', text)),
  define('MONTH', 1, (text) => part('month', text)),
  define('YEAR', 1, (text) => part('year', text)),
  define('DateTimeToTicks', 1, (text) => {
    const instant = toInstant(text);
    return instant === undefined ? undefined : Number(instant);
  }),
  define('DateTimeToTimestamp', 1, (text) => {
    const instant = toInstant(text);
    return instant === undefined ? undefined : Number(floorDivide(instant, BigInt(TICKS_PER_MS)));
  }),
  define('TicksToDateTime', 1, (ticks) => (isWhole(ticks) ? format(BigInt(ticks)) : undefined)),
  define('TimestampToDateTime', 1, (ms) => (isWhole(ms) ? format(msToInstant(ms)) : undefined)),
];

/** Functions of the current time. Those whose names end in Static use the start of the query; see below. */
export function clockFunctions(clock: Clock): readonly SystemFunction[] {
  const now = () => msToInstant(clock.nowMs());
  return [
    defineVolatile('GetCurrentDateTime', 0, () => format(now())),
    defineVolatile('GetCurrentTicks', 0, () => clock.nowMs() * TICKS_PER_MS),
    defineVolatile('GetCurrentTimestamp', 0, () => clock.nowMs()),
    defineVolatile('NOW', [0, 2], (...offset) => {
      if (offset.length === 0) return format(now());
      const [unit, count] = offset;
      const named = toUnit(unit);
      return named && isWhole(count) ? format(addUnits(now(), named, count)) : undefined;
    }),
    defineVolatile('AGO', 2, (unit, count) => {
      const named = toUnit(unit);
      return named && isWhole(count) ? format(addUnits(now(), named, -count)) : undefined;
    }),
  ];
}

/** Functions of the start time of the query, by lower-case name. */
export const staticClockFunctions: ReadonlyMap<string, (startMs: number) => Value> = new Map<
  string,
  (startMs: number) => Value
>([
  ['getcurrentdatetimestatic', (startMs) => format(msToInstant(startMs))],
  ['getcurrentticksstatic', (startMs) => startMs * TICKS_PER_MS],
  ['getcurrenttimestampstatic', (startMs) => startMs],
]);

function isWhole(value: Value): value is number {
  return typeof value === 'number' && Number.isInteger(value);
}

function toInstant(text: Value): bigint | undefined {
  return typeof text === 'string' ? parseInstant(text) : undefined;
}

function toUnit(name: Value): InstantUnit | undefined {
  return typeof name === 'string' ? unitOf(name) : undefined;
}

function format(instant: bigint | undefined): Value {
  return instant === undefined ? undefined : formatInstant(instant);
}

function part(unit: InstantUnit | undefined, text: Value): Value {
  const instant = toInstant(text);
  if (instant === undefined || !unit) return undefined;
  const parts = partsOf(instant);
  switch (unit) {
    case 'millisecond':
      return Math.floor(parts.ticks / 10_000);
    case 'microsecond':
      return Math.floor(parts.ticks / 10);
    case 'nanosecond':
      return parts.ticks * 100;
    default:
      return parts[unit];
  }
}

function fromParts(...values: readonly Value[]): Value {
  if (!values.every(isWhole)) return undefined;
  const [year, month, day, hour = 0, minute = 0, second = 0, ticks = 0] = values;
  const parts = { year, month, day, hour, minute, second, ticks } as InstantParts;
  return format(instantOf(parts));
}

/** The start of 1601, before which no bins are counted (documented). */
const BIN_ORIGIN_MIN = -116_444_736_000_000_000n;

/** The start of the bin that contains the instant; bins are counted from an origin, 1970 by default. */
function bin(text: Value, unit: Value, size: Value = 1, origin: Value = '1970-01-01'): Value {
  const instant = toInstant(text);
  const start = toInstant(origin);
  const named = toUnit(unit);
  if (instant === undefined || start === undefined || !named || !isWhole(size) || size <= 0)
    return undefined;
  if (start < BIN_ORIGIN_MIN) return undefined;
  if (named === 'year' || named === 'month')
    return format(calendarBin(instant, named, size, start));
  const ticks =
    named === 'nanosecond'
      ? BigInt(Math.max(1, Math.floor(size / 100)))
      : UNIT_TICKS[named] * BigInt(size);
  return format(start + floorDivide(instant - start, ticks) * ticks);
}

function calendarBin(
  instant: bigint,
  unit: 'year' | 'month',
  size: number,
  start: bigint,
): bigint | undefined {
  const bins = Math.floor(unitsBetween(start, instant, unit) / size);
  const candidate = addUnits(start, unit, bins * size);
  // The boundary of the calendar month may be before the origin's day of the month.
  return candidate !== undefined && candidate > instant
    ? addUnits(start, unit, (bins - 1) * size)
    : candidate;
}
