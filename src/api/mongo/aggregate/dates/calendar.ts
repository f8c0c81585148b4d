/** Days and their parts in the proleptic Gregorian calendar, for any year that a number of days reaches. */

export const DAY_MS = 86_400_000;

interface DateParts {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly ms: number;
}

/** Days since 1970-01-01; the month may be any whole number. */
export function daysOf(year: number, month: number, day: number): number {
  const months = year * 12 + (month - 1);
  const ownYear = Math.floor(months / 12);
  const ownMonth = months - ownYear * 12 + 1;
  // Years begin in March here, so that the leap day is the last of its year.
  const shifted = ownMonth <= 2 ? ownYear - 1 : ownYear;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (ownMonth + (ownMonth > 2 ? -3 : 9)) + 2) / 5);
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468 + (day - 1);
}

function civilOf(days: number): readonly [number, number, number] {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const part = Math.floor((5 * dayOfYear + 2) / 153);
  const month = part < 10 ? part + 3 : part - 9;
  const day = dayOfYear - Math.floor((153 * part + 2) / 5) + 1;
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day];
}

export function partsOf(localMs: number): DateParts {
  const days = Math.floor(localMs / DAY_MS);
  const rest = localMs - days * DAY_MS;
  const [year, month, day] = civilOf(days);
  return {
    year,
    month,
    day,
    hour: Math.floor(rest / 3_600_000),
    minute: Math.floor(rest / 60_000) % 60,
    second: Math.floor(rest / 1000) % 60,
    ms: rest % 1000,
  };
}

/** Parts beyond their range carry over. */
export function msOfParts(parts: DateParts): number {
  return (
    daysOf(parts.year, parts.month, parts.day) * DAY_MS +
    parts.hour * 3_600_000 +
    parts.minute * 60_000 +
    parts.second * 1000 +
    parts.ms
  );
}

/** 0 is Sunday. */
export function weekdayOf(localMs: number): number {
  const days = Math.floor(localMs / DAY_MS);
  return (((days + 4) % 7) + 7) % 7;
}

/** From 1. */
export function dayOfYear(localMs: number): number {
  const days = Math.floor(localMs / DAY_MS);
  return days - daysOf(civilOf(days)[0], 1, 1) + 1;
}

/** Weeks begin on Sunday; days before the first one are in week 0. */
export function weekOfYear(localMs: number): number {
  return Math.floor((dayOfYear(localMs) + 6 - weekdayOf(localMs)) / 7);
}

/** The week of ISO 8601 and the year it belongs to. */
export function isoWeekOf(localMs: number): { readonly year: number; readonly week: number } {
  const days = Math.floor(localMs / DAY_MS);
  const weekday = weekdayOf(localMs) || 7;
  const thursday = days + 4 - weekday;
  const year = civilOf(thursday)[0];
  return { year, week: Math.floor((thursday - daysOf(year, 1, 1)) / 7) + 1 };
}

/** The day of a week of ISO 8601; weeks and days beyond their range carry over. */
export function daysOfIsoWeek(year: number, week: number, day: number): number {
  const fourth = daysOf(year, 1, 4);
  const weekday = weekdayOf(fourth * DAY_MS) || 7;
  return fourth - weekday + 1 + (week - 1) * 7 + (day - 1);
}

export function daysInMonth(year: number, month: number): number {
  return daysOf(year, month + 1, 1) - daysOf(year, month, 1);
}
