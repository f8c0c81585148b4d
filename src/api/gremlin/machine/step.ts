/** What a step is: a function from batches of traversers to batches of traversers, and helpers to make one. */
import type { MaybePromise } from '../../../base/index.ts';
import type { Graph } from '../graph/graph.ts';
import { BATCH_MAX } from '../limits.ts';
import type { GremlinValue } from '../model/value.ts';
import type { Pace } from './pace.ts';
import type { Chance } from './random.ts';
import type { SourceSettings } from './sources.ts';
import type { PathNode, Traverser } from './traverser.ts';

export type Batches = AsyncIterable<readonly Traverser[]>;

/** State of one execution. */
export interface Run {
  readonly graph: Graph;
  readonly pace: Pace;
  readonly sideEffects: Map<string, GremlinValue>;
  /** The members of groups that are side effects. */
  readonly groups: Map<string, unknown>;
  /** The way of new traversers; undefined where the traversal does not need ways. */
  readonly emptyPath: PathNode | undefined;
  readonly source: SourceSettings;
  /** The chance of a step: the same for the same seed. */
  readonly chance: (step: object) => Chance;
}

/** Where a list of steps runs. */
export interface Frame {
  readonly run: Run;
  /** Inputs that are kept apart: 1 outside of nested traversals. Every traverser's origin is below it. */
  readonly origins: number;
  /** True in a nested traversal, which begins with a traverser of the outer one. */
  readonly isNested?: boolean | undefined;
  /** State that steps keep over the iterations of a repeat(). */
  readonly memory?: Map<Step, unknown> | undefined;
}

/** Wraps the output of a step. */
export type Measure = (output: Batches, name: string) => Batches;

export type Step = (input: Batches, frame: Frame) => Batches;

/** Steps one behind the other. */
export class Pipeline {
  readonly steps: readonly Step[];
  /** The names of the steps, for profiles. */
  readonly names: readonly string[];
  /** True where a step depends on more than one traverser at a time, such as count() or limit(). */
  readonly isStateful: boolean;
  /** True where a step changes the graph or a side effect: then one input runs after the other. */
  readonly writes: boolean;
  /** True where a step collects values under a name, each as often as its bulk says. */
  readonly collects: boolean;

  constructor(
    steps: readonly Step[],
    {
      names,
      isStateful,
      writes,
      collects,
    }: Pick<Pipeline, 'names' | 'isStateful' | 'writes' | 'collects'>,
  ) {
    this.names = names;
    this.steps = steps;
    this.isStateful = isStateful;
    this.writes = writes;
    this.collects = collects;
  }

  open(input: Batches, frame: Frame): Batches {
    let batches = input;
    for (const step of this.steps) batches = step(batches, frame);
    return batches;
  }

  /** The same with what each step does written down. */
  openMeasured(input: Batches, frame: Frame, measure: Measure): Batches {
    let batches = input;
    for (const [at, step] of this.steps.entries())
      batches = measure(step(batches, frame), this.names[at] ?? '');
    return batches;
  }
}

/** A step that looks at one batch at a time. */
export function batchStep(
  apply: (batch: readonly Traverser[], frame: Frame) => MaybePromise<readonly Traverser[]>,
): Step {
  return async function* (input, frame) {
    for await (const batch of input) {
      const next = await apply(batch, frame);
      await frame.run.pace.spend(batch.length + next.length);
      yield* chunks(next);
    }
  };
}

/** A step that keeps or drops each traverser by itself. */
export function filterStep(isKept: (traverser: Traverser) => boolean): Step {
  return batchStep(async (batch, { run }) => {
    const kept: Traverser[] = [];
    await run.pace.each(batch, (traverser) => {
      if (isKept(traverser)) kept.push(traverser);
    });
    return kept;
  });
}

/** A step that makes one value of each. */
export function mapStep(map: (value: GremlinValue, traverser: Traverser) => GremlinValue): Step {
  return batchStep(async (batch, { run }) => {
    const next: Traverser[] = [];
    await run.pace.each(batch, (traverser) => {
      next.push(traverser.to(map(traverser.value, traverser)));
    });
    return next;
  });
}

/** A step that needs all traversers first. */
export function barrierStep(
  apply: (all: readonly Traverser[], frame: Frame) => MaybePromise<readonly Traverser[]>,
): Step {
  return async function* (input, frame) {
    const all = await collect(input, frame);
    const next = await apply(all, frame);
    frame.run.pace.release(all.length);
    yield* chunks(next);
  };
}

/** All traversers of the input, within the bound on what a traversal may hold. */
export async function collect(input: Batches, { run }: Frame): Promise<Traverser[]> {
  const all: Traverser[] = [];
  for await (const batch of input) {
    run.pace.hold(batch.length);
    for (const traverser of batch) all.push(traverser);
    await run.pace.spend(batch.length);
  }
  return all;
}

/** The list in batches. */
export function* chunks(list: readonly Traverser[]): Generator<readonly Traverser[]> {
  if (list.length === 0) return;
  if (list.length <= BATCH_MAX) yield list;
  else for (let at = 0; at < list.length; at += BATCH_MAX) yield list.slice(at, at + BATCH_MAX);
}

/** A list as the input of steps. */
export async function* batchesOf(list: readonly Traverser[]): AsyncGenerator<readonly Traverser[]> {
  yield* chunks(list);
}

/** Runs a nested traversal for many traversers at once. Returns the results of each, in its own frame. */
export async function evaluate(
  child: Pipeline,
  parents: readonly Traverser[],
  frame: Frame,
): Promise<Traverser[][]> {
  if (child.writes && parents.length > 1) {
    const each: Traverser[][] = [];
    for (const parent of parents) each.push(...(await evaluate(child, [parent], frame)));
    return each;
  }
  // What is collected under a name is collected of all inputs before the first goes on.
  if (!child.collects && parents.length > BATCH_MAX) {
    const each: Traverser[][] = [];
    for (let at = 0; at < parents.length; at += BATCH_MAX)
      each.push(...(await evaluate(child, parents.slice(at, at + BATCH_MAX), frame)));
    return each;
  }
  const keepsBulk = child.collects;
  const inputs = parents.map((parent, origin) =>
    parent.with(keepsBulk ? { origin } : { origin, bulk: 1 }),
  );
  const results: Traverser[][] = parents.map(() => []);
  const inner: Frame = { run: frame.run, origins: parents.length, isNested: true };
  for await (const batch of child.open(batchesOf(inputs), inner))
    for (const result of batch) {
      const parent = parents[result.origin] as Traverser;
      (results[result.origin] as Traverser[]).push(
        result.with({
          origin: parent.origin,
          bulk: keepsBulk ? result.bulk : result.bulk * parent.bulk,
        }),
      );
    }
  return results;
}

/** The traversers by origin, one list for each of them. */
export function byOrigin(all: readonly Traverser[], { origins }: Frame): Traverser[][] {
  const groups: Traverser[][] = Array.from({ length: origins }, () => []);
  for (const traverser of all) (groups[traverser.origin] as Traverser[]).push(traverser);
  return groups;
}
