/** The part of the hash space that a feed covers, and for one logical partition the prefix of its primary keys. */
import { type Bytes, compareBytes, keyAfter } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { RoutingMap } from '../../cluster/index.ts';
import type { EpkRange } from '../../partition/index.ts';
import { EPK_MAX, EPK_MIN, epkFromHex, epkRangeOfPrefix, type Value } from '../../value/index.ts';

export type FeedScope =
  | { readonly kind: 'container' }
  /** One partition by id, or a part of its range; where others replaced it, the range that it had. */
  | { readonly kind: 'partition'; readonly id: string; readonly within?: EpkRange | undefined }
  /** A part of the hash space, in one partition or several. */
  | { readonly kind: 'range'; readonly within: EpkRange }
  /** A logical partition, or all whose hierarchical key begins with these values. */
  | { readonly kind: 'partitionKey'; readonly values: readonly Value[] };

export interface ScopeRange {
  readonly range: EpkRange;
  /** Set for a single logical partition: two keys may hash alike. */
  readonly prefix: Bytes | undefined;
}

/** Throws `partitionGone` for an id never used. */
export function rangeOfScope(
  routing: RoutingMap,
  { partitionKey }: ContainerRecord,
  scope: FeedScope,
): ScopeRange {
  switch (scope.kind) {
    case 'container':
      return { range: { min: EPK_MIN, max: EPK_MAX }, prefix: undefined };
    case 'partition': {
      const { min, max } = routing.rangeOf(scope.id);
      const whole = { min: epkFromHex(min), max: epkFromHex(max) };
      return {
        range: scope.within === undefined ? whole : intersect(scope.within, whole),
        prefix: undefined,
      };
    }
    case 'range':
      return { range: scope.within, prefix: undefined };
    case 'partitionKey': {
      const { values } = scope;
      if (values.length < partitionKey.paths.length)
        return { range: epkRangeOfPrefix(values, partitionKey), prefix: undefined };
      const epk = routing.keys.epk(values);
      // The zero byte makes the smallest key of the hash space behind this one.
      const max = keyAfter(epk);
      return { range: { min: epk, max }, prefix: routing.keys.prefixOf(epk, values) };
    }
  }
}

/** The intersection; where it is empty, min is not below max. */
export function intersect(a: EpkRange, b: EpkRange): EpkRange {
  return {
    min: compareBytes(a.min, b.min) >= 0 ? a.min : b.min,
    max: compareBytes(a.max, b.max) <= 0 ? a.max : b.max,
  };
}
