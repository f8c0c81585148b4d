/** The partition keys that a query can match, from the constraints of its filter on the partition key paths. */
import {
  type PartitionKeyDefinition,
  parsePartitionKeyPath,
  type Value,
} from '../../../../value/index.ts';
import { aggregateCalls } from '../compile/compile-grouping.ts';
import {
  type Collection,
  chainOperands,
  type Expression,
  type Literal,
  type PathStep,
  type Query,
} from '../language/ast.ts';
import { sourcesOf } from '../language/ast-walk.ts';
import { valueKey } from '../run/value-key.ts';
import { isCallOf } from '../run/vector-order.ts';
import {
  comparedWith,
  intersection,
  type KeyBound,
  type KeyInterval,
  type KeySet,
  pointOf,
  pointsOf,
} from './key-sets.ts';

/** Evaluates an expression that does not depend on an item; undefined for any other. */
export type FindConstant = (expression: Expression) => { readonly value: Value } | undefined;

/** A range of partition keys, component by component. An empty list of components is the least key. */
export type KeyRange =
  | { readonly kind: 'all' }
  /** No item can match. One partition runs the query all the same, because aggregates of nothing have a result. */
  | { readonly kind: 'none' }
  | {
      readonly kind: 'range';
      readonly low: readonly KeyBound[];
      readonly high: readonly KeyBound[];
    };

/** Beyond this many combinations the query runs on all partitions. */
const RANGES_MAX = 20_000;

/** A conjunction: one set per partition key path. */
type Box = readonly KeySet[];

export function keyRanges(
  query: Query,
  definition: PartitionKeyDefinition,
  findConstant: FindConstant,
): readonly KeyRange[] {
  if (!query.from) return [{ kind: 'none' }];
  const paths = definition.paths.map((path) => parsePartitionKeyPath(path));
  const analysis: Analysis = { paths, findConstant };
  const boxes = query.where
    ? boxesIfTrue(query.where, aliasesOf(query, new Map(), true), analysis)
    : [everything(analysis)];
  const possible = boxes.filter((box) => box.every((set) => set === 'all' || set.length > 0));
  if (possible.length === 0) return [{ kind: 'none' }];
  const ranges = possible.map((box) => rangesOf(box, definition.kind));
  if (ranges.some((list) => list === undefined)) return [{ kind: 'all' }];
  const flat = ranges.flatMap((list) => list ?? []);
  return flat.length > RANGES_MAX ? [{ kind: 'all' }] : distinctRanges(flat);
}

interface Analysis {
  readonly paths: readonly (readonly unknown[] | undefined)[];
  readonly findConstant: FindConstant;
}

/** The path of an alias in the item; undefined for any other value. */
type Aliases = ReadonlyMap<string, readonly string[] | undefined>;

function everything({ paths }: Analysis): Box {
  return paths.map(() => 'all');
}

function aliasesOf(query: Query, outer: Aliases, isOutermost: boolean): Aliases {
  const aliases = new Map(outer);
  for (const [at, source] of sourcesOf(query.from).entries()) {
    if (source.kind === 'iterator') {
      aliases.set(source.name, undefined);
      continue;
    }
    const { collection } = source;
    const path = collectionPath(collection, aliases, isOutermost && at === 0);
    const implied = collection.kind === 'path' ? lastStepName(collection) : undefined;
    const name = source.alias ?? implied;
    if (name !== undefined) aliases.set(name, path);
  }
  return aliases;
}

function collectionPath(
  collection: Collection,
  aliases: Aliases,
  isContainer: boolean,
): readonly string[] | undefined {
  if (collection.kind === 'subquery') return undefined;
  const base = aliases.get(collection.root) ?? (isContainer ? [] : undefined);
  const steps = stepNames(collection.steps);
  return base && steps ? [...base, ...steps] : undefined;
}

function lastStepName({ root, steps }: Extract<Collection, { kind: 'path' }>): string {
  return stepNames(steps)?.at(-1) ?? root;
}

function stepNames(steps: readonly PathStep[]): readonly string[] | undefined {
  const names = steps.flatMap((step) => (step.kind === 'number' ? [] : [step.name]));
  return names.length === steps.length ? names : undefined;
}

/** The boxes of partition keys for which the expression can be true. */
function boxesIfTrue(expression: Expression, aliases: Aliases, analysis: Analysis): readonly Box[] {
  const constant = analysis.findConstant(expression);
  if (constant) return constant.value === true ? [everything(analysis)] : [];
  switch (expression.kind) {
    case 'binary':
      if (expression.operator === 'AND')
        return chainOperands(expression, 'AND')
          .map((operand) => boxesIfTrue(operand, aliases, analysis))
          .reduce((left, right) => conjunction(left, right, analysis));
      if (expression.operator === 'OR')
        return chainOperands(expression, 'OR').flatMap((operand) =>
          boxesIfTrue(operand, aliases, analysis),
        );
      return conjunction(
        [constrained(predicateOf(expression, analysis), aliases, analysis)],
        boxesIfDefined(expression, aliases, analysis),
        analysis,
      );
    case 'unary':
      return expression.operator === 'NOT'
        ? boxesIfFalse(expression.operand, aliases, analysis)
        : [everything(analysis)];
    default:
      return [constrained(predicateOf(expression, analysis), aliases, analysis)];
  }
}

