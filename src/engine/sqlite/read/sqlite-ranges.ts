/** Key ranges per table: integer keys are in a table of their own, in the middle of all others. */
import { type Bytes, compareBytes, KEY_BYTES_MAX } from '../../../base/index.ts';
import type { KeyRange, ScanOptions } from '../../engine.ts';
import { INTEGER_KEY_PREFIX, integersWithin } from '../../integer-keys.ts';

/** Greater than every key, so that a range without end needs no separate statement. */
export const AFTER_ALL_KEYS: Bytes = new Uint8Array(KEY_BYTES_MAX + 1).fill(0xff);

const INTEGER_KEYS_START: Bytes = Uint8Array.of(INTEGER_KEY_PREFIX);
const INTEGER_KEYS_STOP: Bytes = Uint8Array.of(INTEGER_KEY_PREFIX + 1);

/** A range within one table. */
export interface TableRange extends KeyRange {
  readonly end: Bytes;
  readonly isIntegerKeyed: boolean;
}

/** Divides a range by tables, ascending. Few ranges have more than one part. */
export function tableRanges(range: KeyRange, { dereference }: ScanOptions): readonly TableRange[] {
  const { start, end = AFTER_ALL_KEYS } = range;
  if (dereference !== undefined || integersWithin(range) === undefined)
    return [{ start, end, isIntegerKeyed: false }];
  return [
    { start, end: least(end, INTEGER_KEYS_START), isIntegerKeyed: false },
    {
      start: greatest(start, INTEGER_KEYS_START),
      end: least(end, INTEGER_KEYS_STOP),
      isIntegerKeyed: true,
    },
    { start: greatest(start, INTEGER_KEYS_STOP), end, isIntegerKeyed: false },
  ].filter((part) => compareBytes(part.start, part.end) < 0);
}

function least(a: Bytes, b: Bytes): Bytes {
  return compareBytes(a, b) < 0 ? a : b;
}

function greatest(a: Bytes, b: Bytes): Bytes {
  return compareBytes(a, b) > 0 ? a : b;
}
