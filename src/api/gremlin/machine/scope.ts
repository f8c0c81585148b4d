/** What a label names: an entry of the present map, a side effect, or a place on the way. */
import { GremlinMap } from '../model/collections.ts';
import type { GremlinValue } from '../model/value.ts';
import type { Frame } from './step.ts';
import { placesOf, type Traverser } from './traverser.ts';

export type Pop = 'first' | 'last' | 'all' | 'mixed';

/** Undefined where nothing has the label. */
export function selected(
  traverser: Traverser,
  label: string,
  { run }: Frame,
  pop: Pop = 'last',
): GremlinValue | undefined {
  const { value, path } = traverser;
  if (value instanceof GremlinMap) {
    const entry = value.get(label);
    if (entry !== undefined) return entry;
  }
  const sideEffect = run.sideEffects.get(label);
  if (sideEffect !== undefined) return sideEffect;
  const found = placesOf(path)
    .filter(({ labels }) => labels.has(label))
    .map(({ object }) => object);
  if (found.length === 0) return undefined;
  if (pop === 'all' || (pop === 'mixed' && found.length > 1)) return found;
  return pop === 'first' ? found[0] : found.at(-1);
}
