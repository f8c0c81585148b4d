/** Traversers at the same place become one with a larger bulk, so that work does not grow with the number of ways. */
import { valueKey } from '../model/equality.ts';
import type { Frame } from './step.ts';
import type { PathNode, Traverser } from './traverser.ts';

/** Traversers between two looks at the clock. */
const SLICE = 1000;

/** The merged traversers, in the order of the first of each. Full ways keep traversers apart. */
export async function bulked(
  traversers: readonly Traverser[],
  { run }: Frame,
): Promise<readonly Traverser[]> {
  const { sack, hasBulk } = run.source;
  if (traversers.length < 2 || run.emptyPath?.isFull === true) return traversers;
  if (sack !== undefined && sack.merge === undefined) return traversers;
  const numbers = new Map<PathNode, number>();
  const first = new Map<string, Traverser>();
  for (const [at, traverser] of traversers.entries()) {
    if (at % SLICE === 0) await run.pace.spend(SLICE);
    const { path, origin, loops, value, via } = traverser;
    if (path !== undefined && !numbers.has(path)) numbers.set(path, numbers.size);
    const way = path === undefined ? '' : numbers.get(path);
    const key = `${origin}:${loops?.count ?? ''}:${way}:${via === undefined ? '' : valueKey(via)}:${valueKey(value)}`;
    const known = first.get(key);
    first.set(
      key,
      known === undefined ? traverser : joined(known, traverser, hasBulk, sack?.merge),
    );
  }
  return [...first.values()];
}

function joined(
  a: Traverser,
  b: Traverser,
  hasBulk: boolean,
  merge: NonNullable<Frame['run']['source']['sack']>['merge'],
): Traverser {
  const bulk = hasBulk ? a.bulk + b.bulk : 1;
  if (merge === undefined) return a.with({ bulk });
  return a.with({ bulk, sack: merge(a.sack ?? null, b.sack ?? null) });
}
