/**
 * The entries of rows in the order of their keys. Tens of thousands may be on their way to the tree for a while: they stay
 * packed, and what is sorted are numbers, the beginning of a key and the place of its entry in one.
 */
import { type Bytes, concatBytes } from '../../base/index.ts';
import { compareScattered } from '../scattered.ts';
import { beginningAt, entryAt, type GatheredEntry, visitEntries } from './sqlite-gathered-row.ts';

/** A number has room for the beginning of a key, which is below 2^24, and for places below this. */
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
    visitEntries(row, (at) => numbers.push(beginningAt(row, at) * PLACES + start + at));
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

/** Keys that begin alike, as many may; of one key the later entry has the greater place. */
function sortAlike(order: Float64Array, bytes: Bytes): void {
  const alike = Array.from(order, (number) => ({
    number,
    key: entryAt(bytes, number % PLACES).key,
  }));
  alike.sort((a, b) => compareScattered(a.key, b.key) || a.number - b.number);
  for (const [at, { number }] of alike.entries()) order[at] = number;
}
