/** Steps that let some traversers through, and steps that stop a traversal: coin, sample, timeLimit, fail. */
import { CODES, compileError, GremlinError } from '../../errors.ts';
import { isNumber, toDouble } from '../../model/number.ts';
import type { GremlinValue } from '../../model/value.ts';
import { bysOf, resolveBy } from '../by.ts';
import type { Clause } from '../clauses.ts';
import { type Compiler, isLocal, type StepTable } from '../compiler.ts';
import { membersOf } from '../element-values.ts';
import { barrierStep, batchStep, byOrigin, type Frame, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { countOf } from './arguments.ts';
import { likeCollection } from './bounds.ts';

export const CHANCE_STEPS: StepTable = {
  coin: ({ args: [probability = null] }) => {
    if (!isNumber(probability)) throw compileError('coin() needs a number.');
    const chance = toDouble(probability);
    return batchStep((batch, { run }) =>
      batch.flatMap((traverser) => {
        let kept = 0;
        for (let left = traverser.bulk; left > 0; left--) if (run.random() < chance) kept++;
        return kept === 0 ? [] : [traverser.with({ bulk: kept })];
      }),
    );
  },
  sample: (clause, compiler) => sampleStep(clause, compiler),
  timeLimit: ({ args: [limit] }) => {
    const limitMs = countOf(limit, 'timeLimit');
    return async function* (input) {
      const startedMs = performance.now();
      for await (const batch of input) {
        if (performance.now() - startedMs > limitMs) return;
        yield batch;
      }
    };
  },
  fail: ({ args: [message] }) =>
    batchStep((batch) => {
      if (batch.length === 0) return batch;
      throw new GremlinError({
        code: CODES.failStep,
        status: 1000,
        type: 'FailStepException',
        message: message === undefined ? 'fail() step triggered' : String(message),
      });
    }),
};

function sampleStep({ args, modulators }: Clause, compiler: Compiler): Step {
  const count = countOf(args.at(-1), 'sample');
  const bys = bysOf(modulators, compiler);
  if (bys.length > 1) throw compileError('Sample step can only have one by modulator');
  if (isLocal(args))
    return batchStep((batch, { run }) =>
      batch.map((traverser) => {
        const members = membersOf(traverser.value);
        return traverser.to(likeCollection(traverser.value, sampled(members, count, run.random)));
      }),
    );
  const [by] = bys;
  return barrierStep(async (all, frame) => {
    const weights = by === undefined ? undefined : await resolveBy(by, all, frame);
    const place = new Map(all.map((traverser, at) => [traverser, at]));
    return byOrigin(all, frame).flatMap((group) =>
      drawn(
        group.filter(
          (each) => weights === undefined || weights[place.get(each) ?? 0] !== undefined,
        ),
        (each) => weightOf(weights?.[place.get(each) ?? 0]),
        count,
        frame,
      ),
    );
  });
}

function weightOf(value: GremlinValue | undefined): number {
  return isNumber(value) ? toDouble(value) : 1;
}

/** So many of the traversers, without putting back; heavier ones more likely. */
function drawn(
  group: readonly Traverser[],
  weightOfEach: (traverser: Traverser) => number,
  count: number,
  { run }: Frame,
): Traverser[] {
  const left = group.map((traverser) => ({ traverser, bulk: traverser.bulk }));
  const found = new Map<Traverser, number>();
  for (let wanted = count; wanted > 0 && left.length > 0; wanted--) {
    const total = left.reduce((sum, each) => sum + each.bulk * weightOfEach(each.traverser), 0);
    let at = 0;
    for (let point = run.random() * total; at < left.length - 1; at++) {
      const entry = left[at] as (typeof left)[number];
      point -= entry.bulk * weightOfEach(entry.traverser);
      if (point < 0) break;
    }
    const entry = left[at] as (typeof left)[number];
    found.set(entry.traverser, (found.get(entry.traverser) ?? 0) + 1);
    if (--entry.bulk === 0) left.splice(at, 1);
  }
  return [...found].map(([traverser, bulk]) => traverser.with({ bulk }));
}

function sampled(
  members: readonly GremlinValue[],
  count: number,
  random: () => number,
): GremlinValue[] {
  const left = [...members];
  const found: GremlinValue[] = [];
  while (found.length < count && left.length > 0)
    found.push(...left.splice(Math.floor(random() * left.length), 1));
  return found;
}
