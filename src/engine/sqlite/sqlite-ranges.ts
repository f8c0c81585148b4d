/** Ranges of keys as the tables have them: numbered keys lie in a table of their own, in the middle of all others. */
import { type Bytes, compareBytes } from '../../base/index.ts';
import { KEY_BYTES_MAX } from '../checks.ts';
import type { KeyRange, ScanOptions } from '../engine.ts';
import { NUMBERED_PREFIX, numbersWithin } from '../numbered.ts';

/** Greater than every key, so that a range without end needs no statement of its own. */
export const AFTER_ALL_KEYS: Bytes = new Uint8Array(KEY_BYTES_MAX + 1).fill(0xff);

const NUMBERED_START: Bytes = Uint8Array.of(NUMBERED_PREFIX);
const NUMBERED_END: Bytes = Uint8Array.of(NUMBERED_PREFIX + 1);

/** A range within one table. */
export interface TableRange extends KeyRange {
  readonly end: Bytes;
  readonly isNumbered: boolean;
}

/** The parts of a range in the tables they are in, ascending. Few ranges have more than one. */
export function tableRanges(range: KeyRange, { follow }: ScanOptions): readonly TableRange[] {
  const { start, end = AFTER_ALL_KEYS } = range;
  if (follow !== undefined || numbersWithin(range) === undefined)
    return [{ start, end, isNumbered: false }];
  return [
    { start, end: least(end, NUMBERED_START), isNumbered: false },
    { start: greatest(start, NUMBERED_START), end: least(end, NUMBERED_END), isNumbered: true },
    { start: greatest(start, NUMBERED_END), end, isNumbered: false },
  ].filter((part) => compareBytes(part.start, part.end) < 0);
}

function least(a: Bytes, b: Bytes): Bytes {
  return compareBytes(a, b) < 0 ? a : b;
}

function greatest(a: Bytes, b: Bytes): Bytes {
  return compareBytes(a, b) > 0 ? a : b;
}
