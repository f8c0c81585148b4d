/** Checks of arguments that several steps share. */
import { compileError } from '../../errors.ts';
import { isInteger, isNumber, toDouble } from '../../model/number.ts';
import type { GremlinValue } from '../../model/value.ts';

/** Null is no name, and leaves only the others. */
export function textsOf(args: readonly GremlinValue[], step: string): string[] {
  return args.flatMap((arg) => {
    if (arg === null) return args.length === 1 ? [''] : [];
    if (typeof arg !== 'string') throw compileError(`${step}() needs texts.`);
    return [arg];
  });
}

/** A whole number; -1 is "no end" in range(). */
export function countOf(arg: GremlinValue | undefined, step: string): number {
  if (arg === undefined || !isNumber(arg) || !isInteger(arg))
    throw compileError(`${step}() needs a whole number.`);
  return toDouble(arg);
}
