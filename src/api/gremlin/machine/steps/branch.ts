/** Nested traversals: union, coalesce, choose, optional, local, map, flatMap, sideEffect. */
import { compileError } from '../../errors.ts';
import { Bytecode, EnumValue, Predicate } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { testOf } from '../predicate.ts';
import {
  batchesOf,
  batchStep,
  chunks,
  collect,
  evaluate,
  type Frame,
  type Pipeline,
  type Step,
} from '../step.ts';
import type { Traverser } from '../traverser.ts';

export const BRANCH_STEPS: StepTable = {
  union: ({ args, isStart }, compiler) =>
    branchStep(
      args.map((arg) => compiler.sharedChild(arg, 'union', isStart)),
      async (batch) => batch.map(() => args.map((_, at) => at)),
    ),
  coalesce: ({ args }, compiler) =>
    coalesceStep(args.map((arg) => compiler.child(arg, 'coalesce'))),
  choose: (clause, compiler) => chooseStep(clause, compiler),
  branch: (clause, compiler) => optionsStep(clause, compiler),
  optional: ({ args: [first] }, compiler) => {
    const child = compiler.child(first, 'optional');
    return eachStep(child, (traverser, results) => (results.length > 0 ? results : [traverser]));
  },
  local: ({ args: [first] }, compiler) =>
    eachStep(compiler.child(first, 'local'), (_, results) => results),
  map: ({ args: [first] }, compiler) =>
    eachStep(compiler.child(first, 'map'), (traverser, results) =>
      results.slice(0, 1).map(({ value }) => traverser.to(value)),
    ),
  flatMap: ({ args: [first] }, compiler) =>
    eachStep(compiler.child(first, 'flatMap'), (traverser, results) => asNext(traverser, results)),
  sideEffect: ({ args: [first] }, compiler) =>
    eachStep(compiler.child(first, 'sideEffect'), (traverser) => [traverser]),
};

/** The results as next values of the traverser: the way inside the nested traversal is not kept. */
function asNext(traverser: Traverser, results: readonly Traverser[]): Traverser[] {
  return results.map(({ value, bulk, via }) => traverser.to(value, via).with({ bulk }));
}

function eachStep(
  child: Pipeline,
  next: (traverser: Traverser, results: readonly Traverser[]) => readonly Traverser[],
): Step {
  return batchStep(async (batch, frame) => {
    const results = await evaluate(child, batch, frame);
    return batch.flatMap((traverser, at) => next(traverser, results[at] ?? []));
  });
}

/** The results of the first traversal that has any, for each traverser. */
function coalesceStep(children: readonly Pipeline[]): Step {
  const writes = children.some((child) => child.writes);
  const first = async (
    batch: readonly Traverser[],
    frame: Frame,
  ): Promise<readonly Traverser[]> => {
    const found: (readonly Traverser[])[] = batch.map(() => []);
    let open = batch.map((_, at) => at);
    for (const child of children) {
      if (open.length === 0) break;
      const parents = open.map((at) => batch[at] as Traverser);
      const results = await evaluate(child, parents, frame);
      for (const [index, at] of open.entries())
        found[at] = asNext(batch[at] as Traverser, results[index] ?? []);
      open = open.filter((at) => (found[at]?.length ?? 0) === 0);
    }
    return found.flat();
  };
  return batchStep(async (batch, frame) => {
    if (!writes) return first(batch, frame);
    // What one traverser adds is there for the next one.
    const next: Traverser[] = [];
    for (const traverser of batch)
      for (const found of await first([traverser], frame)) next.push(found);
    return next;
  });
}

/** For each traverser, the branches that it takes. */
type Choice = (
  batch: readonly Traverser[],
  frame: Frame,
) => Promise<readonly (readonly number[])[]>;

/**
 * Traversers take branches and go on behind them. Where a branch counts or limits, it does so over all traversers, so
 * all of them are needed first.
 */
function branchStep(branches: readonly Pipeline[], choose: Choice): Step {
  const isStateful = branches.some((branch) => branch.isStateful);
  return async function* (input, frame) {
    if (isStateful) yield* runShared(branches, choose, await collect(input, frame), frame);
    else
      for await (const batch of input) {
        const choices = await choose(batch, frame);
        const results: Traverser[][][] = [];
        for (const [at, branch] of branches.entries()) {
          const taken = batch.filter((_, index) => choices[index]?.includes(at));
          const found = await evaluate(branch, taken, frame);
          const byParent = new Map(taken.map((parent, index) => [parent, found[index] ?? []]));
          results.push(batch.map((parent) => byParent.get(parent) ?? []));
        }
        yield* chunks(batch.flatMap((_, index) => results.flatMap((each) => each[index] ?? [])));
      }
  };
}

async function* runShared(
  branches: readonly Pipeline[],
  choose: Choice,
  all: readonly Traverser[],
  frame: Frame,
): AsyncGenerator<readonly Traverser[]> {
  const choices = await choose(all, frame);
  for (const [at, branch] of branches.entries()) {
    const taken = all.filter((_, index) => choices[index]?.includes(at));
    if (taken.length === 0) continue;
    const inputs = taken.map((traverser) => traverser.with({}));
    // A count of nothing is no result of a branch that nobody took.
    const origins = new Set(inputs.map(({ origin }) => origin));
    for await (const batch of branch.open(batchesOf(inputs), frame))
      yield batch.filter(({ origin }) => origins.has(origin));
  }
  frame.run.pace.release(all.length);
}

