/** Inside the sandbox: the steps of a chain, such as `filter`, `map`, `sortBy` and `unwind`. */

export interface ChainStep {
  apply(rows: unknown[]): unknown[];
  /** True for sorting, which needs all documents; the other steps take a page at a time. */
  readonly needsAll: boolean;
}

/** Makes a step of its arguments. */
export type MakeStep = (a: unknown, b: unknown) => ChainStep;

export function makeChainSteps(): Readonly<Record<string, MakeStep>> {
  type Mapping = (row: unknown) => unknown;
  type Row = Readonly<Record<string, unknown>>;

  const compare = (a: unknown, b: unknown): number => {
    if (a === b) return 0;
    if (a === undefined) return -1;
    if (b === undefined) return 1;
    return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
  };
  const sortBy = (key: Mapping, sign: number): ChainStep => ({
    apply: (rows) => rows.slice().sort((a, b) => sign * compare(key(a), key(b))),
    needsAll: true,
  });
  const pageStep = (apply: ChainStep['apply']): ChainStep => ({ apply, needsAll: false });
  const flatten = (rows: readonly unknown[], isShallow: boolean): unknown[] =>
    rows.flatMap((row) => {
      if (!Array.isArray(row)) return [row];
      return isShallow ? row : flatten(row, false);
    });
  const unwind = (inner: unknown, select: unknown): ChainStep => {
    const listOf: Mapping =
      typeof inner === 'function' ? (inner as Mapping) : (row) => (row as Row)[String(inner)];
    return pageStep((rows) =>
      rows.flatMap((row) => {
        const list = listOf(row);
        if (!Array.isArray(list)) return [];
        return list.map((element) =>
          typeof select === 'function' ? select(row, element) : [row, element],
        );
      }),
    );
  };
  return {
    filter: (predicate) => pageStep((rows) => rows.filter((row) => (predicate as Mapping)(row))),
    map: (mapping) => pageStep((rows) => rows.map((row) => (mapping as Mapping)(row))),
    pluck: (name) => pageStep((rows) => rows.map((row) => (row as Row | null)?.[String(name)])),
    flatten: (isShallow) => pageStep((rows) => flatten(rows, isShallow === true)),
    sortBy: (key) => sortBy(key as Mapping, 1),
    sortByDescending: (key) => sortBy(key as Mapping, -1),
    unwind,
  };
}
