/** The properties that items have, from a sample: for completion and for columns. */

interface SchemaPath {
  /** `customer.name`; `tags[]` for what lists hold. */
  readonly path: string;
  readonly types: readonly string[];
  /** Share of the sampled items that have it, 0 to 1. */
  readonly share: number;
  /** The beginning of one value. */
  readonly example: string;
}

const PATHS_MAX = 2000;
const DEPTH_MAX = 8;
const EXAMPLE_LENGTH_MAX = 40;
const LIST_ITEMS_MAX = 3;

interface Found {
  readonly types: Set<string>;
  items: number;
  lastItem: number;
  readonly example: string;
}

export function schemaOf(items: readonly unknown[]): readonly SchemaPath[] {
  const found = new Map<string, Found>();
  items.forEach((item, at) => {
    walk(item, '', { found, item: at, depth: 0 });
  });
  return [...found].map(([path, { types, items: count, example }]) => ({
    path,
    types: [...types],
    share: Math.round((1000 * count) / items.length) / 1000,
    example,
  }));
}

interface Walk {
  readonly found: Map<string, Found>;
  readonly item: number;
  readonly depth: number;
}

function walk(value: unknown, path: string, { found, item, depth }: Walk): void {
  if (path !== '' && !note(found, path, value, item)) return;
  if (depth >= DEPTH_MAX || typeof value !== 'object' || value === null) return;
  const next = { found, item, depth: depth + 1 };
  if (Array.isArray(value)) {
    for (const entry of value.slice(0, LIST_ITEMS_MAX)) walk(entry, `${path}[]`, next);
    return;
  }
  for (const [name, entry] of Object.entries(value)) {
    if (found.size >= PATHS_MAX) return;
    walk(entry, path === '' ? name : `${path}.${name}`, next);
  }
}

/** False where there are too many paths already. */
function note(found: Map<string, Found>, path: string, value: unknown, item: number): boolean {
  let entry = found.get(path);
  if (entry === undefined) {
    if (found.size >= PATHS_MAX) return false;
    const isScalar = typeof value !== 'object' || value === null;
    const example = isScalar ? String(value).slice(0, EXAMPLE_LENGTH_MAX) : '';
    entry = { types: new Set(), items: 0, lastItem: -1, example };
    found.set(path, entry);
  }
  entry.types.add(Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);
  if (entry.lastItem !== item) entry.items++;
  entry.lastItem = item;
  return true;
}
