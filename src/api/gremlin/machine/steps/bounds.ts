/** limit, range, skip, tail and dedup: over all traversers, or with the scope `local` over the members of each value. */
import { compileError } from '../../errors.ts';
import { GremlinMap, GremlinSet, type MapEntry } from '../../model/collections.ts';
import { Path } from '../../model/elements.ts';
import { valueKey } from '../../model/equality.ts';
import type { GremlinValue } from '../../model/value.ts';
import { bysOf, IDENTITY, resolveBy } from '../by.ts';
import type { Clause } from '../clauses.ts';
import { type Compiler, isEnum, isLocal, type StepTable } from '../compiler.ts';
import { membersOf } from '../element-values.ts';
import { selected } from '../scope.ts';
import { barrierStep, byOrigin, type Frame, mapStep, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { countOf } from './arguments.ts';

export const BOUND_STEPS: StepTable = {
  limit: ({ args }) => rangeStep(args, (numbers) => [0, countOf(numbers[0], 'limit')]),
  skip: ({ args }) => rangeStep(args, (numbers) => [countOf(numbers[0], 'skip'), -1]),
  range: ({ args }) =>
    rangeStep(args, (numbers) => [countOf(numbers[0], 'range'), countOf(numbers[1], 'range')]),
  tail: ({ args }) => tailStep(args),
  dedup: (clause, compiler) => dedupStep(clause, compiler),
};

/** The arguments without a scope. */
function unscoped(args: readonly GremlinValue[]): readonly GremlinValue[] {
  return isEnum(args[0], 'Scope') ? args.slice(1) : args;
}

/** The same kind of collection with other members. */
export function likeCollection(
  value: GremlinValue,
  members: readonly GremlinValue[],
): GremlinValue {
  if (value instanceof GremlinSet) return new GremlinSet(members);
  if (value instanceof GremlinMap)
    return new GremlinMap(
      (members as readonly MapEntry[]).map((entry) => [entry.key, entry.value]),
    );
  // What is no collection is a collection of itself, and stays as it is.
  const isCollection = Array.isArray(value) || value instanceof Path;
  return isCollection ? members : value;
}

function rangeStep(
  args: readonly GremlinValue[],
  bounds: (numbers: readonly GremlinValue[]) => readonly [number, number],
): Step {
  const [low, high] = bounds(unscoped(args));
  if (high !== -1 && low > high) throw compileError(`Not a legal range: [${low}, ${high}]`);
  const end = high === -1 ? Number.POSITIVE_INFINITY : high;
  if (!isLocal(args)) return globalRange(low, end);
  return mapStep((value) => likeCollection(value, membersOf(value).slice(low, end)));
}

function globalRange(low: number, high: number): Step {
  return async function* (input, { origins }) {
    const seen = new Float64Array(origins);
    let open = origins;
    if (high <= 0) return;
    for await (const batch of input) {
      const kept: Traverser[] = [];
      for (const traverser of batch) {
        const { origin, bulk } = traverser;
        const from = seen[origin] as number;
        if (from >= high) continue;
        seen[origin] = from + bulk;
        if (from + bulk >= high) open--;
        const count = Math.min(from + bulk, high) - Math.max(from, low);
        if (count > 0) kept.push(count === bulk ? traverser : traverser.with({ bulk: count }));
      }
      if (kept.length > 0) yield kept;
      if (open === 0) return;
    }
  };
}

function tailStep(args: readonly GremlinValue[]): Step {
  const [number = 1] = unscoped(args);
  const count = countOf(number, 'tail');
  if (isLocal(args))
    return mapStep((value) => {
      const members = membersOf(value);
      return likeCollection(value, members.slice(Math.max(0, members.length - count)));
    });
  return barrierStep((all, frame) =>
    byOrigin(all, frame).flatMap((group) => {
      const kept: Traverser[] = [];
      let left = count;
      for (let at = group.length - 1; at >= 0 && left > 0; at--) {
        const traverser = group[at] as Traverser;
        kept.push(traverser.with({ bulk: Math.min(traverser.bulk, left) }));
        left -= traverser.bulk;
      }
      return kept.reverse();
    }),
  );
}

function dedupStep({ args, modulators }: Clause, compiler: Compiler): Step {
  if (isLocal(args))
    return mapStep((value) => {
      const members = new GremlinSet(membersOf(value));
      return value instanceof GremlinMap ? value : members;
    });
  const labels = unscoped(args).map(String);
  const bys = bysOf(modulators, compiler);
  if (bys.length > 1) throw compileError('Dedup step can only have one by modulator');
  const [by = IDENTITY] = bys;
  const keysOf = async (
    batch: readonly Traverser[],
    frame: Frame,
  ): Promise<(string | undefined)[]> => {
    if (labels.length === 0) {
      const values = await resolveBy(by, batch, frame);
      return values.map((value) => (value === undefined ? undefined : valueKey(value)));
    }
    const columns: (GremlinValue | undefined)[][] = [];
    for (const label of labels) {
      const inputs = batch.map((each) =>
        each.with({ value: selected(each, label, frame) ?? null }),
      );
      columns.push(await resolveBy(by, inputs, frame));
    }
    return batch.map((_, at) => {
      const values = columns.map((column) => column[at]);
      return values.includes(undefined) ? undefined : valueKey(values as GremlinValue[]);
    });
  };
  const step: Step = async function* (input, frame) {
    // In a repeat() what was seen in one iteration is not let through in the next.
    const seen = (frame.memory?.get(step) as Set<string> | undefined) ?? new Set<string>();
    frame.memory?.set(step, seen);
    for await (const batch of input) {
      const keys = await keysOf(batch, frame);
      const kept = batch.filter((traverser, at) => {
        if (keys[at] === undefined) return false;
        const key = `${traverser.origin}:${keys[at]}`;
        if (seen.has(key)) return false;
        seen.add(key);
        return true;
      });
      frame.run.pace.hold(kept.length);
      await frame.run.pace.spend(batch.length);
      if (kept.length > 0) yield kept.map((traverser) => traverser.with({ bulk: 1 }));
    }
  };
  return step;
}
