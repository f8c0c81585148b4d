/**
 * match(): patterns over labels. A traverser begins at one label; every pattern begins at a label that is bound, and
 * binds another one or checks it. Patterns run one after the other for all traversers of a batch.
 */
import { compileError } from '../../errors.ts';
import { GremlinMap } from '../../model/collections.ts';
import { areEqual } from '../../model/equality.ts';
import { Bytecode, type Instruction, Predicate } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { batchStep, evaluate, type Frame, type Pipeline, type Step } from '../step.ts';
import { labelled, placesOf, type Traverser } from '../traverser.ts';

export const MATCH_STEPS: StepTable = {
  match: (clause, compiler) => matchStep(clause, compiler),
};

type Pattern =
  | {
      readonly kind: 'way';
      readonly start: string;
      readonly end: string | undefined;
      readonly child: Pipeline;
    }
  | { readonly kind: 'filter'; readonly needs: readonly string[]; readonly child: Pipeline }
  | { readonly kind: 'and'; readonly patterns: readonly Pattern[] }
  | { readonly kind: 'or'; readonly patterns: readonly Pattern[] }
  | { readonly kind: 'not'; readonly pattern: Pattern };

function matchStep({ args }: Clause, compiler: Compiler): Step {
  const patterns = args.map((arg) => patternOf(arg, compiler));
  const labels = [...new Set(patterns.flatMap(labelsOf))];
  const first = firstLabel(patterns, labels);
  return batchStep(async (batch, frame) => {
    const started = batch.map((traverser) => begun(traverser, labels, first));
    const found = await solve(started, patterns, frame);
    return found.map((traverser) => traverser.to(bindingsOf(traverser, labels)));
  });
}

function patternOf(arg: GremlinValue, compiler: Compiler): Pattern {
  if (!(arg instanceof Bytecode)) throw compileError('match() needs traversals.');
  const { steps } = arg;
  const [first] = steps;
  if (steps.length === 1 && first !== undefined) {
    const { name, args } = first;
    if (name === 'and' || name === 'or')
      return { kind: name, patterns: args.map((each) => patternOf(each, compiler)) };
    if (name === 'not') return { kind: 'not', pattern: patternOf(args[0] ?? null, compiler) };
    if (name === 'where')
      return { kind: 'filter', needs: neededBy(first), child: compiler.pipeline(arg) };
  }
  const connected = connectedPattern(steps, compiler);
  if (connected !== undefined) return connected;
  if (first?.name !== 'as') throw compileError('A pattern of match() begins with as().');
  const last = steps.at(-1);
  const hasEnd = steps.length > 1 && last?.name === 'as';
  const inner = steps.slice(1, hasEnd ? -1 : undefined);
  return {
    kind: 'way',
    start: String(first.args[0]),
    end: hasEnd ? String(last?.args[0]) : undefined,
    child: compiler.pipeline(new Bytecode([], inner)),
  };
}

/** `a.and().b` and `a.or().b`: the connective stands between patterns. */
function connectedPattern(steps: readonly Instruction[], compiler: Compiler): Pattern | undefined {
  for (const kind of ['or', 'and'] as const) {
    const at = steps.findIndex(({ name, args }) => name === kind && args.length === 0);
    if (at > 0)
      return {
        kind,
        patterns: [steps.slice(0, at), steps.slice(at + 1)].map((part) =>
          patternOf(new Bytecode([], part), compiler),
        ),
      };
  }
  return undefined;
}

/** The labels that a where() inside of match() compares. */
function neededBy({ args }: Instruction): string[] {
  return args.flatMap((arg) => {
    if (typeof arg === 'string') return [arg];
    if (arg instanceof Predicate) return predicateLabels(arg);
    if (arg instanceof Bytecode)
      return arg.steps.flatMap(({ name, args: inner }) =>
        name === 'as'
          ? inner.map(String)
          : neededBy({ name, args: inner.filter((each) => each instanceof Bytecode) }),
      );
    return [];
  });
}

function predicateLabels({ values }: Predicate): string[] {
  return values.flatMap((value) => {
    if (value instanceof Predicate) return predicateLabels(value);
    return typeof value === 'string' ? [value] : [];
  });
}

function labelsOf(pattern: Pattern): string[] {
  switch (pattern.kind) {
    case 'way':
      return pattern.end === undefined ? [pattern.start] : [pattern.start, pattern.end];
    case 'filter':
      return [...pattern.needs];
    case 'not':
      return labelsOf(pattern.pattern);
    default:
      return pattern.patterns.flatMap(labelsOf);
  }
}

/** The label that no pattern binds; else the first one of all. */
function firstLabel(patterns: readonly Pattern[], labels: readonly string[]): string {
  const ends = new Set(patterns.flatMap(endsOf));
  const starts = patterns.flatMap(startsOf);
  return starts.find((label) => !ends.has(label)) ?? starts[0] ?? (labels[0] as string);
}

function endsOf(pattern: Pattern): string[] {
  if (pattern.kind === 'way') return pattern.end === undefined ? [] : [pattern.end];
  return pattern.kind === 'and' || pattern.kind === 'or' ? pattern.patterns.flatMap(endsOf) : [];
}

