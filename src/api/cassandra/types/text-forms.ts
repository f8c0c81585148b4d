/** Dates, times, addresses and uuids as text, to and from their bytes. Throws CqlError where a text is none. */
import { isIPv4, isIPv6 } from 'node:net';
import { type Bytes, bufferOf } from '../../../base/index.ts';
import { invalid } from '../errors.ts';

const DAY_MS = 86_400_000;
/** Days are counted from 1970, in the middle of the unsigned range. */
const EPOCH_DAY = 2 ** 31;
const DAY_NANOSECONDS = 86_400_000_000_000n;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function uuidBytes(text: string): Bytes {
  if (!UUID.test(text)) throw invalid(`Unable to make UUID from '${text.slice(0, 50)}'`);
  return Buffer.from(text.replaceAll('-', ''), 'hex');
}

export function uuidText(bytes: Bytes): string {
  const hex = bufferOf(bytes).toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}

export function inetBytes(text: string): Bytes {
  if (isIPv4(text)) return Uint8Array.from(text.split('.').map(Number));
  if (!isIPv6(text)) throw invalid(`Unable to make inet address from '${text.slice(0, 50)}'`);
  return inet6Bytes(text.replace(/%.*$/, ''));
}

function inet6Bytes(text: string): Bytes {
  const groupsOf = (part: string): number[] =>
    part === ''
      ? []
      : part
          .split(':')
          .flatMap((group) => (group.includes('.') ? pair(group) : [Number.parseInt(group, 16)]));
  const [head = '', tail] = text.split('::');
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  const bytes = Buffer.alloc(16);
  [...before, ...zeros, ...after].forEach((group, at) => {
    bytes.writeUInt16BE(group, 2 * at);
  });
  return bytes;
}

/** The last 32 bits of an address that end in dotted form. */
function pair(dotted: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

export function inetText(bytes: Bytes): string {
  if (bytes.length === 4) return bytes.join('.');
  const buffer = bufferOf(bytes);
  return Array.from({ length: 8 }, (_, at) => buffer.readUInt16BE(2 * at).toString(16)).join(':');
}

/** Milliseconds since 1970: an integer, or a date with or without time and zone. Without a zone it is UTC. */
export function parseTimestamp(text: string): bigint {
  if (/^[+-]?\d+$/.test(text)) return BigInt(text);
  const match =
    /^(\d{4,6})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?$/i.exec(
      text.trim(),
    );
  if (match === null) throw invalid(`Unable to parse a date/time from '${text.slice(0, 50)}'`);
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(
    Number(hour),
    Number(minute),
    Number(second),
    Number(fraction.padEnd(3, '0').slice(0, 3)),
  );
  if (date.getUTCMonth() !== Number(month) - 1 || Number.isNaN(date.getTime()))
    throw invalid(`Unable to parse a date/time from '${text.slice(0, 50)}'`);
  return BigInt(date.getTime() - zoneMs(zone));
}

function zoneMs(zone: string | undefined): number {
  const match = zone === undefined ? null : /^([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return (match[1] === '-' ? -1 : 1) * minutes * 60_000;
}

export function timestampText(ms: bigint): string {
  const date = new Date(Number(ms));
  return Number.isNaN(date.getTime()) ? ms.toString() : date.toISOString().replace('T', ' ');
}

/** Days as on the wire: a date such as 2024-02-29, or the number itself. */
export function parseDate(text: string): number {
  if (/^-?\d+$/.test(text)) {
    const days = Number(text);
    if (days < 0 || days >= 2 ** 32)
      throw invalid(`Unable to make unsigned int (for date) from: '${text.slice(0, 50)}'`);
    return days;
  }
  if (!/^-?\d{4,7}-\d{1,2}-\d{1,2}$/.test(text))
    throw invalid(`Unable to coerce '${text.slice(0, 50)}' to a formatted date (long)`);
  const [year = '', month = '', day = ''] = text.replace(/^-/, '').split('-');
  const date = new Date(0);
  date.setUTCFullYear(
    text.startsWith('-') ? -Number(year) : Number(year),
    Number(month) - 1,
    Number(day),
  );
  if (date.getUTCMonth() !== Number(month) - 1)
    throw invalid(`Unable to coerce '${text.slice(0, 50)}' to a formatted date (long)`);
  return date.getTime() / DAY_MS + EPOCH_DAY;
}

export function dateText(days: number): string {
  const date = new Date((days - EPOCH_DAY) * DAY_MS);
  if (Number.isNaN(date.getTime())) return String(days);
  const year = date.getUTCFullYear();
  const text = `${String(Math.abs(year)).padStart(4, '0')}${date.toISOString().slice(-20, -14)}`;
  return year < 0 ? `-${text}` : text;
}

/** Nanoseconds since midnight: a time such as 08:12:54.123456789, or the number itself. */
export function parseTime(text: string): bigint {
  const match = /^(\d{1,2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?$/.exec(text.trim());
  const nanoseconds =
    match !== null
      ? (BigInt(match[1] as string) * 3600n +
          BigInt(match[2] as string) * 60n +
          BigInt(match[3] as string)) *
          1_000_000_000n +
        BigInt((match[4] ?? '').padEnd(9, '0'))
      : /^\d{1,18}$/.test(text)
        ? BigInt(text)
        : -1n;
  if (nanoseconds < 0n || nanoseconds >= DAY_NANOSECONDS)
    throw invalid(`Unable to coerce '${text.slice(0, 50)}' to a formatted time (long)`);
  return nanoseconds;
}

export function timeText(nanoseconds: bigint): string {
  const seconds = Number(nanoseconds / 1_000_000_000n);
  const two = (value: number): string => String(value).padStart(2, '0');
  const fraction = String(nanoseconds % 1_000_000_000n).padStart(9, '0');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${fraction}`;
}