function boxesIfFalse(
  expression: Expression,
  aliases: Aliases,
  analysis: Analysis,
): readonly Box[] {
  if (expression.kind === 'unary' && expression.operator === 'NOT')
    return boxesIfTrue(expression.operand, aliases, analysis);
  const constant = analysis.findConstant(expression);
  if (constant) return constant.value === false ? [everything(analysis)] : [];
  if (expression.kind === 'binary' && expression.operator === 'OR')
    return chainOperands(expression, 'OR')
      .map((operand) => boxesIfFalse(operand, aliases, analysis))
      .reduce((left, right) => conjunction(left, right, analysis));
  if (expression.kind === 'binary' && expression.operator === 'AND')
    return chainOperands(expression, 'AND').flatMap((operand) =>
      boxesIfFalse(operand, aliases, analysis),
    );
  if (expression.kind === 'in' && expression.isNegated)
    return boxesIfTrue({ ...expression, isNegated: false }, aliases, analysis);
  const isPath = ['identifier', 'property', 'index'].includes(expression.kind);
  const predicate = isPath ? { path: expression, set: pointsOf([false]) } : undefined;
  return [constrained(predicate, aliases, analysis)];
}

/** The boxes for which the scalar subqueries of an operator can have a row: without one the operator is undefined. */
function boxesIfDefined(
  expression: Expression,
  aliases: Aliases,
  analysis: Analysis,
): readonly Box[] {
  if (expression.kind === 'binary')
    return conjunction(
      boxesIfDefined(expression.left, aliases, analysis),
      boxesIfDefined(expression.right, aliases, analysis),
      analysis,
    );
  if (expression.kind !== 'subquery' || expression.form !== 'scalar') return [everything(analysis)];
  const { query } = expression;
  const { selection } = query.select;
  const isAggregate = selection.kind === 'value' && aggregateCalls(selection.expression).length > 0;
  if (!query.where || query.groupBy || isAggregate || selection.kind === 'list')
    return [everything(analysis)];
  return boxesIfTrue(query.where, aliasesOf(query, aliases, false), analysis);
}

function conjunction(
  left: readonly Box[],
  right: readonly Box[],
  analysis: Analysis,
): readonly Box[] {
  if (left.length * right.length > RANGES_MAX) return [everything(analysis)];
  return left.flatMap((a) =>
    right.map((b) => a.map((set, at) => intersection(set, b[at] as KeySet))),
  );
}

interface Predicate {
  readonly path: Expression;
  readonly set: KeySet;
}

const FLIPPED = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

/** The constraint of a filter on one path; undefined where it is not understood. */
function predicateOf(expression: Expression, { findConstant }: Analysis): Predicate | undefined {
  switch (expression.kind) {
    case 'identifier':
    case 'property':
    case 'index':
      return { path: expression, set: pointsOf([true]) };
    case 'binary': {
      const { operator, left, right } = expression;
      const constant = findConstant(right);
      if (!constant) {
        const mirrored = findConstant(left);
        return mirrored && comparison(right, flip(operator), mirrored.value);
      }
      return comparison(left, operator, constant.value);
    }
    case 'between': {
      const low = findConstant(expression.low);
      const high = findConstant(expression.high);
      if (expression.isNegated || !low || !high) return undefined;
      const set = intersection(comparedWith('>=', low.value), comparedWith('<=', high.value));
      return { path: expression.value, set };
    }
    case 'in': {
      const constants = expression.items.map(findConstant);
      if (expression.isNegated || constants.some((constant) => !constant)) return undefined;
      const values = constants.map((constant) => constant?.value);
      return {
        path: expression.value,
        set: pointsOf(values.filter((value) => value !== undefined)),
      };
    }
    case 'like': {
      const pattern = findConstant(expression.pattern)?.value;
      if (expression.isNegated || typeof pattern !== 'string') return undefined;
      const plain = plainPattern(pattern, expression.escape);
      return plain === undefined ? undefined : { path: expression.value, set: pointsOf([plain]) };
    }
    case 'call':
      return callPredicate(expression.arguments, expression, findConstant);
    default:
      return undefined;
  }
}

function flip(operator: string): string {
  return operator in FLIPPED ? FLIPPED[operator as keyof typeof FLIPPED] : operator;
}

