/** Inside the sandbox: `__.filter(…)` and `__.chain().filter(…).map(…).value()` over the documents of the key. */
import type { GuestCollection } from './guest-collection.ts';

/** Adds the methods to the collection. */
export function addChains(collection: GuestCollection): void {
  type Step = (rows: unknown[]) => unknown[];
  type Mapping = (row: unknown) => unknown;
  type Row = Readonly<Record<string, unknown>>;
  interface Part {
    readonly step: Step;
    /** Sorting needs all documents; the other steps take a page at a time. */
    readonly needsAll: boolean;
  }
  const DOCUMENTS_PER_PAGE = 1000;

  const compare = (a: unknown, b: unknown): number => {
    if (a === b) return 0;
    if (a === undefined) return -1;
    if (b === undefined) return 1;
    return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
  };
  const sortBy = (key: Mapping, sign: number): Part => ({
    step: (rows) => rows.slice().sort((a, b) => sign * compare(key(a), key(b))),
    needsAll: true,
  });
  const flatten = (rows: readonly unknown[], isShallow: boolean): unknown[] =>
    rows.flatMap((row) => {
      if (!Array.isArray(row)) return [row];
      return isShallow ? row : flatten(row, false);
    });
  const unwind = (inner: unknown, select: unknown): Part => {
    const listOf: Mapping =
      typeof inner === 'function' ? (inner as Mapping) : (row) => (row as Row)[String(inner)];
    return each((rows) =>
      rows.flatMap((row) => {
        const list = listOf(row);
        if (!Array.isArray(list)) return [];
        return list.map((element) =>
          typeof select === 'function' ? select(row, element) : [row, element],
        );
      }),
    );
  };
  const each = (step: Step): Part => ({ step, needsAll: false });
  const parts: Readonly<Record<string, (a: unknown, b: unknown) => Part>> = {
    filter: (predicate) => each((rows) => rows.filter((row) => (predicate as Mapping)(row))),
    map: (mapping) => each((rows) => rows.map((row) => (mapping as Mapping)(row))),
    pluck: (name) => each((rows) => rows.map((row) => (row as Row | null)?.[String(name)])),
    flatten: (isShallow) => each((rows) => flatten(rows, isShallow === true)),
    sortBy: (key) => sortBy(key as Mapping, 1),
    sortByDescending: (key) => sortBy(key as Mapping, -1),
    unwind,
  };
  /** How many arguments of each are its own; options and callback follow where it is called without chain(). */
  const arity: Readonly<Record<string, number>> = { flatten: 1, unwind: 2 };

  /** Reads documents until there are as many rows as asked for. */
  const run = (steps: readonly Part[], options: unknown, callback: unknown): boolean => {
    const isLeftOut = typeof options === 'function';
    const { pageSize, continuation } = (isLeftOut ? {} : (options ?? {})) as {
      pageSize?: number;
      continuation?: string;
    };
    const told = isLeftOut ? options : callback;
    const wanted = pageSize !== undefined && pageSize > 0 ? pageSize : Number.POSITIVE_INFINITY;
    const needsAll = steps.some((part) => part.needsAll);
    const read = collection.readDocuments as (...args: unknown[]) => boolean;
    let rows: unknown[] = [];
    const apply = (documents: unknown[]) => steps.reduce((list, { step }) => step(list), documents);
    const finish = (next: string | undefined) => {
      const result = needsAll ? apply(rows) : rows;
      if (typeof told === 'function') told(undefined, result, { continuation: next });
      else (collection.response as { setBody(body: unknown): void }).setBody(result);
    };
    const page = (from: string | undefined): boolean =>
      read(
        collection.getSelfLink(),
        { pageSize: Math.min(DOCUMENTS_PER_PAGE, wanted), continuation: from },
        (error: unknown, documents: unknown[], more: { continuation?: string }) => {
          if (error) {
            if (typeof told !== 'function') throw error;
            told(error, undefined, more);
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

  const chainOf = (steps: readonly Part[]): unknown => {
    const chain: Record<string, unknown> = {
      value: (options: unknown, callback: unknown) => run(steps, options, callback),
    };
    for (const [name, make] of Object.entries(parts))
      chain[name] = (a: unknown, b: unknown) => chainOf([...steps, make(a, b)]);
    return chain;
  };
  const methods: Record<string, unknown> = { chain: () => chainOf([]) };
  for (const [name, make] of Object.entries(parts))
    methods[name] = (...args: unknown[]) => {
      const own = Math.min(arity[name] ?? 1, firstOfTail(args, name));
      return run([make(args[0], own > 1 ? args[1] : undefined)], args[own], args[own + 1]);
    };
  /** `flatten` and `unwind` may leave their last argument out. */
  const firstOfTail = (args: readonly unknown[], name: string): number => {
    const last = (arity[name] ?? 1) - 1;
    const isTail =
      name === 'flatten' ? typeof args[last] !== 'boolean' : typeof args[last] !== 'function';
    return arity[name] !== undefined && isTail ? last : (arity[name] ?? 1);
  };
  Object.assign(collection, methods);
}
