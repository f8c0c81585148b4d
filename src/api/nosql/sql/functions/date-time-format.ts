/** Custom format patterns for instants, with the letters of .NET: yyyy MM dd HH mm ss fff, quoted and escaped text. */
import { draw, spend } from '../../../../base/index.ts';
import { type InstantParts, partsOf } from './instant.ts';

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
] as const;
const DAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const;

/** A run of one letter, a quoted text, an escaped character, or any other character. */
const TOKEN = /\\([\s\S])|'([^']*)'|"([^"]*)"|([dfFhHKmMstyz])\4*|[\s\S]/g;

export function formatWithPattern(instant: bigint, pattern: string): string {
  draw(8 * pattern.length);
  spend(4 * pattern.length);
  const parts = partsOf(instant);
  return pattern.replace(
    TOKEN,
    (token, escaped?: string, single?: string, double?: string, letter?: string) =>
      letter === undefined
        ? (escaped ?? single ?? double ?? token)
        : formatPart(parts, letter, token.length),
  );
}

function formatPart(parts: InstantParts, letter: string, length: number): string {
  const padded = (value: number) => String(value).padStart(length === 1 ? 1 : 2, '0');
  const fraction = () => String(parts.ticks).padStart(7, '0').slice(0, length);
  switch (letter) {
    case 'y':
      return length <= 2 ? padded(parts.year % 100) : String(parts.year).padStart(length, '0');
    case 'M': {
      const name = MONTHS[parts.month - 1] as string;
      return length <= 2 ? padded(parts.month) : length === 3 ? name.slice(0, 3) : name;
    }
    case 'd': {
      const name = DAYS[dayOfWeek(parts)] as string;
      return length <= 2 ? padded(parts.day) : length === 3 ? name.slice(0, 3) : name;
    }
    case 'H':
      return padded(parts.hour);
    case 'h':
      return padded(parts.hour % 12 === 0 ? 12 : parts.hour % 12);
    case 'm':
      return padded(parts.minute);
    case 's':
      return padded(parts.second);
    case 'f':
      return fraction();
    case 'F':
      return fraction().replace(/0+$/, '');
    case 't': {
      const name = parts.hour < 12 ? 'AM' : 'PM';
      return length === 1 ? name.slice(0, 1) : name;
    }
    case 'z':
      return length === 1 ? '+0' : length === 2 ? '+00' : '+00:00';
    default:
      return 'Z';
  }
}

function dayOfWeek({ year, month, day }: InstantParts): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCDay();
}
