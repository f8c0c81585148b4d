/** Inside the sandbox: `__.filter(…)` and `__.chain().filter(…).map(…).value()` over the documents of the key. */
import type { ChainStep, MakeStep } from './guest-chain-steps.ts';
import type { GuestCollection } from './guest-collection.ts';

/** Adds the methods to the collection. */
export function addChains(
  collection: GuestCollection,
  makers: Readonly<Record<string, MakeStep>>,
): void {
  const DOCUMENTS_PER_PAGE = 1000;
  /** How many arguments belong to a step; options and callback follow where it is called without chain(). */
  const arity: Readonly<Record<string, number>> = { flatten: 1, unwind: 2 };

  /** Reads documents until there are as many rows as the options ask for. */
  const run = (steps: readonly ChainStep[], options: unknown, callback: unknown): boolean => {
    const hasNoOptions = typeof options === 'function';
    const { pageSize, continuation } = (hasNoOptions ? {} : (options ?? {})) as {
      pageSize?: number;
      continuation?: string;
    };
    const receive = hasNoOptions ? options : callback;
    const wanted = pageSize !== undefined && pageSize > 0 ? pageSize : Number.POSITIVE_INFINITY;
    const needsAll = steps.some((step) => step.needsAll);
    const read = collection.readDocuments as (...args: unknown[]) => boolean;
    let rows: unknown[] = [];
    const apply = (documents: unknown[]) =>
      steps.reduce((list, step) => step.apply(list), documents);
    const finish = (next: string | undefined) => {
      const result = needsAll ? apply(rows) : rows;
      if (typeof receive === 'function') receive(undefined, result, { continuation: next });
      else (collection.response as { setBody(body: unknown): void }).setBody(result);
    };
    const page = (from: string | undefined): boolean =>
      read(
        collection.getSelfLink(),
        { pageSize: Math.min(DOCUMENTS_PER_PAGE, wanted), continuation: from },
        (error: unknown, documents: unknown[], more: { continuation?: string }) => {
          if (error) {
            if (typeof receive !== 'function') throw error;
            receive(error, undefined, more);
            return;
          }
          rows = rows.concat(needsAll ? documents : apply(documents));
          const next = more.continuation;
          if (next === undefined || (!needsAll && rows.length >= wanted)) finish(next);
          else if (!page(next)) finish(next);
        },
      );
    return page(continuation);
  };

  const chainOf = (steps: readonly ChainStep[]): unknown => {
    const chain: Record<string, unknown> = {
      value: (options: unknown, callback: unknown) => run(steps, options, callback),
    };
    for (const [name, make] of Object.entries(makers))
      chain[name] = (a: unknown, b: unknown) => chainOf([...steps, make(a, b)]);
    return chain;
  };
  /** The number of arguments before options and callback; the last one of `flatten` and `unwind` is optional. */
  const argumentsOf = (name: string, args: readonly unknown[]): number => {
    const count = arity[name];
    if (count === undefined) return 1;
    const type = name === 'flatten' ? 'boolean' : 'function';
    return typeof args[count - 1] === type ? count : count - 1;
  };
  const methods: Record<string, unknown> = { chain: () => chainOf([]) };
  for (const [name, make] of Object.entries(makers))
    methods[name] = (...args: unknown[]) => {
      const count = argumentsOf(name, args);
      return run([make(args[0], count > 1 ? args[1] : undefined)], args[count], args[count + 1]);
    };
  Object.assign(collection, methods);
}
