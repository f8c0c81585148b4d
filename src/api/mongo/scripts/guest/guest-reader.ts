/** Inside the sandbox: what the host sent, as scripts see it. */
import type { GuestBytes } from './guest-bytes.ts';
import type { GuestIds } from './guest-ids.ts';
import type { GuestNumbers } from './guest-numbers.ts';

/** Which numbers of an object came as int32. */
export type Integers = WeakMap<object, ReadonlySet<string>>;

/** @returns a function that makes the value in place. */
export function makeReader(
  types: GuestNumbers & GuestIds & GuestBytes,
  integers: Integers,
): (value: unknown) => unknown {
  const { isArray } = Array;
  const { keys, defineProperty } = Object;
  const { isInteger } = Number;

  const regex = (sent: [string, string]): unknown => {
    try {
      return new RegExp(sent[0], sent[1].replace(/[^imsu]/g, ''));
    } catch {
      return new types.Value('regex', sent);
    }
  };

  const document = (fields: readonly [string, unknown][]): unknown => {
    const made: Record<string, unknown> = {};
    for (const [name, value] of fields)
      defineProperty(made, name, { value, enumerable: true, writable: true, configurable: true });
    return readFields(made);
  };

  const makers: Readonly<Record<string, (sent: never) => unknown>> = {
    double: (sent) => Number(sent),
    date: (sent) => new Date(sent),
    long: (sent) => new types.NumberLong(sent),
    decimal: (sent) => new types.NumberDecimal(sent),
    objectId: (sent) => new types.ObjectId(sent),
    binary: (sent) => new types.BinData(sent[0], sent[1]),
    uuid: (sent) => new types.UUID(sent),
    timestamp: (sent) => new types.Timestamp(sent[0], sent[1]),
    minKey: () => new types.MinKey(),
    maxKey: () => new types.MaxKey(),
    code: (sent) => new types.Code(sent),
    undefined: () => undefined,
    regex,
    document,
  };

  const readFields = (fields: Record<string, unknown>): unknown => {
    let whole: Set<string> | undefined;
    for (const name of keys(fields)) {
      const value = fields[name];
      if (typeof value === 'number' && isInteger(value)) {
        whole ??= new Set();
        whole.add(name);
      } else if (typeof value === 'object' && value !== null) fields[name] = read(value);
    }
    if (whole !== undefined) integers.set(fields, whole);
    return fields;
  };

  const read = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const fields = value as Record<string, unknown>;
    if (isArray(value) || typeof fields.$ !== 'string') return readFields(fields);
    return makers[fields.$]?.(fields.v as never);
  };
  return read;
}
