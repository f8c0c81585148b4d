/** The intersection of two lists of rids, fast for lists of any lengths. */

/** A list that is so many times longer than the other is searched instead of walked through. */
const LONGER_TIMES = 8;

/** The numbers that are in both lists. Both must be ascending, and so is the result. */
export function commonRids(a: ArrayLike<number>, b: ArrayLike<number>): readonly number[] {
  if (a.length > LONGER_TIMES * b.length) return commonWithLong(b, a);
  if (b.length > LONGER_TIMES * a.length) return commonWithLong(a, b);
  const both: number[] = [];
  for (let left = 0, right = 0; left < a.length && right < b.length; ) {
    const one = a[left] as number;
    const other = b[right] as number;
    if (one === other) both.push(one);
    if (one <= other) left++;
    if (other <= one) right++;
  }
  return both;
}

function commonWithLong(short: ArrayLike<number>, long: ArrayLike<number>): readonly number[] {
  const both: number[] = [];
  let from = 0;
  for (let at = 0; at < short.length && from < long.length; at++) {
    const wanted = short[at] as number;
    // A galloping search: steps that double find the part to bisect, at little cost where it is near.
    let step = 1;
    while (from + step < long.length && (long[from + step] as number) < wanted) step *= 2;
    let low = from + (step >>> 1);
    let high = Math.min(from + step, long.length - 1) + 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((long[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    if (long[low] === wanted) both.push(wanted);
    from = low;
  }
  return both;
}
