/**
 * Conditions combined where that is certain: ranges of the same value are intersected, ranges of the same path are
 * merged (query/condition has the algebra). Fewer and narrower terms make an index lookup fast.
 */
import {
  ANYTHING,
  allOf,
  anyOf,
  type Comparison,
  type Condition,
  comparedTo,
  intersectionOfRanges,
  NOTHING,
  type TermCondition,
  term,
  unionOfRanges,
  type ValueRange,
} from '../../../../query/index.ts';
import { type Path, printPath, type Value } from '../../../../value/index.ts';

/**
 * A reference to one value of an item. Two with the same identity are the same value in every row; equal paths are not
 * enough, because `c.a[0]` and `c.a[1]` are indexed under one path.
 */
export interface ValueRef {
  readonly path: Path;
  readonly identity: string;
}

interface ReferencedTerm extends TermCondition {
  readonly identity: string;
}

/** The condition that a value lies in one of the ranges. Every item has a root, so that the root narrows nothing. */
export function termFor(
  { path, identity }: ValueRef,
  ranges: readonly ValueRange[],
  test?: (value: Value) => boolean,
): Condition {
  if (path.length === 0) return ANYTHING;
  return withIdentity(term(path, unionOfRanges(ranges), test), identity);
}

function withIdentity(condition: Condition, identity: string): Condition {
  if (condition.kind !== 'term') return condition;
  const result: ReferencedTerm = { ...condition, identity };
  return result;
}

function isReferenced(condition: Condition): condition is ReferencedTerm {
  return condition.kind === 'term' && 'identity' in condition;
}

/** The conjunction, with one term for each value that the conditions refer to. */
export function intersectionOf(conditions: readonly Condition[]): Condition {
  const [only] = conditions;
  if (conditions.length === 1 && only?.kind === 'term' && only.ranges.length > 0) return only;
  const terms = new Map<string, ReferencedTerm>();
  const others: Condition[] = [];
  for (const condition of conditions.flatMap((each) => (each.kind === 'all' ? each.of : [each]))) {
    if (isReferenced(condition)) {
      const other = terms.get(condition.identity);
      terms.set(condition.identity, other ? intersect(other, condition) : condition);
    } else others.push(condition);
  }
  const possible = [...terms.values()].map((each) => (each.ranges.length > 0 ? each : NOTHING));
  return allOf(...possible, ...others);
}

function intersect(left: ReferencedTerm, right: ReferencedTerm): ReferencedTerm {
  const ranges = intersectionOfRanges(left.ranges, right.ranges);
  const tests = [left.test, right.test].filter((test) => test !== undefined);
  const [first, second] = tests;
  if (!first) return { ...left, ranges };
  return { ...left, ranges, test: second ? (value) => first(value) && second(value) : first };
}

/** The disjunction, with the ranges of one path in one term. */
export function unionOf(conditions: readonly Condition[]): Condition {
  const terms = new Map<string, TermCondition[]>();
  const others: Condition[] = [];
  const flat = conditions.flatMap((each) => (each.kind === 'any' ? each.of : [each]));
  for (const condition of flat) {
    if (condition.kind !== 'term' || condition.test) {
      others.push(condition);
      continue;
    }
    const key = printPath(condition.path);
    const alike = terms.get(key);
    if (alike) alike.push(condition);
    else terms.set(key, [condition]);
  }
  return anyOf(...[...terms.values()].map(merge), ...others);
}

/** One term for terms of one path. It refers to one value if all of them refer to it. */
function merge(terms: readonly TermCondition[]): Condition {
  const [first] = terms;
  if (!first || terms.length === 1) return first ?? NOTHING;
  const condition = term(first.path, unionOfRanges(terms.flatMap(({ ranges }) => ranges)));
  const isOneValue = terms.every(
    (each) => isReferenced(each) && isReferenced(first) && each.identity === first.identity,
  );
  return isReferenced(first) && isOneValue ? withIdentity(condition, first.identity) : condition;
}

/** Values on one side of a constant; arrays and objects have no sides. */
export function comparisonRange(comparison: Comparison, constant: Value): readonly ValueRange[] {
  if (typeof constant === 'object' && constant !== null) return [];
  return [comparedTo(comparison, constant)];
}
