/**
 * Ranges of keys as the tables have them: numbered keys lie in a table of their own, in the middle of all others, and behind
 * them the scattered ones, of which some may not be in the tree yet.
 */
import { type Bytes, compareBytes } from '../../base/index.ts';
import { KEY_BYTES_MAX } from '../checks.ts';
import type { KeyRange, ScanOptions } from '../engine.ts';
import { NUMBERED_PREFIX, numbersWithin } from '../numbered.ts';
import { SCATTERED_PREFIX } from '../scattered.ts';

/** Greater than every key, so that a range without end needs no statement of its own. */
export const AFTER_ALL_KEYS: Bytes = new Uint8Array(KEY_BYTES_MAX + 1).fill(0xff);

const NUMBERED_START: Bytes = Uint8Array.of(NUMBERED_PREFIX);
const SCATTERED_START: Bytes = Uint8Array.of(SCATTERED_PREFIX);
const SCATTERED_END: Bytes = Uint8Array.of(SCATTERED_PREFIX + 1);

/** `merged`: in the tree of keys and among what is gathered. */
export type Place = 'tree' | 'numbered' | 'merged';

/** A range within one place. */
export interface TableRange extends KeyRange {
  readonly end: Bytes;
  readonly place: Place;
}

/**
 * The parts of a range in the places they are in, ascending. Few ranges have more than one.
 *
 * @param hasGathered - there are gathered entries in the range.
 */
export function tableRanges(
  range: KeyRange,
  { follow }: ScanOptions,
  hasGathered: boolean,
): readonly TableRange[] {
  const { start, end = AFTER_ALL_KEYS } = range;
  // Numbered keys point nowhere.
  const hasNumbers = follow === undefined && numbersWithin(range) !== undefined;
  if (!hasNumbers && !hasGathered) return [{ start, end, place: 'tree' }];
  const treeGoesOn = hasGathered ? SCATTERED_END : SCATTERED_START;
  const parts: TableRange[] = [
    { start, end: least(end, NUMBERED_START), place: 'tree' },
    { start: greatest(start, treeGoesOn), end, place: 'tree' },
  ];
  const within = (from: Bytes, to: Bytes, place: Place) =>
    parts.splice(-1, 0, { start: greatest(start, from), end: least(end, to), place });
  if (hasNumbers) within(NUMBERED_START, SCATTERED_START, 'numbered');
  if (hasGathered) within(SCATTERED_START, SCATTERED_END, 'merged');
  return parts.filter((part) => compareBytes(part.start, part.end) < 0);
}

/** What lies behind a key in the direction of a scan. */
export function behind(range: TableRange, last: Bytes, isReverse: boolean): TableRange {
  if (isReverse) return { ...range, end: last };
  const start = new Uint8Array(last.length + 1);
  start.set(last);
  return { ...range, start };
}

function least(a: Bytes, b: Bytes): Bytes {
  return compareBytes(a, b) < 0 ? a : b;
}

function greatest(a: Bytes, b: Bytes): Bytes {
  return compareBytes(a, b) > 0 ? a : b;
}
