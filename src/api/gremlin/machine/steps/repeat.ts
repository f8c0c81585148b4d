/** repeat() with times, until and emit, in breadth: all traversers of a batch go through the body together. */
import { compileError, runtimeError } from '../../errors.ts';
import { REPEAT_MAX } from '../../limits.ts';
import { Bytecode, Predicate } from '../../model/terms.ts';
import { bulked } from '../bulking.ts';
import type { Clause, Modulator } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { testOf } from '../predicate.ts';
import {
  batchesOf,
  chunks,
  collect,
  evaluate,
  type Frame,
  mapStep,
  type Pipeline,
  type Step,
} from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { countOf } from './arguments.ts';

export const REPEAT_STEPS: StepTable = {
  repeat: (clause, compiler) => repeatStep(clause, compiler),
  loops: ({ args: [name] }) =>
    mapStep((_, { loops }) => {
      if (name === undefined) return loops?.count ?? 0;
      for (let each = loops; each !== undefined; each = each.outer)
        if (each.name === name) return each.count;
      throw runtimeError(`Loop name not defined: ${String(name)}`);
    }),
};

/** Which of the traversers a modulator is true for. */
type Judge = (traversers: readonly Traverser[], frame: Frame) => Promise<readonly boolean[]>;

interface Condition {
  readonly holds: Judge;
  /** True where it is asked before the body. */
  readonly isFirst: boolean;
}

function repeatStep({ args, modulators }: Clause, compiler: Compiler): Step {
  const inner = args.at(-1);
  if (inner instanceof Bytecode && inner.steps.some(({ name }) => name === 'inject'))
    throw compileError('The parent of inject()-step can not be repeat()-step');
  const body = compiler.sharedChild(inner, 'repeat');
  const name = typeof args[0] === 'string' ? args[0] : undefined;
  const until = conditionOf(modulators, ['times', 'until'], compiler);
  const emit = conditionOf(modulators, ['emit'], compiler);
  return async function* (input, frame) {
    const loop = { body, until, emit, name };
    // A body that counts or sorts does so over all traversers.
    if (body.isStateful)
      yield* iterate(await collect(input, frame), loop, { ...frame, memory: new Map() });
    else
      for await (const batch of input) yield* iterate(batch, loop, { ...frame, memory: new Map() });
  };
}

function conditionOf(
  modulators: readonly Modulator[],
  names: readonly string[],
  compiler: Compiler,
): Condition | undefined {
  const modulator = modulators.findLast(({ name }) => names.includes(name));
  if (modulator === undefined) return undefined;
  return { holds: judgeOf(modulator, compiler), isFirst: modulator.isBefore === true };
}

function judgeOf({ name, args: [first] }: Modulator, compiler: Compiler): Judge {
  if (name === 'times') {
    const count = countOf(first, 'times');
    return async (traversers) => traversers.map(({ loops }) => (loops?.count ?? 0) >= count);
  }
  if (first === undefined) {
    if (name === 'until') throw compileError('until() needs a traversal or a predicate.');
    return async (traversers) => traversers.map(() => true);
  }
  if (first instanceof Predicate) {
    const test = testOf(first);
    return async (traversers) => traversers.map(({ value }) => test(value));
  }
  if (!(first instanceof Bytecode))
    throw compileError(`${name}() needs a traversal or a predicate.`);
  const child = compiler.child(first, name);
  return async (traversers, frame) =>
    (await evaluate(child, traversers, frame)).map((results) => results.length > 0);
}

interface Loop {
  readonly body: Pipeline;
  readonly until: Condition | undefined;
  readonly emit: Condition | undefined;
  readonly name: string | undefined;
}

/** Traversers that are to go through the body for so many times in all. */
interface Round {
  readonly frontier: readonly Traverser[];
  readonly count: number;
}

/**
 * In breadth where traversers at one place become one, or where the body needs all of them. Else a part of them goes on
 * first, so that a limit behind the loop ends it before all ways have been found.
 */
async function* iterate(
  batch: readonly Traverser[],
  { body, until, emit, name }: Loop,
  frame: Frame,
): AsyncGenerator<readonly Traverser[]> {
  const isInBreadth = body.isStateful || frame.run.emptyPath?.isFull !== true;
  const start = batch.map((traverser) =>
    traverser.with({ loops: { count: 0, name, outer: traverser.loops } }),
  );
  const { pace } = frame.run;
  const rounds: Round[] = [];
  const later = (round: Round): void => {
    pace.hold(round.frontier.length);
    rounds.push(round);
  };
  later({ frontier: start, count: 1 });
  for (let round = rounds.pop(); round !== undefined; round = rounds.pop()) {
    const { count } = round;
    let { frontier } = round;
    pace.release(frontier.length);
    if (frontier.length === 0) continue;
    if (!isInBreadth && frontier.length > DEPTH_FIRST_BATCH) {
      later({ frontier: frontier.slice(DEPTH_FIRST_BATCH), count });
      frontier = frontier.slice(0, DEPTH_FIRST_BATCH);
    }
    if (count > REPEAT_MAX) throw runtimeError(`repeat() ran more than ${REPEAT_MAX} times.`);
    if (until?.isFirst === true) {
      const split = await divide(frontier, until, frame);
      yield* left(split.yes);
      frontier = split.no;
    }
    if (emit?.isFirst === true) yield* left((await divide(frontier, emit, frame)).yes);
    const next: Traverser[] = [];
    for await (const found of body.open(batchesOf(frontier), frame)) {
      pace.hold(found.length);
      for (const traverser of found) next.push(looped(traverser, count));
      await pace.spend(found.length);
    }
    frontier = await bulked(next, frame);
    pace.release(next.length);
    if (until?.isFirst === false) {
      const split = await divide(frontier, until, frame);
      yield* left(split.yes);
      frontier = split.no;
    }
    if (emit?.isFirst === false) yield* left((await divide(frontier, emit, frame)).yes);
    later({ frontier, count: count + 1 });
  }
}

/** Traversers that go on together where not all do. */
const DEPTH_FIRST_BATCH = 500;

function looped(traverser: Traverser, count: number): Traverser {
  const { loops } = traverser;
  return traverser.with({ loops: { count, name: loops?.name, outer: loops?.outer } });
}

/** Traversers that leave the loop. */
function* left(traversers: readonly Traverser[]): Generator<readonly Traverser[]> {
  for (const chunk of chunks(traversers))
    yield chunk.map((traverser) => traverser.with({ loops: traverser.loops?.outer }));
}

async function divide(
  traversers: readonly Traverser[],
  { holds }: Condition,
  frame: Frame,
): Promise<{ readonly yes: Traverser[]; readonly no: Traverser[] }> {
  const results = traversers.length === 0 ? [] : await holds(traversers, frame);
  return {
    yes: traversers.filter((_, at) => results[at]),
    no: traversers.filter((_, at) => !results[at]),
  };
}
