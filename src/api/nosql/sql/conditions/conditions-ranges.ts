/**
 * Conditions on one value, joined where that is certain: ranges of the same value are cut with one another, ranges of
 * the same path are laid together. Fewer and narrower terms are what makes an index quick.
 */
import { type Bytes, compareBytes } from '../../../../base/index.ts';
import {
  ANYTHING,
  allOf,
  anyOf,
  type Comparison,
  type Condition,
  comparedTo,
  NOTHING,
  type TermCondition,
  term,
  type ValueRange,
} from '../../../../query/index.ts';
import { type Path, printPath, type Value } from '../../../../value/index.ts';

/**
 * One value of an item. Two with the same identity are the same value in every row, which equal paths alone do not
 * tell: `c.a[0]` and `c.a[1]` are found under one path.
 */
export interface ValueRef {
  readonly path: Path;
  readonly identity: string;
}

interface PlacedTerm extends TermCondition {
  readonly identity: string;
}

/** The value there lies in one of the ranges. Every item has a root, so that the root narrows nothing. */
export function placed(
  { path, identity }: ValueRef,
  ranges: readonly ValueRange[],
  test?: (value: Value) => boolean,
): Condition {
  if (path.length === 0) return ANYTHING;
  return withIdentity(term(path, united(ranges), test), identity);
}

function withIdentity(condition: Condition, identity: string): Condition {
  if (condition.kind !== 'term') return condition;
  const result: PlacedTerm = { ...condition, identity };
  return result;
}

function isPlaced(condition: Condition): condition is PlacedTerm {
  return condition.kind === 'term' && 'identity' in condition;
}

/** All of the conditions, with what they say about one value in one term. */
export function intersectionOf(conditions: readonly Condition[]): Condition {
  const [only] = conditions;
  if (conditions.length === 1 && only?.kind === 'term' && only.ranges.length > 0) return only;
  const terms = new Map<string, PlacedTerm>();
  const others: Condition[] = [];
  for (const condition of conditions.flatMap((each) => (each.kind === 'all' ? each.of : [each]))) {
    if (isPlaced(condition)) {
      const known = terms.get(condition.identity);
      terms.set(condition.identity, known ? cut(known, condition) : condition);
    } else others.push(condition);
  }
  const possible = [...terms.values()].map((each) => (each.ranges.length > 0 ? each : NOTHING));
  return allOf(...possible, ...others);
}

function cut(left: PlacedTerm, right: PlacedTerm): PlacedTerm {
  const ranges = intersected(left.ranges, right.ranges);
  const tests = [left.test, right.test].filter((test) => test !== undefined);
  const [first, second] = tests;
  if (!first) return { ...left, ranges };
  return { ...left, ranges, test: second ? (value) => first(value) && second(value) : first };
}

/** Any of the conditions, with the ranges of one path in one term. */
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
    const known = terms.get(key);
    if (known) known.push(condition);
    else terms.set(key, [condition]);
  }
  return anyOf(...[...terms.values()].map(joined), ...others);
}

/** One term for terms of one path: of one value, if they all are. */
function joined(terms: readonly TermCondition[]): Condition {
  const [first] = terms;
  if (!first || terms.length === 1) return first ?? NOTHING;
  const condition = term(first.path, united(terms.flatMap(({ ranges }) => ranges)));
  const isOneValue = terms.every(
    (each) => isPlaced(each) && isPlaced(first) && each.identity === first.identity,
  );
  return isPlaced(first) && isOneValue ? withIdentity(condition, first.identity) : condition;
}

/** The same values in ascending ranges that do not touch. */
function united(ranges: readonly ValueRange[]): readonly ValueRange[] {
  if (ranges.length < 2) return ranges.filter(isPossible);
  const sorted = ranges.filter(isPossible).sort((a, b) => compareBytes(a.start, b.start));
  const result: ValueRange[] = [];
  for (const range of sorted) {
    const last = result.at(-1);
    if (!last || compareBytes(range.start, last.end) > 0) result.push(range);
    else if (compareBytes(range.end, last.end) > 0)
      result[result.length - 1] = { start: last.start, end: range.end, isPoint: false };
  }
  return result;
}

function intersected(
  left: readonly ValueRange[],
  right: readonly ValueRange[],
): readonly ValueRange[] {
  const result: ValueRange[] = [];
  let [l, r] = [0, 0];
  for (;;) {
    const [a, b] = [left[l], right[r]];
    if (!a || !b) return result;
    const start = later(a.start, b.start);
    const isLeftFirst = compareBytes(a.end, b.end) <= 0;
    const end = isLeftFirst ? a.end : b.end;
    const isPoint = [a, b].some(
      (range) => range.isPoint && range.start === start && range.end === end,
    );
    const range = { start, end, isPoint };
    if (isPossible(range)) result.push(range);
    if (isLeftFirst) l++;
    else r++;
  }
}

function later(a: Bytes, b: Bytes): Bytes {
  return compareBytes(a, b) >= 0 ? a : b;
}

function isPossible({ start, end }: ValueRange): boolean {
  return compareBytes(start, end) < 0;
}

/** Values on one side of a constant; arrays and objects have no sides. */
export function comparisonRange(comparison: Comparison, constant: Value): readonly ValueRange[] {
  if (typeof constant === 'object' && constant !== null) return [];
  return [comparedTo(comparison, constant)];
}
