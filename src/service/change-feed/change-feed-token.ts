/** A position of a change feed as text, which the reader of the feed keeps. */
import { compareBytes, DomainError } from '../../base/index.ts';
import type { FeedStart } from '../../cluster/index.ts';
import { epkFromHex, epkToHex } from '../../value/index.ts';
import type { ChangeFeedPosition, ChangeFeedSegment } from './change-feed.ts';

const TOKEN_VERSION = 1;
const SEGMENTS_MAX = 1000;

/** [min, max, lsn], or [min, max, -1, seconds] for a part that begins at a time and was not read yet. */
type Part = readonly [string, string, number, number?];

export function printChangePosition(position: ChangeFeedPosition): string {
  const parts = position.map(({ min, max, start }): Part => {
    const range = [epkToHex(min), epkToHex(max)] as const;
    if (start.kind === 'time') return [...range, -1, start.sinceSec];
    return [...range, start.kind === 'after' ? start.lsn : 0];
  });
  return Buffer.from(JSON.stringify({ v: TOKEN_VERSION, parts })).toString('base64url');
}

/** Clients may send anything: text that is not a position is refused. */
export function parseChangePosition(text: string): ChangeFeedPosition {
  let token: { v?: unknown; parts?: unknown };
  try {
    token = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw invalidToken();
  }
  const { v, parts } = token ?? {};
  if (v !== TOKEN_VERSION || !Array.isArray(parts) || parts.length > SEGMENTS_MAX)
    throw invalidToken();
  return parts.map(parsePart);
}

function parsePart(part: unknown): ChangeFeedSegment {
  if (!Array.isArray(part)) throw invalidToken();
  const [min, max, lsn, sinceSec] = part as unknown[];
  if (!isHex(min) || !isHex(max)) throw invalidToken();
  const segment = { min: epkFromHex(min), max: epkFromHex(max), start: startOf(lsn, sinceSec) };
  if (compareBytes(segment.min, segment.max) >= 0) throw invalidToken();
  return segment;
}

function startOf(lsn: unknown, sinceSec: unknown): FeedStart {
  if (lsn === -1 && isCount(sinceSec)) return { kind: 'time', sinceSec };
  if (isCount(lsn)) return { kind: 'after', lsn };
  throw invalidToken();
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isHex(text: unknown): text is string {
  return typeof text === 'string' && text.length % 2 === 0 && /^[0-9A-F]{0,2048}$/.test(text);
}

function invalidToken(): DomainError {
  return new DomainError('invalidInput', 'Invalid Continuation Token');
}