/** choose(condition, then, else) and choose(traversal).option(value, traversal). */
function chooseStep(clause: Clause, compiler: Compiler): Step {
  const { args, modulators } = clause;
  const [first, then, otherwise] = args;
  const options = modulators.filter(({ name }) => name === 'option');
  if (options.length > 0) return optionsStep(clause, compiler);
  if (then === undefined) throw compileError('choose() needs branches.');
  const branches = [then, otherwise ?? new Bytecode([], [])].map((branch) =>
    compiler.sharedChild(branch, 'choose'),
  );
  if (first instanceof Predicate) {
    const test = testOf(first);
    return branchStep(branches, async (batch) => batch.map(({ value }) => [test(value) ? 0 : 1]));
  }
  const condition = compiler.child(first, 'choose');
  return branchStep(branches, async (batch, frame) => {
    const results = await evaluate(condition, batch, frame);
    return results.map((found) => [found.length > 0 ? 0 : 1]);
  });
}

/** choose() takes one option, branch() all that match. */
function optionsStep({ name: step, args: [first], modulators }: Clause, compiler: Compiler): Step {
  const isBranch = step === 'branch';
  const options = modulators
    .filter(({ name }) => name === 'option')
    .map(({ args }) => ({
      pick: args[0] ?? null,
      branch: compiler.sharedChild(args[1], 'option'),
    }));
  const picks = options.map(({ pick }) => pickOf(pick, isBranch, compiler));
  // A traverser that no option takes goes on as it is.
  const branches = [
    ...options.map(({ branch }) => branch),
    compiler.pipeline(new Bytecode([], [])),
  ];
  const choice =
    first instanceof EnumValue
      ? compiler.pipeline(new Bytecode([], [{ name: first.name, args: [] }]))
      : compiler.child(first, 'choose');
  return branchStep(branches, async (batch, frame) => {
    const results = await evaluate(choice, batch, frame);
    const found = results.map(([result]) => result);
    const nested = await matches(picks, found, frame);
    return found.map((result, at) =>
      isBranch ? allTaken(picks, result?.value, nested[at] ?? []) : taken(picks, result?.value),
    );
  });
}

type Pick = 'any' | 'none' | 'unproductive' | ((value: GremlinValue) => boolean) | Pipeline;

function pickOf(pick: GremlinValue, isBranch: boolean, compiler: Compiler): Pick {
  if (pick instanceof Bytecode) {
    if (isBranch) return compiler.pipeline(pick);
    throw compileError('Traversal is not allowed as a Pick token for choose().option()');
  }
  if (!isBranch && pick instanceof EnumValue && pick.type === 'Pick' && pick.name === 'any')
    throw compileError('Pick.any is not allowed as a Pick token for choose().option()');
  if (pick instanceof EnumValue && pick.type === 'Pick') return pick.name as 'any';
  return testOf(pick);
}

/** The options that are traversals and have a result for what was found. */
async function matches(
  picks: readonly Pick[],
  found: readonly (Traverser | undefined)[],
  frame: Frame,
): Promise<number[][]> {
  const rows: number[][] = found.map(() => []);
  const present = [...found.keys()].filter((row) => found[row] !== undefined);
  for (const [at, pick] of picks.entries()) {
    if (typeof pick !== 'object') continue;
    const results = await evaluate(
      pick,
      present.map((row) => found[row] as Traverser),
      frame,
    );
    for (const [index, row] of present.entries())
      if ((results[index]?.length ?? 0) > 0) rows[row]?.push(at);
  }
  return rows;
}

/** Every option that matches, and every option for any; else those for none. */
function allTaken(
  picks: readonly Pick[],
  value: GremlinValue | undefined,
  nested: readonly number[],
): number[] {
  const all = [...picks.keys()];
  const any = all.filter((at) => picks[at] === 'any');
  if (value === undefined) return all.filter((at) => picks[at] === 'unproductive');
  const found = all.filter((at) => {
    const pick = picks[at];
    return nested.includes(at) || (typeof pick === 'function' && pick(value));
  });
  if (found.length > 0) return [...found, ...any].sort((a, b) => a - b);
  return any.length > 0 ? any : all.filter((at) => picks[at] === 'none');
}

/** The first option that matches, and every option for any; else the one for none; else no option. */
function taken(picks: readonly Pick[], value: GremlinValue | undefined): number[] {
  const any = picks.flatMap((pick, at) => (pick === 'any' ? [at] : []));
  if (value === undefined) {
    const unproductive = picks.indexOf('unproductive');
    return unproductive < 0 ? [picks.length] : [unproductive];
  }
  const match = picks.findIndex((pick) => typeof pick === 'function' && pick(value));
  const none = picks.indexOf('none');
  if (match >= 0) return [match, ...any].sort((a, b) => a - b);
  if (any.length > 0) return any;
  return [none < 0 ? picks.length : none];
}
