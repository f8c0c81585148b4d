/** Side effects: values that steps collect under a name, and how new ones are added to what is there. */
import { GremlinMap, GremlinSet } from '../model/collections.ts';
import { BulkSet } from '../model/structures.ts';
import type { GremlinValue } from '../model/value.ts';
import type { Run } from './step.ts';

/** Adds values; all of them come at once where the step is a barrier. */
export function addToSideEffect(
  { sideEffects, source, pace }: Run,
  key: string,
  values: readonly GremlinValue[],
): void {
  const known = sideEffects.get(key);
  const reducer = source.reducers.get(key);
  if (reducer !== undefined) {
    sideEffects.set(key, reduced(known ?? null, values, reducer));
    return;
  }
  pace.hold(values.length);
  if (known instanceof BulkSet) for (const value of values) known.push(value);
  else if (known instanceof GremlinSet) sideEffects.set(key, new GremlinSet([...known, ...values]));
  else if (Array.isArray(known)) sideEffects.set(key, [...known, ...values]);
  else sideEffects.set(key, BulkSet.from(values) as BulkSet);
}

function reduced(
  known: GremlinValue,
  values: readonly GremlinValue[],
  reducer: (a: GremlinValue, b: GremlinValue) => GremlinValue,
): GremlinValue {
  const isCollection =
    Array.isArray(known) || known instanceof GremlinSet || known instanceof GremlinMap;
  // An operator of collections takes all values at once.
  if (isCollection) return reducer(known, [...values]);
  let result: GremlinValue = known;
  for (const value of values) result = reducer(result, value);
  return result;
}
