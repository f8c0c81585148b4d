/**
 * The entries of rows in the order of their keys. Tens of thousands may be on their way to the tree for a while: they stay
 * packed, and what is sorted are numbers, the beginning of a key and the place of its entry in one.
 */
import { type Bytes, concatBytes } from '../../base/index.ts';
import { compareScattered } from '../scattered.ts';
import { entryAt, type GatheredEntry, visitEntries } from './sqlite-gathered-row.ts';

/** A number has room for the first bytes of a key behind the prefix that all have, and for places below 2^29. */
const BEGINNING_BYTES = 3;
const PLACES = 2 ** 29;

/** Of several entries with one key the last one. */
export function* inKeyOrder(rows: readonly Bytes[]): Generator<GatheredEntry, void> {
  const bytes = concatBytes(...rows);
  let last: GatheredEntry | undefined;
  for (const number of sorted(bytes, rows)) {
    const entry = entryAt(bytes, number % PLACES);
    if (last !== undefined && compareScattered(last.key, entry.key) !== 0) yield last;
    last = entry;
  }
  if (last !== undefined) yield last;
}

function sorted(bytes: Bytes, rows: readonly Bytes[]): Float64Array {
  const numbers: number[] = [];
  let start = 0;
  for (const row of rows) {
    visitEntries(row, (at) => numbers.push(beginningOf(row, at) * PLACES + start + at));
    start += row.length;
  }
  const order = Float64Array.from(numbers).sort();
  for (let at = 0; at < order.length; ) {
    const beginning = Math.floor((order[at] as number) / PLACES);
    let end = at + 1;
    while (end < order.length && Math.floor((order[end] as number) / PLACES) === beginning) end++;
    if (end > at + 1) sortAlike(order.subarray(at, end), bytes);
    at = end;
  }
  return order;
}

function beginningOf(row: Bytes, at: number): number {
  const { key } = entryAt(row, at);
  let beginning = 0;
  for (let byte = 1; byte <= BEGINNING_BYTES; byte++)
    beginning = beginning * 256 + (key[byte] ?? 0);
  return beginning;
}

/** Keys that begin alike; of one key the later entry has the greater place. */
function sortAlike(order: Float64Array, bytes: Bytes): void {
  const keyAt = (number: number) => entryAt(bytes, number % PLACES).key;
  order.sort((a, b) => compareScattered(keyAt(a), keyAt(b)) || a - b);
}