function comparison(path: Expression, operator: string, value: Value): Predicate | undefined {
  if (operator in FLIPPED)
    return { path, set: comparedWith(operator as keyof typeof FLIPPED, value) };
  if (operator !== '=' || value === undefined) return undefined;
  const [argument] = path.kind === 'call' ? path.arguments : [];
  if (argument && isCallOf(path, 'ABS'))
    return typeof value === 'number' && value >= 0
      ? { path: argument, set: pointsOf(value === 0 ? [0] : [value, -value]) }
      : undefined;
  return { path, set: pointsOf([value]) };
}

function callPredicate(
  [first, second, third]: readonly Expression[],
  call: Expression,
  findConstant: FindConstant,
): Predicate | undefined {
  if (!first) return undefined;
  if (isCallOf(call, 'IS_NULL')) return { path: first, set: pointsOf([null]) };
  if (isCallOf(call, 'IS_BOOL')) return { path: first, set: pointsOf([false, true]) };
  if (!second || third) return undefined;
  if (isCallOf(call, 'STRINGEQUALS')) {
    const text = findConstant(second)?.value;
    return typeof text === 'string' ? { path: first, set: pointsOf([text]) } : undefined;
  }
  if (isCallOf(call, 'ARRAY_CONTAINS') || isCallOf(call, '_TRY_ARRAY_CONTAINS')) {
    const list = findConstant(first)?.value;
    return Array.isArray(list) ? { path: second, set: pointsOf(list as Value[]) } : undefined;
  }
  return undefined;
}

/** The text that a pattern without wildcards matches. */
function plainPattern(pattern: string, escapeCharacter: string | undefined): string | undefined {
  let plain = '';
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] as string;
    if (character === escapeCharacter) plain += pattern[++at] ?? '';
    else if ('%_['.includes(character)) return undefined;
    else plain += character;
  }
  return plain;
}

function constrained(predicate: Predicate | undefined, aliases: Aliases, analysis: Analysis): Box {
  const steps = predicate && documentPath(predicate.path, aliases);
  return analysis.paths.map((path) => {
    const isKey =
      steps && path?.length === steps.length && path.every((step, at) => step === steps[at]);
    return predicate && isKey ? predicate.set : 'all';
  });
}

function documentPath(expression: Expression, aliases: Aliases): readonly string[] | undefined {
  const names: string[] = [];
  let at = expression;
  for (;;) {
    if (at.kind === 'property') names.push(at.name);
    else if (at.kind === 'index' && isText(at.index)) names.push(at.index.value);
    else break;
    at = at.base;
  }
  const base = at.kind === 'identifier' ? aliases.get(at.name) : undefined;
  return base && [...base, ...names.reverse()];
}

function isText(expression: Expression): expression is Literal & { readonly value: string } {
  return expression.kind === 'literal' && typeof expression.value === 'string';
}

/** Undefined means all keys. A hash needs every component; the other kinds take the leading ones that are known. */
function rangesOf(box: Box, kind: PartitionKeyDefinition['kind']): readonly KeyRange[] | undefined {
  if (kind === 'Token') return undefined;
  const bounded = box.slice(0, box.indexOf('all') < 0 ? box.length : box.indexOf('all'));
  const sets = bounded.map((set) => componentsOf(set as readonly KeyInterval[]));
  if (kind !== 'Range' && sets.some((set) => set.some((interval) => !pointOf(interval))))
    return undefined;
  if (bounded.length === 0 || (kind === 'Hash' && bounded.length < box.length)) return undefined;
  const count = sets.reduce((product, set) => product * set.length, 1);
  if (count > RANGES_MAX) return undefined;
  let ranges: { low: readonly KeyBound[]; high: readonly KeyBound[] }[] = [{ low: [], high: [] }];
  for (const set of sets)
    ranges = ranges.flatMap(({ low, high }) =>
      set.map((interval) => ({ low: [...low, interval.low], high: [...high, interval.high] })),
    );
  return ranges.map((range) => ({ kind: 'range', ...range }));
}

/** Arrays and objects are no key values: such items are stored with those that have no value. */
function componentsOf(set: readonly KeyInterval[]): readonly KeyInterval[] {
  return set.map((interval) => {
    const point = pointOf(interval);
    const isComposite = typeof point?.value === 'object' && point.value !== null;
    if (!isComposite) return interval;
    const bound: KeyBound = { kind: 'value', value: undefined, isInclusive: true };
    return { low: bound, high: bound };
  });
}

function distinctRanges(ranges: readonly KeyRange[]): readonly KeyRange[] {
  const byKey = new Map(ranges.map((range) => [rangeKey(range), range]));
  return [...byKey.values()];
}

function rangeKey(range: KeyRange): string {
  if (range.kind !== 'range') return range.kind;
  const bounds = [...range.low, ...range.high].map((bound) =>
    bound.kind === 'value'
      ? [typeof bound.value, valueKey(bound.value), bound.isInclusive]
      : bound.kind,
  );
  return JSON.stringify(bounds);
}
