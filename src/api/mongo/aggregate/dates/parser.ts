/** Texts to dates: the usual spellings, or a format of percent signs. Undefined is a text that is no date. */
import { DAY_MS, daysInMonth, daysOf, daysOfIsoWeek, msOfParts } from './calendar.ts';
import { MONTH_NAMES } from './print.ts';
import { fromLocal, type TimeZone, timeZone, UTC } from './time-zone.ts';

/** What a text says: each part may be absent. */
interface Found {
  year?: number;
  month?: number;
  day?: number;
  hour?: number;
  minute?: number;
  second?: number;
  ms?: number;
  zone?: TimeZone;
  dayOfYear?: number;
  isoYear?: number;
  isoWeek?: number;
  isoDay?: number;
}

const ZONE_WORDS: Readonly<Record<string, string>> = {
  z: '+00:00',
  utc: '+00:00',
  gmt: '+00:00',
  est: '-05:00',
  edt: '-04:00',
  cst: '-06:00',
  cdt: '-05:00',
  mst: '-07:00',
  mdt: '-06:00',
  pst: '-08:00',
  pdt: '-07:00',
};

/** Spaces and zero characters around a date; spaces of other scripts are none. */
const OUTSIDE = /^[ \t\n\v\f\r\0\u00a0]+|[ \t\n\v\f\r\0\u00a0]+$/g;

/** @param zone - where the text has none; a text with one must not come with another but UTC. */
export function parseDate(text: string, zone: TimeZone | undefined): number | undefined {
  const own = text.replace(OUTSIDE, '');
  const found = readIso(own) ?? readWords(own);
  return found === undefined ? undefined : finish(found, zone);
}

const ISO =
  /^(-?\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?|(\d{2})(\d{2})|-W(\d{2})(?:-(\d))?|-(\d{3}))?(?:[T \t][ \t]*(\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?|(\d{2})(?:(\d{2})(?:\.(\d{1,9}))?)?)?)?[ \t]*(Z|[A-Za-z]{3,}(?:\/[A-Za-z_]+)*|[+-]\d{2}(?::?\d{2})?)?$/i;

function readIso(text: string): Found | undefined {
  const found = ISO.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, month2, day2, week, weekday, yearDay, hour, minute, second, part] =
    found;
  const [minute2, second2, part2, zone] = found.slice(13);
  if (month === undefined && month2 === undefined && week === undefined && yearDay === undefined)
    return undefined;
  if (month !== undefined && day === undefined && hour !== undefined) return undefined;
  const made: Found = { year: Number(year) };
  const sentMonth = month ?? month2;
  const sentDay = day ?? day2;
  if (sentMonth !== undefined) made.month = Number(sentMonth);
  if (sentDay !== undefined) made.day = Number(sentDay);
  if (week !== undefined) {
    delete made.year;
    made.isoYear = Number(year);
    made.isoWeek = Number(week);
    made.isoDay = Number(weekday ?? 1);
  }
  if (yearDay !== undefined) made.dayOfYear = Number(yearDay);
  if (hour !== undefined) {
    if (minute === undefined && minute2 === undefined && zone === undefined) return undefined;
    made.hour = Number(hour);
    made.minute = Number(minute ?? minute2 ?? 0);
    made.second = Number(second ?? second2 ?? 0);
    made.ms = Math.trunc(Number(`0.${part ?? part2 ?? 0}`) * 1000 + 1e-9);
  }
  return withZone(made, zone);
}

function withZone(made: Found, text: string | undefined): Found | undefined {
  if (text === undefined) return made;
  try {
    made.zone = timeZone(ZONE_WORDS[text.toLowerCase()] ?? text);
    return made;
  } catch {
    return undefined;
  }
}

const WORDS =
  /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?(?:(\d{1,2})(?:st|nd|rd|th)?[\s-]+([a-z]{3,9})\.?,?[\s-]+(\d{4})|([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})|(\d{1,2})\/(\d{1,2})\/(\d{4})|(\d{4})\/(\d{1,2})\/(\d{1,2}))(?:,?\s+(?:at\s+)?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s*(am|pm)?)?\s*(Z|[A-Z]{3,}(?:\/[A-Za-z_]+)*|[+-]\d{2}:?\d{2})?$/i;

/** The time and its zone before the year, as C prints dates. */
const YEAR_LAST =
  /^([a-z]{3,9},? +[a-z]{3,9} +\d{1,2}) +(\d{1,2}:\d{2}(?::\d{2})?) +(\S*) *(\d{4})$/i;

function readWords(text: string): Found | undefined {
  const found = WORDS.exec(text.replace(YEAR_LAST, '$1 $4 $2 $3'));
  if (found === null) return undefined;
  const name = found[2] ?? found[4];
  const month =
    name === undefined
      ? Number(found[7] ?? found[11])
      : MONTH_NAMES.findIndex((full) => matchesName(full, name)) + 1;
  if (month === 0) return undefined;
  const made: Found = {
    year: Number(found[3] ?? found[6] ?? found[9] ?? found[10]),
    month,
    day: Number(found[1] ?? found[5] ?? found[8] ?? found[12]),
  };
  if (found[13] !== undefined) {
    let hour = Number(found[13]);
    if (found[17] !== undefined) hour = (hour % 12) + (found[17].toLowerCase() === 'pm' ? 12 : 0);
    made.hour = hour;
    made.minute = Number(found[14]);
    made.second = Number(found[15] ?? 0);
    made.ms = Math.trunc(Number(`0.${found[16] ?? 0}`) * 1000 + 1e-9);
  }
  return withZone(made, found[18]);
}

