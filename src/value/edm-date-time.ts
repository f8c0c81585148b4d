/**
 * Points in time as the Table API has them: UTC with up to seven digits behind the second. The normal form always has
 * all seven, so that the order of the texts is the order in time.
 */

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,12}))?)?)?(Z|[+-]\d\d:?\d\d)?$/i;
const NORMAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/;

/** The earliest the service stores. */
const YEAR_MIN = 1601;

/** The normal form; undefined for what is no point in time between 1601 and 9999. Without a zone it is UTC. */
export function normalDateTime(text: string): string | undefined {
  if (NORMAL.test(text) && Number(text.slice(0, 4)) >= YEAR_MIN && isDate(text)) return text;
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

/** True where the day exists: Date would make the 1st of March of the 30th of February. */
function isDate(text: string): boolean {
  // Every month has 28 days: nearly all dates need no calendar.
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
