/** Inside the sandbox: what a script returned, as the host takes it. */
import type { GuestNumbers } from './guest-numbers.ts';
import type { Integers } from './guest-reader.ts';

export function makePrinter(
  { Value }: GuestNumbers,
  integers: Integers,
): (value: unknown) => unknown {
  const { isArray } = Array;
  const { keys, fromEntries, is } = Object;
  const { isInteger, isFinite: isBounded } = Number;
  const GuestDate = Date;
  const GuestRegExp = RegExp;
  const DEPTH_MAX = 150;

  const printNumber = (value: number, isWhole: boolean): unknown => {
    if (is(value, -0)) return { $: 'double', v: '-0' };
    if (!isBounded(value)) return { $: 'double', v: String(value) };
    return isInteger(value) && !isWhole ? { $: 'double', v: value } : value;
  };

  const printObject = (value: object, depth: number): unknown => {
    if (value instanceof Value) return value.sent();
    if (value instanceof GuestDate) return { $: 'date', v: value.getTime() };
    if (value instanceof GuestRegExp) return { $: 'regex', v: [value.source, value.flags] };
    if (depth > DEPTH_MAX)
      throw new Error(
        `Exceeded depth limit of ${DEPTH_MAX} when converting js object to BSON. Do you have a cycle?`,
      );
    const whole = integers.get(value);
    const at = (name: string, inner: unknown): unknown =>
      print(inner, whole?.has(name) === true, depth + 1);
    if (isArray(value)) return value.map((inner, index) => at(String(index), inner));
    const fields = value as Record<string, unknown>;
    const parts = keys(fields).map((name) => [name, at(name, fields[name])] as const);
    return '$' in fields ? { $: 'document', v: parts } : fromEntries(parts);
  };

  const print = (value: unknown, isWhole: boolean, depth: number): unknown => {
    switch (typeof value) {
      case 'number':
        return printNumber(value, isWhole);
      case 'undefined':
        return { $: 'undefined', v: 1 };
      case 'bigint':
        return { $: 'long', v: String(BigInt.asIntN(64, value)) };
      case 'function':
        return { $: 'code', v: String(value) };
      case 'symbol':
        throw new Error('unable to convert a symbol to BSON');
      case 'object':
        return value === null ? null : printObject(value, depth);
      default:
        return value;
    }
  };
  return (value) => print(value, false, 0);
}
