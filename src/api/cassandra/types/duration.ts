/** Durations: months, days and nanoseconds, as three variable-length integers and as text. */
import type { Bytes } from '../../../base/index.ts';
import { invalid } from '../errors.ts';

interface Duration {
  readonly months: bigint;
  readonly days: bigint;
  readonly nanoseconds: bigint;
}

const SECOND = 1_000_000_000n;
const UNITS: Readonly<Record<string, readonly [keyof Duration, bigint]>> = {
  y: ['months', 12n],
  mo: ['months', 1n],
  w: ['days', 7n],
  d: ['days', 1n],
  h: ['nanoseconds', 3600n * SECOND],
  m: ['nanoseconds', 60n * SECOND],
  s: ['nanoseconds', SECOND],
  ms: ['nanoseconds', 1_000_000n],
  us: ['nanoseconds', 1000n],
  µs: ['nanoseconds', 1000n],
  ns: ['nanoseconds', 1n],
};

/** Such as 1y2mo3d4h5m6s7ms8us9ns, or ISO 8601's P1Y2M3DT4H5M6S. */
export function parseDuration(text: string): Bytes {
  const isNegative = text.startsWith('-');
  const bare = isNegative ? text.slice(1) : text;
  const simple = /^p/i.test(bare) ? isoUnits(bare) : bare.toLowerCase();
  const total: Record<keyof Duration, bigint> = { months: 0n, days: 0n, nanoseconds: 0n };
  let rest = simple;
  while (rest !== '') {
    const match = /^(\d{1,19})(mo|ms|us|µs|ns|y|w|d|h|m|s)/.exec(rest);
    const unit = match === null ? undefined : UNITS[match[2] as string];
    if (match === null || unit === undefined)
      throw invalid(`Unable to convert '${text.slice(0, 50)}' to a duration`);
    total[unit[0]] += checkedAmount(BigInt(match[1] as string) * unit[1], unit[0]);
    rest = rest.slice(match[0].length);
  }
  if (simple === '') throw invalid(`Unable to convert '${text.slice(0, 50)}' to a duration`);
  const sign = isNegative ? -1n : 1n;
  return Buffer.concat([
    zigzagVint(sign * total.months),
    zigzagVint(sign * total.days),
    zigzagVint(sign * total.nanoseconds),
  ]);
}

const GREATEST: Readonly<Record<keyof Duration, bigint>> = {
  months: (1n << 31n) - 1n,
  days: (1n << 31n) - 1n,
  nanoseconds: (1n << 63n) - 1n,
};

function checkedAmount(amount: bigint, part: keyof Duration): bigint {
  if (amount > GREATEST[part])
    throw invalid(
      `Invalid duration. The total number of ${part} must be less or equal to ${GREATEST[part]}`,
    );
  return amount;
}

/** All parts have one sign, as in a duration that was written. */
export function checkDuration(bytes: Bytes): void {
  if (bytes.length < 3) throw invalid(`Expected at least 3 bytes for a duration (${bytes.length})`);
  const { months, days, nanoseconds } = durationOf(bytes);
  for (const [name, value] of [
    ['months', months],
    ['days', days],
  ] as const)
    if (BigInt.asIntN(32, value) !== value)
      throw invalid(`The duration ${name} must be a 32 bits integer but was: ${value}`);
  const parts = [months, days, nanoseconds];
  if (parts.some((part) => part < 0n) && parts.some((part) => part > 0n))
    throw invalid(
      `The duration months, days and nanoseconds must be all of the same sign (${parts.join(', ')})`,
    );
}

/** P1Y2M3DT4H5M6S, or the same as P0001-02-03T04:05:06. */
function isoUnits(text: string): string {
  const dated = /^P(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)$/i.exec(text);
  if (dated !== null) {
    const [, years, months, days, hours, minutes, seconds] = dated;
    return `${years}y${months}mo${days}d${hours}h${minutes}m${seconds}s`;
  }
  const [date = '', time = ''] = text.slice(1).toUpperCase().split('T');
  return `${date.replace('M', 'mo')}${time}`.toLowerCase();
}

export function durationOf(bytes: Bytes): Duration {
  const reader = { bytes, at: 0 };
  return { months: readVint(reader), days: readVint(reader), nanoseconds: readVint(reader) };
}

export function durationText(bytes: Bytes): string {
  const { months, days, nanoseconds } = durationOf(bytes);
  const isNegative = months < 0n || days < 0n || nanoseconds < 0n;
  const parts: string[] = [];
  const take = (amount: bigint, unit: string, size: bigint): bigint => {
    if (amount / size > 0n) parts.push(`${amount / size}${unit}`);
    return amount % size;
  };
  const leftMonths = take(magnitude(months), 'y', 12n);
  take(leftMonths, 'mo', 1n);
  take(magnitude(days), 'd', 1n);
  let rest = magnitude(nanoseconds);
  for (const unit of ['h', 'm', 's', 'ms', 'us', 'ns'])
    rest = take(rest, unit, (UNITS[unit] as readonly [keyof Duration, bigint])[1]);
  return `${isNegative ? '-' : ''}${parts.join('')}`;
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** The count of leading ones of the first byte is the count of bytes that follow. */
function zigzagVint(value: bigint): Bytes {
  const zigzag = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  let extra = 0;
  while (extra < 8 && zigzag >> BigInt(7 * (extra + 1)) !== 0n) extra++;
  const bytes = Buffer.alloc(extra + 1);
  let rest = zigzag;
  for (let at = extra; at > 0; at--) {
    bytes[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  bytes[0] = extra === 8 ? 0xff : Number(rest) | (0xff & ~(0xff >> extra));
  return bytes;
}

function readVint(reader: { readonly bytes: Bytes; at: number }): bigint {
  const first = reader.bytes[reader.at++] ?? 0;
  let extra = 0;
  while (extra < 8 && (first & (0x80 >> extra)) !== 0) extra++;
  let value = BigInt(first & ((0xff >> extra) >> (extra < 8 ? 1 : 0)));
  for (let left = extra; left > 0; left--)
    value = (value << 8n) | BigInt(reader.bytes[reader.at++] ?? 0);
  return (value >> 1n) ^ -(value & 1n);
}
