/** Steps that let some traversers through, and steps that stop a traversal: coin, sample, timeLimit, fail. */
import { CODES, compileError, GremlinError, runtimeError } from '../../errors.ts';
import { isNumber, toDouble } from '../../model/number.ts';
import type { GremlinValue } from '../../model/value.ts';
import { bysOf, resolveBy } from '../by.ts';
import type { Clause } from '../clauses.ts';
import { type Compiler, isLocal, type StepTable } from '../compiler.ts';
import { membersOf } from '../element-values.ts';
import type { Chance } from '../random.ts';
import { barrierStep, batchStep, type Frame, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { countOf } from './arguments.ts';
import { likeCollection } from './bounds.ts';

export const CHANCE_STEPS: StepTable = {
  coin: (clause) => {
    const [probability = null] = clause.args;
    if (!isNumber(probability)) throw compileError('coin() needs a number.');
    const share = toDouble(probability);
    return batchStep((batch, { run }) =>
      batch.flatMap((traverser) => {
        const kept = tossed(traverser.bulk, share, run.chance(clause));
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

/** Larger bulks are not tossed one by one. */
const TOSSED_MAX = 100;

/** How many of a bulk are kept. */
function tossed(bulk: number, share: number, chance: Chance): number {
  if (bulk >= TOSSED_MAX) return Math.round(share * bulk);
  let kept = 0;
  for (let left = bulk; left > 0; left--) if (share >= chance.fraction()) kept++;
  return kept;
}

function sampleStep(clause: Clause, compiler: Compiler): Step {
  const { args, modulators } = clause;
  const count = countOf(args.at(-1), 'sample');
  const bys = bysOf(modulators, compiler);
  if (bys.length > 1) throw compileError('Sample step can only have one by modulator');
  if (isLocal(args))
    return batchStep((batch, { run }) =>
      batch.map((traverser) => {
        const members = membersOf(traverser.value);
        return traverser.to(
          likeCollection(traverser.value, sampled(members, count, run.chance(clause))),
        );
      }),
    );
  const [by] = bys;
  return barrierStep(async (all, frame) => {
    const found = by === undefined ? undefined : await resolveBy(by, all, frame);
    const candidates = all.flatMap((traverser, at): Candidate[] => {
      const weight = found === undefined ? 1 : found[at];
      return weight === undefined ? [] : [{ traverser, weight: weightOf(weight) }];
    });
    const groups: Candidate[][] = Array.from({ length: frame.origins }, () => []);
    for (const each of candidates) (groups[each.traverser.origin] as Candidate[]).push(each);
    const next: Traverser[] = [];
    for (const group of groups)
      for (const traverser of await drawn(group, count, frame.run.chance(clause), frame))
        next.push(traverser);
    return next;
  });
}

interface Candidate {
  readonly traverser: Traverser;
  readonly weight: number;
}

function weightOf(value: GremlinValue): number {
  if (!isNumber(value)) throw runtimeError('sample().by() needs numbers.');
  return toDouble(value);
}

/** So many of the candidates, without putting back; heavier ones more likely. All of them where they are not more. */
async function drawn(
  all: readonly Candidate[],
  count: number,
  chance: Chance,
  { run }: Frame,
): Promise<readonly Traverser[]> {
  if (sizeOf(all) <= count) return all.map(({ traverser }) => traverser);
  // What weighs nothing is never drawn.
  const group = all.filter(({ weight }) => weight > 0);
  if (sizeOf(group) <= count) return group.map(({ traverser }) => traverser);
  const total = group.reduce((sum, { traverser, weight }) => sum + traverser.bulk * weight, 0);
  const taken = new Map<Traverser, number>();
  for (let wanted = count; wanted > 0; wanted--) {
    const winner = await pick(group, taken, { total, chance, run });
    if (winner === undefined) wanted++;
    else taken.set(winner, (taken.get(winner) ?? 0) + 1);
  }
  return [...taken].map(([traverser, bulk]) => traverser.with({ bulk }));
}

function sizeOf(group: readonly Candidate[]): number {
  return group.reduce((sum, { traverser }) => sum + traverser.bulk, 0);
}

/** The first candidate whose share of what is left is large enough; undefined where none is. */
async function pick(
  group: readonly Candidate[],
  taken: ReadonlyMap<Traverser, number>,
  {
    total,
    chance,
    run,
  }: { readonly total: number; readonly chance: Chance; readonly run: Frame['run'] },
): Promise<Traverser | undefined> {
  let left = total;
  for (const { traverser, weight } of group)
    for (let units = traverser.bulk - (taken.get(traverser) ?? 0); units > 0; units--) {
      if (chance.fraction() <= weight / left) return traverser;
      left -= weight;
      await run.pace.spend(1);
    }
  await run.pace.spend(1);
  return undefined;
}

function sampled(members: readonly GremlinValue[], count: number, chance: Chance): GremlinValue[] {
  if (members.length <= count) return [...members];
  const left = [...members];
  const found: GremlinValue[] = [];
  while (found.length < count) found.push(...left.splice(chance.below(left.length), 1));
  return found;
}
