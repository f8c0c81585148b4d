/** Puts modulators (as, by, from, to, times, until, emit, option, with) to the steps that they modulate. */
import { compileError } from '../errors.ts';
import { Bytecode, EnumValue, type Instruction } from '../model/terms.ts';
import type { GremlinValue } from '../model/value.ts';

export interface Modulator extends Instruction {
  /** True where it stands before the step, as in until(…).repeat(…). */
  readonly isBefore?: boolean;
}

export interface Clause {
  readonly name: string;
  readonly args: readonly GremlinValue[];
  readonly labels: Set<string>;
  readonly modulators: Modulator[];
  /** Filters right behind V() and E(), which are looked up with them. */
  readonly filters: Instruction[];
  /** True for the first step of the outermost traversal. */
  readonly isStart: boolean;
  /** How many results the limit() right behind the step lets through. */
  readonly take?: number | undefined;
}

/** Steps that take by(). */
const MODULATED_BY: ReadonlySet<string> = new Set([
  'aggregate',
  'cyclicPath',
  'dedup',
  'format',
  'group',
  'groupCount',
  'math',
  'order',
  'path',
  'project',
  'propertyMap',
  'sack',
  'sample',
  'select',
  'simplePath',
  'store',
  'tree',
  'valueMap',
  'where',
]);

const REPEAT_MODULATORS: ReadonlySet<string> = new Set(['times', 'until', 'emit']);
const FOLDED_FILTERS: ReadonlySet<string> = new Set(['has', 'hasLabel', 'hasId', 'hasNot']);
const EDGE_ENDS: ReadonlySet<string> = new Set(['from', 'to']);
/** Steps that take from() and to(). */
const BOUNDED_BY_LABELS: ReadonlySet<string> = new Set([
  'addE',
  'path',
  'simplePath',
  'cyclicPath',
]);

/** A repeat() whose body has not come yet. */
const AWAITED = 'awaited repeat';

export function gatherClauses(steps: readonly Instruction[], isRoot: boolean): Clause[] {
  const clauses: Clause[] = [];
  for (const step of steps)
    if (!attach(step, clauses, isRoot))
      clauses.push(clauseOf(step, isRoot && clauses.length === 0));
  if (clauses.some(({ name }) => name === AWAITED))
    throw compileError(
      'The repeat()-traversal was not defined: times(), until() and emit() need a repeat().',
    );
  return planned(clauses);
}

/** Steps that the index answers, and limits that look-ups should know. */
function planned(clauses: readonly Clause[]): Clause[] {
  const next: Clause[] = [];
  for (const [at, clause] of clauses.entries()) {
    const following = clauses[at + 1];
    if (isCounted(clause, following)) {
      const count: Clause = following as Clause;
      next.push({ ...count, name: 'countElements', args: [clause.name, ...labelsOf(clause)] });
      next.push(...planned(clauses.slice(at + 2)));
      return next;
    }
    const [limit] = following?.name === 'limit' ? following.args : [];
    const isLookup = clause.name === 'V' || clause.name === 'E';
    next.push(isLookup && typeof limit === 'number' ? { ...clause, take: limit } : clause);
  }
  return next;
}

/** g.V().count() and g.E().hasLabel('x').count(), at the beginning of a traversal. */
function isCounted(clause: Clause, following: Clause | undefined): boolean {
  const { name, args, labels, filters, isStart } = clause;
  if (!isStart || (name !== 'V' && name !== 'E') || args.length > 0 || labels.size > 0)
    return false;
  if (following?.name !== 'count' || following.args.length > 0 || filters.length > 1) return false;
  return filters.every(
    (filter) =>
      filter.name === 'hasLabel' && filter.args.every((label) => typeof label === 'string'),
  );
}

function labelsOf({ filters }: Clause): readonly GremlinValue[] {
  return filters[0]?.args ?? [];
}

function clauseOf({ name, args }: Instruction, isStart: boolean): Clause {
  return { name, args, labels: new Set(), modulators: [], filters: [], isStart };
}

