/** Properties that are computed from items and indexed as if items had them. */
import type { Value } from '../../../value/index.ts';

/** A name for an expression over an item, defined by the home API. */
export interface ComputedProperty {
  readonly name: string;
  /** Changes with the result of `compute`. */
  readonly definition: string;
  /** Pure. An item for which it throws does not have the property. */
  compute(item: Value): Value;
}

/** The error is dropped: a definition that fails for an item must prevent neither its write nor an index build. */
export function computedOf({ compute }: ComputedProperty, item: Value): Value {
  try {
    return compute(item);
  } catch {
    return undefined;
  }
}
