/** Inside the sandbox: the constructors and functions that MongoDB's scripts have beside those of JavaScript. */
import type { GuestBytes } from './guest-bytes.ts';
import type { GuestIds } from './guest-ids.ts';
import type { GuestNumbers } from './guest-numbers.ts';

export function addGlobals(types: Omit<GuestNumbers, 'Value'> & GuestIds & GuestBytes): void {
  const define = (target: object, name: string, value: unknown): void => {
    Object.defineProperty(target, name, { value, writable: true, configurable: true });
  };
  const all = { ...types, ObjectID: types.ObjectId };
  // As in MongoDB, `new` may be left out.
  for (const [name, type] of Object.entries(all))
    define(
      globalThis,
      name,
      new Proxy(type as new (...args: never[]) => object, {
        apply: (made, _this, args) => new made(...(args as never[])),
      }),
    );
  const tools: Record<string, unknown> = {
    ISODate: (text?: string) => (text === undefined ? new Date() : new Date(text)),
    sleep: (ms: number) => {
      const end = Date.now() + ms;
      while (Date.now() < end);
      return null;
    },
    print: () => undefined,
    isNumber: (value: unknown) => typeof value === 'number',
    isObject: (value: unknown) => typeof value === 'object' && value !== null,
    isString: (value: unknown) => typeof value === 'string',
    tojson: (value: unknown) => JSON.stringify(value),
  };
  for (const [name, tool] of Object.entries(tools)) define(globalThis, name, tool);
  const sum = (list: readonly number[]): number | null =>
    list.length === 0 ? null : list.slice(1).reduce((a, b) => a + b, list[0] as number);
  define(Array, 'sum', sum);
  define(Array, 'avg', (list: readonly number[]) =>
    list.length === 0 ? null : (sum(list) as number) / list.length,
  );
  define(Array, 'contains', (list: readonly unknown[], value: unknown) => list.indexOf(value) >= 0);
}
