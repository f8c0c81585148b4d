/**
 * Scattered keys begin with the byte SCATTERED_PREFIX and come in no order, a few at a time: what a hash leads. Written one by
 * one, each of them costs a page of an ordered tree, so an engine may gather them and write thousands in their order. They
 * are keys like all others, except that no pointer leads to one: `follow` is not asked for them.
 */
import type { Bytes } from '../base/index.ts';
import type { KeyRange } from './engine.ts';

export const SCATTERED_PREFIX = 0x11;

export function isScattered(key: Bytes): boolean {
  return key[0] === SCATTERED_PREFIX;
}

/** Whether scattered keys may lie in a range. */
export function touchesScattered({ start, end }: KeyRange): boolean {
  const [from = 0] = start;
  if (from > SCATTERED_PREFIX) return false;
  if (end === undefined) return true;
  const [to = 0] = end;
  return to > SCATTERED_PREFIX || (to === SCATTERED_PREFIX && end.length > 1);
}

/** As `compareBytes`: these keys differ early, where a loop is faster than a call. */
export function compareScattered(a: Bytes, b: Bytes): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