function startsOf(pattern: Pattern): string[] {
  if (pattern.kind === 'way') return [pattern.start];
  return pattern.kind === 'and' || pattern.kind === 'or' ? pattern.patterns.flatMap(startsOf) : [];
}

/** Binds the first label to the present value, unless a label of the patterns is bound already. */
function begun(traverser: Traverser, labels: readonly string[], first: string): Traverser {
  const isBound = labels.some((label) => boundTo(traverser, label) !== undefined);
  if (isBound && boundTo(traverser, first) !== undefined) return traverser;
  return isBound ? traverser : labelled(traverser, new Set([first]));
}

function boundTo({ path }: Traverser, label: string): GremlinValue | undefined {
  return placesOf(path).findLast(({ labels }) => labels.has(label))?.object;
}

function isReady(pattern: Pattern, traverser: Traverser, bindable: ReadonlySet<string>): boolean {
  switch (pattern.kind) {
    case 'way':
      return boundTo(traverser, pattern.start) !== undefined;
    case 'filter':
      return pattern.needs.every((label) => boundTo(traverser, label) !== undefined);
    // What it forbids is known only when others have bound its labels.
    case 'not':
      return labelsOf(pattern.pattern)
        .filter((label) => bindable.has(label))
        .every((label) => boundTo(traverser, label) !== undefined);
    default:
      return pattern.patterns.some((each) => isReady(each, traverser, bindable));
  }
}

/** Whether the pattern binds no label. */
function isFilter(pattern: Pattern, traverser: Traverser): boolean {
  if (pattern.kind === 'filter' || pattern.kind === 'not') return true;
  if (pattern.kind !== 'way') return false;
  return pattern.end === undefined || boundTo(traverser, pattern.end) !== undefined;
}

/** All ways to satisfy the patterns. Those of a batch have the same labels bound, so they share the order. */
async function solve(
  traversers: readonly Traverser[],
  patterns: readonly Pattern[],
  frame: Frame,
): Promise<readonly Traverser[]> {
  const [sample] = traversers;
  if (sample === undefined || patterns.length === 0) return traversers;
  // Filters go first: they make less work for the others.
  const bindable = new Set(
    patterns.flatMap((pattern) => [...endsOf(pattern), ...startsOf(pattern)]),
  );
  const ready = patterns.filter((pattern) => isReady(pattern, sample, bindable));
  const next = ready.find((pattern) => isFilter(pattern, sample)) ?? ready[0];
  if (next === undefined)
    throw compileError('The patterns of match() are not connected, so they cannot be solved.');
  const found = await apply(traversers, next, frame);
  await frame.run.pace.spend(found.length);
  const rest = patterns.filter((pattern) => pattern !== next);
  // After an or() traversers differ in what is bound.
  const groups = new Map<string, Traverser[]>();
  for (const traverser of found) {
    const key = placesOf(traverser.path)
      .flatMap(({ labels }) => [...labels])
      .sort()
      .join();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [traverser]);
    else group.push(traverser);
  }
  const solved: Traverser[] = [];
  for (const group of groups.values())
    for (const found of await solve(group, rest, frame)) solved.push(found);
  return solved;
}

async function apply(
  traversers: readonly Traverser[],
  pattern: Pattern,
  frame: Frame,
): Promise<Traverser[]> {
  switch (pattern.kind) {
    case 'way':
      return follow(traversers, pattern, frame);
    case 'filter': {
      const results = await evaluate(pattern.child, traversers, frame);
      return traversers.filter((_, at) => (results[at]?.length ?? 0) > 0);
    }
    case 'and':
      return [...(await solve(traversers, pattern.patterns, frame))];
    case 'or': {
      const found: Traverser[] = [];
      for (const each of pattern.patterns)
        for (const solution of await solve(traversers, [each], frame)) found.push(solution);
      return found;
    }
    case 'not': {
      const kept: Traverser[] = [];
      for (const traverser of traversers)
        if ((await solve([traverser], [pattern.pattern], frame)).length === 0) kept.push(traverser);
      return kept;
    }
  }
}

async function follow(
  traversers: readonly Traverser[],
  { start, end, child }: Extract<Pattern, { kind: 'way' }>,
  frame: Frame,
): Promise<Traverser[]> {
  const inputs = traversers.map((traverser) =>
    traverser.with({ value: boundTo(traverser, start) as GremlinValue }),
  );
  const results = await evaluate(child, inputs, frame);
  return traversers.flatMap((traverser, at) => {
    const found = results[at] ?? [];
    if (end === undefined) return found.length > 0 ? [traverser] : [];
    const bound = boundTo(traverser, end);
    if (bound !== undefined)
      return found
        .filter(({ value }) => areEqual(value, bound))
        .map(({ bulk }) => traverser.with({ bulk }));
    return found.map(({ value, bulk }) =>
      labelled(traverser.to(value), new Set([end])).with({ bulk }),
    );
  });
}

function bindingsOf(traverser: Traverser, labels: readonly string[]): GremlinMap {
  const map = new GremlinMap();
  for (const label of labels) {
    const value = boundTo(traverser, label);
    if (value !== undefined) map.set(label, value);
  }
  return map;
}
