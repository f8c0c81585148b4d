/**
 * A condition: which values under which paths an item must have to match a query, in terms that an index understands.
 * It allows a superset of the items that match. Dialects build conditions from their filters; what they cannot
 * express is `anything`.
 */
import type { Path, Value } from '../../value/index.ts';
import type { ValueRange } from './value-ranges.ts';

export type Condition =
  | { readonly kind: 'anything' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'all'; readonly of: readonly Condition[] }
  | { readonly kind: 'any'; readonly of: readonly Condition[] }
  | TermCondition
  | DeclaredCondition
  | TextCondition;

/** The text under the path holds the phrases. Only a full text index can decide it. */
export interface TextCondition {
  readonly kind: 'text';
  readonly path: Path;
  readonly phrases: readonly string[];
  readonly needs: 'all' | 'any';
}

/**
 * Some value under the path lies in one of the ranges, where the elements of arrays on the way count as values. Only a
 * declared index can decide it.
 */
interface DeclaredCondition {
  readonly kind: 'declared';
  readonly path: Path;
  readonly ranges: readonly ValueRange[];
}

/** Some value under the path lies in one of the ranges and passes the test. */
export interface TermCondition {
  readonly kind: 'term';
  /** May have ARRAY_ELEMENT steps: then one element that matches is enough. */
  readonly path: Path;
  readonly ranges: readonly ValueRange[];
  /** Evaluated on index entries before items are loaded, for filters that are no ranges, such as CONTAINS. */
  readonly test?: (value: Value) => boolean;
}

export const ANYTHING: Condition = { kind: 'anything' };
export const NOTHING: Condition = { kind: 'nothing' };

/** The conjunction, without parts that limit nothing. */
export function allOf(...conditions: readonly Condition[]): Condition {
  const limiting: Condition[] = [];
  for (const condition of conditions)
    for (const part of condition.kind === 'all' ? condition.of : [condition]) {
      if (part.kind === 'nothing') return NOTHING;
      if (part.kind !== 'anything') limiting.push(part);
    }
  if (limiting.length === 0) return ANYTHING;
  return limiting.length === 1 ? (limiting[0] as Condition) : { kind: 'all', of: limiting };
}

/** The disjunction, without parts that no item satisfies. */
export function anyOf(...conditions: readonly Condition[]): Condition {
  const of = conditions.flatMap((condition) =>
    condition.kind === 'any' ? condition.of : [condition],
  );
  if (of.some(({ kind }) => kind === 'anything')) return ANYTHING;
  const possible = of.filter(({ kind }) => kind !== 'nothing');
  if (possible.length === 0) return NOTHING;
  return possible.length === 1 ? (possible[0] as Condition) : { kind: 'any', of: possible };
}

export function term(
  path: Path,
  ranges: readonly ValueRange[],
  test?: (value: Value) => boolean,
): Condition {
  if (ranges.length === 0) return NOTHING;
  return { kind: 'term', path, ranges, ...(test === undefined ? {} : { test }) };
}