function matchesName(full: string, name: string): boolean {
  const lower = name.toLowerCase();
  return (
    lower === full.toLowerCase() ||
    lower === full.slice(0, 3).toLowerCase() ||
    (lower === 'sept' && full === 'September')
  );
}

/** Undefined where a part is out of its range. */
function finish(found: Found, zone: TimeZone | undefined): number | undefined {
  const { hour = 0, minute = 0, second = 0, ms = 0 } = found;
  if (hour > 24 || minute > 59 || second > 60) return undefined;
  if (hour === 24 && (minute > 0 || second > 0 || ms > 0)) return undefined;
  if (found.zone !== undefined && zone !== undefined && !zone.isUtc) return undefined;
  const days = daysFound(found);
  if (days === undefined) return undefined;
  const time = hour * 3_600_000 + minute * 60_000 + second * 1000 + ms;
  return fromLocal(days * DAY_MS + time, found.zone ?? zone ?? UTC);
}

function daysFound(found: Found): number | undefined {
  if (found.isoYear !== undefined || found.isoWeek !== undefined) {
    if (found.isoYear === undefined || found.year !== undefined) return undefined;
    const week = found.isoWeek ?? 1;
    const day = found.isoDay ?? 1;
    if (week < 1 || week > 53 || day < 1 || day > 7) return undefined;
    return daysOfIsoWeek(found.isoYear, week, day);
  }
  if (found.year === undefined) return undefined;
  if (found.dayOfYear !== undefined) {
    const most = daysOf(found.year + 1, 1, 1) - daysOf(found.year, 1, 1);
    if (found.dayOfYear < 1 || found.dayOfYear > Math.max(most, 365)) return undefined;
    return daysOf(found.year, 1, found.dayOfYear);
  }
  const month = found.month ?? 1;
  const day = found.day ?? 1;
  if (month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  if (day > daysInMonth(found.year, month)) return undefined;
  return Math.floor(
    msOfParts({ year: found.year, month, day, hour: 0, minute: 0, second: 0, ms: 0 }) / DAY_MS,
  );
}

function set(found: Found, part: Exclude<keyof Found, 'zone'>, value: number): void {
  found[part] = value;
}

/** The pattern of each letter of a format. */
const LETTERS: Readonly<Record<string, readonly [string, (found: Found, text: string) => void]>> = {
  Y: ['\\d{4}', (found, text) => set(found, 'year', Number(text))],
  m: ['\\d{1,2}', (found, text) => set(found, 'month', Number(text))],
  d: ['\\d{1,2}', (found, text) => set(found, 'day', Number(text))],
  H: ['\\d{1,2}', (found, text) => set(found, 'hour', Number(text))],
  M: ['\\d{1,2}', (found, text) => set(found, 'minute', Number(text))],
  S: ['\\d{1,2}', (found, text) => set(found, 'second', Number(text))],
  L: ['\\d{1,3}', (found, text) => set(found, 'ms', Number(text.padEnd(3, '0')))],
  // MongoDB counts the days of a year from zero here, and here alone.
  j: ['\\d{1,3}', (found, text) => set(found, 'dayOfYear', Number(text) + 1)],
  u: ['\\d', (found, text) => set(found, 'isoDay', Number(text))],
  V: ['\\d{1,2}', (found, text) => set(found, 'isoWeek', Number(text))],
  G: ['\\d{4}', (found, text) => set(found, 'isoYear', Number(text))],
  z: [
    '[+-]\\d{2}:?\\d{2}|Z|[A-Za-z]+(?:/[A-Za-z_]+)*',
    (found, text) => {
      withZone(found, text);
    },
  ],
  Z: [
    '[+-]?\\d{1,4}',
    (found, text) => {
      const offset = Number(text) * 60_000;
      found.zone = { name: text, isUtc: offset === 0, offsetAt: () => offset };
    },
  ],
  b: ['[A-Za-z]{3}', (found, text) => set(found, 'month', monthNumber(text))],
  B: ['[A-Za-z]{3,9}', (found, text) => set(found, 'month', monthNumber(text))],
};

function monthNumber(text: string): number {
  return MONTH_NAMES.findIndex((full) => matchesName(full, text)) + 1;
}

/** False where a letter of the format cannot be read. */
export function canParse(format: string): boolean {
  return [...format.matchAll(/%([\s\S]?)/g)].every(
    ([, letter]) => letter === '%' || Object.hasOwn(LETTERS, letter as string),
  );
}

export function parseDateBy(
  text: string,
  format: string,
  zone: TimeZone | undefined,
): number | undefined {
  const letters: string[] = [];
  const pattern = format.replace(/%([\s\S])|[\s\S]/g, (part, letter?: string) => {
    if (letter === undefined || letter === '%')
      return (letter ?? part).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    letters.push(letter);
    return `(${(LETTERS[letter] as readonly [string, unknown])[0]})`;
  });
  const match = new RegExp(`^${pattern}$`).exec(text);
  if (match === null) return undefined;
  const found: Found = {};
  for (const [at, letter] of letters.entries())
    (LETTERS[letter] as (typeof LETTERS)[string])[1](found, match[at + 1] as string);
  if (letters.includes('z') && found.zone === undefined) return undefined;
  return finish(found, zone);
}