/** False where the instruction is a step of its own. */
function attach(step: Instruction, clauses: Clause[], isRoot: boolean): boolean {
  const last = clauses.at(-1);
  const { name, args } = step;
  switch (name) {
    case 'as':
      return addLabels(args, clauses, isRoot);
    case 'by':
      if (last === undefined || !MODULATED_BY.has(last.name))
        throw compileError(
          `by() cannot modulate ${last === undefined ? 'nothing' : `${last.name}()`}.`,
        );
      last.modulators.push(step);
      return true;
    case 'repeat':
      return fillRepeat(step, clauses);
    case 'option':
    case 'with':
      if (last === undefined) throw compileError(`${name}() needs a step before it.`);
      last.modulators.push(step);
      return true;
    default:
      return attachByStep(step, clauses, last);
  }
}

function attachByStep(step: Instruction, clauses: Clause[], last: Clause | undefined): boolean {
  const { name } = step;
  if (REPEAT_MODULATORS.has(name)) {
    if (last?.name === 'repeat' || last?.name === AWAITED)
      last.modulators.push(last.name === AWAITED ? { ...step, isBefore: true } : step);
    else
      clauses.push({
        ...clauseOf({ name: AWAITED, args: [] }, false),
        modulators: [{ ...step, isBefore: true }],
      });
    return true;
  }
  if (EDGE_ENDS.has(name) && !isDirection(step.args[0])) {
    if (last === undefined || !BOUNDED_BY_LABELS.has(last.name))
      throw compileError(`${name}() needs an addE() before it.`);
    last.modulators.push(step);
    return true;
  }
  if (name === 'property' && (last?.name === 'addV' || last?.name === 'addE')) {
    last.modulators.push(step);
    return true;
  }
  if (FOLDED_FILTERS.has(name) && (last?.name === 'V' || last?.name === 'E') && isFoldable(step)) {
    last.filters.push(step);
    return true;
  }
  return false;
}

/** to(Direction.OUT, …) is a step of its own. */
function isDirection(value: GremlinValue | undefined): boolean {
  return value instanceof EnumValue && value.type === 'Direction';
}

/**
 * `a.and().b` and `a.or().b`: what stands on both sides becomes nested traversals of the connective, and() before or().
 * The step that begins a traversal stays in front of it.
 */
export function connected(steps: readonly Instruction[], isRoot: boolean): readonly Instruction[] {
  const isInfix = (name: string) => (step: Instruction) =>
    step.name === name && step.args.length === 0;
  if (!steps.some((step) => isInfix('or')(step) || isInfix('and')(step))) return steps;
  const from = isRoot ? startLength(steps) : 0;
  const head = steps.slice(0, from);
  const body = steps.slice(from);
  for (const name of ['or', 'and']) {
    const at = body.findIndex(isInfix(name));
    if (at < 0) continue;
    const parts: Instruction[][] = [[]];
    for (const step of body)
      if (isInfix(name)(step)) parts.push([]);
      else parts.at(-1)?.push(step);
    return [...head, { name, args: parts.map((part) => new Bytecode([], part)) }];
  }
  return steps;
}

/** The first step with its labels. */
function startLength(steps: readonly Instruction[]): number {
  const next = steps.findIndex(({ name }, at) => at > 0 && name !== 'as');
  return next < 0 ? steps.length : next;
}

/** Filters with nested traversals stay steps. */
function isFoldable({ args }: Instruction): boolean {
  return !args.some((arg) => typeof arg === 'object' && arg !== null && 'steps' in arg);
}

function addLabels(args: readonly GremlinValue[], clauses: Clause[], isRoot: boolean): boolean {
  if (clauses.length === 0) clauses.push(clauseOf({ name: 'identity', args: [] }, isRoot));
  for (const label of args) clauses.at(-1)?.labels.add(String(label));
  return true;
}

function fillRepeat(step: Instruction, clauses: Clause[]): boolean {
  const last = clauses.at(-1);
  if (last?.name !== AWAITED) return false;
  clauses[clauses.length - 1] = { ...last, name: 'repeat', args: step.args };
  return true;
}
