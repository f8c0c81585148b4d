/** Dates and units of time: adding, counting boundaries, truncating. */
import { MongoError } from '../../errors.ts';
import { DAY_MS, daysInMonth, daysOf, msOfParts, partsOf, weekdayOf } from './calendar.ts';
import { fromLocal, type TimeZone, toLocal } from './time-zone.ts';

export type Unit =
  | 'year'
  | 'quarter'
  | 'month'
  | 'week'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'millisecond';

const FIXED: Readonly<Partial<Record<Unit, number>>> = {
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

const MONTHS: Readonly<Partial<Record<Unit, number>>> = { year: 12, quarter: 3, month: 1 };
const DAYS: Readonly<Partial<Record<Unit, number>>> = { week: 7, day: 1 };

const UNITS: ReadonlySet<string> = new Set([
  ...Object.keys(FIXED),
  ...Object.keys(MONTHS),
  ...Object.keys(DAYS),
]);

export function parseUnit(text: string): Unit {
  if (!UNITS.has(text)) throw new MongoError('FailedToParse', `unknown time unit value: ${text}`);
  return text as Unit;
}

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FULL = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** 0 is Sunday; undefined for a text that is no day. */
export function parseWeekday(text: string): number | undefined {
  const lower = text.toLowerCase();
  const at = FULL.indexOf(lower);
  const found = at >= 0 ? at : WEEKDAYS.indexOf(lower);
  return found < 0 ? undefined : found;
}

/** Days of the month beyond its end become its last one. */
export function addUnits(ms: number, unit: Unit, amount: number, zone: TimeZone): number {
  const fixed = FIXED[unit];
  if (fixed !== undefined) return ms + amount * fixed;
  const local = toLocal(ms, zone);
  const days = DAYS[unit];
  if (days !== undefined) return fromLocal(local + amount * days * DAY_MS, zone);
  const parts = partsOf(local);
  const months = parts.year * 12 + parts.month - 1 + amount * (MONTHS[unit] as number);
  const year = Math.floor(months / 12);
  const month = months - year * 12 + 1;
  const day = Math.min(parts.day, daysInMonth(year, month));
  return fromLocal(msOfParts({ ...parts, year, month, day }), zone);
}

interface WeekOptions {
  readonly zone: TimeZone;
  /** The first day of a week; 0 is Sunday. */
  readonly startOfWeek: number;
}

/** How many boundaries of the unit lie between the dates. */
export function unitsBetween(
  from: number,
  to: number,
  unit: Unit,
  { zone, startOfWeek }: WeekOptions,
): number {
  const fixed = FIXED[unit];
  if (unit === 'millisecond') return to - from;
  const [start, stop] = [toLocal(from, zone), toLocal(to, zone)];
  if (unit === 'hour' && fixed !== undefined) {
    // Hours are counted on the time line, from hours that begin as local ones do.
    const shift = zone.offsetAt(from);
    return Math.floor((to + shift) / fixed) - Math.floor((from + shift) / fixed);
  }
  if (fixed !== undefined) {
    const shift = zone.offsetAt(from);
    return Math.floor((to + shift) / fixed) - Math.floor((from + shift) / fixed);
  }
  if (unit === 'day') return Math.floor(stop / DAY_MS) - Math.floor(start / DAY_MS);
  if (unit === 'week') {
    const begin = (local: number): number =>
      Math.floor(local / DAY_MS) - ((weekdayOf(local) - startOfWeek + 7) % 7);
    return (begin(stop) - begin(start)) / 7;
  }
  const [a, b] = [partsOf(start), partsOf(stop)];
  const size = MONTHS[unit] as number;
  const number = ({ year, month }: { year: number; month: number }): number =>
    Math.floor((year * 12 + month - 1) / size);
  return number(b) - number(a);
}

/** The day from which bins are counted. */
const REFERENCE_DAYS = daysOf(2000, 1, 1);

interface Bin extends WeekOptions {
  readonly unit: Unit;
  readonly size: number;
}

export function truncate(ms: number, { unit, size, zone, startOfWeek }: Bin): number {
  const fixed = FIXED[unit];
  if (fixed !== undefined) {
    const bin = fixed * size;
    const reference = fromLocal(REFERENCE_DAYS * DAY_MS, zone);
    // Bins of hours and below follow the offset of the date, so that they begin on local hours.
    const shift = zone.offsetAt(ms) - zone.offsetAt(reference);
    return reference + Math.floor((ms + shift - reference) / bin) * bin - shift;
  }
  const local = toLocal(ms, zone);
  const days = DAYS[unit];
  if (days !== undefined) {
    let reference = REFERENCE_DAYS;
    if (unit === 'week') reference += (startOfWeek - weekdayOf(reference * DAY_MS) + 7) % 7;
    const bin = days * size;
    const day = Math.floor(local / DAY_MS);
    return fromLocal((reference + Math.floor((day - reference) / bin) * bin) * DAY_MS, zone);
  }
  const { year, month } = partsOf(local);
  const bin = (MONTHS[unit] as number) * size;
  const months = Math.floor(((year - 2000) * 12 + month - 1) / bin) * bin;
  return fromLocal(daysOf(2000, months + 1, 1) * DAY_MS, zone);
}

/** The length of the unit where it is always the same. */
export function fixedMs(unit: Unit): number | undefined {
  return FIXED[unit] ?? (DAYS[unit] === undefined ? undefined : (DAYS[unit] as number) * DAY_MS);
}
