/** Dates as text by a format of percent signs. */
import { MongoError } from '../../errors.ts';
import { dayOfYear, isoWeekOf, partsOf, weekdayOf, weekOfYear } from './calendar.ts';
import { type TimeZone, toLocal } from './time-zone.ts';

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

export const MONTH_NAMES: readonly string[] = MONTHS;

const KNOWN = 'dGHjLmMSuUVwYzZbB%';

/** Refuses a format with an unknown letter. */
export function checkFormat(format: string): void {
  for (const [, letter] of format.matchAll(/%([\s\S]?)/g))
    if (letter === '' || !KNOWN.includes(letter as string))
      throw new MongoError(
        'Location18536',
        letter === ''
          ? "Unmatched '%' at end of format string"
          : `Invalid format character '%${letter}' in format string`,
      );
}

export function printDate(ms: number, format: string, zone: TimeZone): string {
  const local = toLocal(ms, zone);
  const parts = partsOf(local);
  const two = (value: number): string => String(value).padStart(2, '0');
  const print = (letter: string): string => {
    switch (letter) {
      case 'Y':
        return year(parts.year);
      case 'm':
        return two(parts.month);
      case 'd':
        return two(parts.day);
      case 'H':
        return two(parts.hour);
      case 'M':
        return two(parts.minute);
      case 'S':
        return two(parts.second);
      case 'L':
        return String(parts.ms).padStart(3, '0');
      case 'j':
        return String(dayOfYear(local)).padStart(3, '0');
      case 'u':
        return String(weekdayOf(local) || 7);
      case 'w':
        return String(weekdayOf(local) + 1);
      case 'U':
        return two(weekOfYear(local));
      case 'V':
        return two(isoWeekOf(local).week);
      case 'G':
        return year(isoWeekOf(local).year);
      case 'z':
        return offset(zone.offsetAt(ms));
      case 'Z':
        return String(Math.trunc(zone.offsetAt(ms) / 60_000));
      case 'b':
        return (MONTHS[parts.month - 1] as string).slice(0, 3);
      case 'B':
        return MONTHS[parts.month - 1] as string;
      default:
        return '%';
    }
  };
  return format.replace(/%([\s\S])/g, (_, letter: string) => print(letter));
}

function year(value: number): string {
  if (value < 0 || value > 9999)
    throw new MongoError(
      'Location18537',
      `Could not convert date to string: date component was outside the supported range of 0-9999: ${value}`,
    );
  return String(value).padStart(4, '0');
}

function offset(ms: number): string {
  const minutes = Math.trunc(Math.abs(ms) / 60_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`;
}
