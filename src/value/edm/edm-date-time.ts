/**
 * Times of the Table API: UTC with up to seven fractional digits. The normal form always has all seven, so that the
 * order of the texts is the order in time.
 */

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,12}))?)?)?(Z|[+-]\d\d:?\d\d)?$/i;
/** A 0 stands for any digit, other characters for themselves. */
const SHAPE = '0000-00-00T00:00:00';
const DIGITS = 7;
const ZERO = 0x30;
const POINT = 0x2e;
const UTC = 0x5a;

/** The earliest year that the service stores. */
const YEAR_MIN = 1601;

/** The normal form; undefined for text that is not a time between 1601 and 9999. A time without a zone is UTC. */
export function normalDateTime(text: string): string | undefined {
  const plain = plainDateTime(text);
  if (plain !== undefined) return plain;
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', digits = '', zone] = match;
  const fraction = digits.slice(0, 7).padEnd(7, '0');
  const whole = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  if (!isDate(whole)) return undefined;
  const ms = Date.parse(`${whole}${zoneText(zone)}`);
  if (Number.isNaN(ms)) return undefined;
  const date = new Date(ms);
  const utcYear = date.getUTCFullYear();
  if (utcYear < YEAR_MIN || utcYear > 9999) return undefined;
  return `${date.toISOString().slice(0, 19)}.${fraction}Z`;
}

/**
 * The fast path for what nearly all clients send: UTC, with at most seven digits. Undefined where the full parser has
 * to decide.
 */
function plainDateTime(text: string): string | undefined {
  const end = text.length - 1;
  const isWhole = end === SHAPE.length;
  if (end < SHAPE.length || end > SHAPE.length + 1 + DIGITS) return undefined;
  if (text.charCodeAt(end) !== UTC) return undefined;
  for (let at = 0; at < SHAPE.length; at++) {
    const mark = SHAPE.charCodeAt(at);
    if (mark === ZERO ? !isDigit(text.charCodeAt(at)) : text.charCodeAt(at) !== mark)
      return undefined;
  }
  if (!isWhole) {
    if (text.charCodeAt(SHAPE.length) !== POINT || end === SHAPE.length + 1) return undefined;
    for (let at = SHAPE.length + 1; at < end; at++)
      if (!isDigit(text.charCodeAt(at))) return undefined;
  }
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  // Days that not every month has need the calendar.
  if (year < YEAR_MIN || month < 1 || month > 12 || day < 1 || day > 28) return undefined;
  if (twoDigits(text, 11) > 23 || twoDigits(text, 14) > 59 || twoDigits(text, 17) > 59)
    return undefined;
  if (end === SHAPE.length + 1 + DIGITS) return text;
  return isWhole
    ? `${text.slice(0, end)}.0000000Z`
    : `${text.slice(0, end).padEnd(SHAPE.length + 1 + DIGITS, '0')}Z`;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code < ZERO + 10;
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
}

/** Whether the day exists. Date would turn the 30th of February into the 1st of March. */
function isDate(text: string): boolean {
  // Every month has 28 days, so nearly all dates need no calendar.
  const day = Number(text.slice(8, 10));
  const month = Number(text.slice(5, 7));
  const isTime =
    Number(text.slice(11, 13)) < 24 &&
    Number(text.slice(14, 16)) < 60 &&
    Number(text.slice(17, 19)) < 60;
  if (day >= 1 && day <= 28 && month >= 1 && month <= 12) return isTime;
  const ms = Date.parse(`${text.slice(0, 19)}Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === text.slice(0, 10);
}

function zoneText(zone: string | undefined): string {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 'Z';
  return zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`;
}
