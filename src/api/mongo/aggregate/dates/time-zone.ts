/** Time zones: offsets such as +05:30, and the names that the runtime knows. */
import { MongoError } from '../../errors.ts';
import { msOfParts } from './calendar.ts';

export interface TimeZone {
  readonly name: string;
  readonly isUtc: boolean;
  /** Milliseconds east of UTC at a time. */
  offsetAt(ms: number): number;
}

export const UTC: TimeZone = { name: 'UTC', isUtc: true, offsetAt: () => 0 };

/** Zones that are kept, with their formatters: names are few. */
const ZONES_MAX = 600;
const zones = new Map<string, TimeZone>();

/** Throws Location40485 for a name that is none. */
export function timeZone(text: string): TimeZone {
  const kept = zones.get(text);
  if (kept !== undefined) return kept;
  const zone = offsetZone(text) ?? namedZone(text);
  if (zone === undefined)
    throw new MongoError('Location40485', `unrecognized time zone identifier: "${text}"`);
  if (zones.size < ZONES_MAX) zones.set(text, zone);
  return zone;
}

function offsetZone(text: string): TimeZone | undefined {
  if (text === 'UTC' || text === 'GMT') return { ...UTC, name: text };
  const found = /^([+-])(\d{2})(?::?(\d{2}))?$/.exec(text);
  if (found === null) return undefined;
  const minutes = Number(found[2]) * 60 + Number(found[3] ?? 0);
  const offset = (found[1] === '-' ? -minutes : minutes) * 60_000;
  return { name: text, isUtc: offset === 0, offsetAt: () => offset };
}

/** Offsets change at whole quarters of an hour. */
const QUARTER_MS = 900_000;
const QUARTERS_KEPT = 4096;
/** Beyond these the runtime has no dates. */
const RUNTIME_MS_MAX = 8.64e15;

function namedZone(name: string): TimeZone | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(name)) return undefined;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return undefined;
  }
  const resolved = format.resolvedOptions().timeZone;
  // Names have one spelling, which the runtime does not insist on.
  if (resolved !== name && resolved.toLowerCase() === name.toLowerCase()) return undefined;
  if (name === name.toLowerCase() || (name === name.toUpperCase() && name.length > 4))
    return undefined;
  const known = new Map<number, number>();
  return {
    name,
    isUtc: false,
    offsetAt(ms) {
      if (Math.abs(ms) >= RUNTIME_MS_MAX) return 0;
      const quarter = Math.floor(ms / QUARTER_MS);
      const kept = known.get(quarter);
      if (kept !== undefined) return kept;
      const offset = offsetBy(format, quarter * QUARTER_MS);
      if (known.size >= QUARTERS_KEPT) known.clear();
      known.set(quarter, offset);
      return offset;
    },
  };
}

function offsetBy(format: Intl.DateTimeFormat, ms: number): number {
  const parts: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(ms)) parts[type] = value;
  const year = Number(parts.year);
  const local = msOfParts({
    year: parts.era === 'BC' ? 1 - year : year,
    month: Number(parts.month),
    day: Number(parts.day),
    hour: Number(parts.hour),
    minute: Number(parts.minute),
    second: Number(parts.second),
    ms: 0,
  });
  return local - ms;
}

/** The time of a clock in the zone. */
export function toLocal(ms: number, zone: TimeZone): number {
  return ms + zone.offsetAt(ms);
}

/** The time at which a clock in the zone shows this; a time that a change skips is taken with the offset before it. */
export function fromLocal(local: number, zone: TimeZone): number {
  if (zone.isUtc) return local;
  const before = zone.offsetAt(local - zone.offsetAt(local));
  const ms = local - before;
  const after = zone.offsetAt(ms);
  return after === before ? ms : Math.max(ms, local - after);
}
