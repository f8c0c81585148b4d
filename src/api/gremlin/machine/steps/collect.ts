/** order, and side effects: aggregate, store, cap. */
import { compileError } from '../../errors.ts';
import { GremlinMap, GremlinSet } from '../../model/collections.ts';
import { calculate, type GremlinNumber, isNumber, numberOf } from '../../model/number.ts';
import { compareOrder } from '../../model/order.ts';
import { EnumValue, type Instruction } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import { bulked } from '../bulking.ts';
import { type By, byOf, bysOf, IDENTITY, resolveBy } from '../by.ts';
import type { Clause } from '../clauses.ts';
import { type Compiler, isEnum, isLocal, type StepTable } from '../compiler.ts';
import { membersOf } from '../element-values.ts';
import { type Chance, shuffled } from '../random.ts';
import { addToSideEffect } from '../side-effects.ts';
import { barrierStep, batchStep, byOrigin, collect, type Frame, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { likeCollection } from './bounds.ts';
import { fresh } from './reduce.ts';

export const COLLECT_STEPS: StepTable = {
  order: (clause, compiler) => orderStep(clause, compiler),
  barrier: ({ args: [kind] }) =>
    barrierStep(async (all, frame) => {
      const merged = await bulked(all, frame);
      return isEnum(kind, 'Barrier', 'normSack') ? normalized(merged, frame) : merged;
    }),
  aggregate: (clause, compiler) => sideEffectStep(clause, compiler, !isLocal(clause.args)),
  store: (clause, compiler) => sideEffectStep(clause, compiler, false),
  cap: ({ args }) =>
    async function* (input, frame) {
      await collect(input, frame);
      const values = args.map((key) => frame.run.sideEffects.get(String(key)) ?? []);
      const value: GremlinValue =
        args.length === 1
          ? (values[0] as GremlinValue)
          : new GremlinMap(args.map((key, at) => [key, values[at] as GremlinValue]));
      yield [fresh(value, 0, undefined, frame)];
    },
};

/** Sacks as shares of their sum. */
function normalized(all: readonly Traverser[], frame: Frame): Traverser[] {
  return byOrigin(all, frame).flatMap((group) => {
    let sum: GremlinNumber = numberOf('double', 0);
    for (const { sack, bulk } of group)
      if (isNumber(sack)) sum = calculate('add', sum, calculate('multiply', sack, bulk));
    return group.map((traverser) =>
      isNumber(traverser.sack)
        ? traverser.with({ sack: calculate('divide', traverser.sack, sum) })
        : traverser,
    );
  });
}

interface SortKey {
  readonly by: By;
  readonly isDescending: boolean;
  readonly isShuffled?: boolean;
}

function sortKeysOf(modulators: readonly Instruction[], compiler: Compiler): SortKey[] {
  const sortKeys = modulators
    .filter(({ name }) => name === 'by')
    .map((modulator) => {
      const order = modulator.args.find((arg) => arg instanceof EnumValue && arg.type === 'Order');
      const name = order instanceof EnumValue ? order.name : 'asc';
      return {
        by: byOf(modulator, compiler),
        isDescending: name === 'desc' || name === 'decr',
        isShuffled: name === 'shuffle',
      };
    });
  return sortKeys.length === 0 ? [{ by: IDENTITY, isDescending: false }] : sortKeys;
}

/** The traversers in order. Those for which a by() makes nothing are left out. */
async function sorted(
  traversers: readonly Traverser[],
  sortKeys: readonly SortKey[],
  frame: Frame,
): Promise<Traverser[]> {
  const keys: (GremlinValue | undefined)[][] = [];
  for (const { by, isShuffled } of sortKeys)
    keys.push(
      isShuffled === true
        ? shuffledPlaces(traversers.length, frame.run.chance(sortKeys))
        : await resolveBy(by, traversers, frame),
    );
  const rows = traversers
    .map((traverser, at) => ({ traverser, keys: keys.map((column) => column[at]) }))
    .filter((row): row is { traverser: Traverser; keys: GremlinValue[] } =>
      row.keys.every((key) => key !== undefined),
    );
  const ordered = await frame.run.pace.sorted(rows, (a, b) => {
    for (const [at, { isDescending }] of sortKeys.entries()) {
      const compared = compareOrder(a.keys[at] as GremlinValue, b.keys[at] as GremlinValue);
      if (compared !== 0) return isDescending ? -compared : compared;
    }
    return 0;
  });
  return ordered.map(({ traverser }) => traverser);
}

/** A place for each, in a random order. */
function shuffledPlaces(count: number, chance: Chance): number[] {
  const places: number[] = Array.from({ length: count }, () => 0);
  const order = shuffled([...places.keys()], chance);
  for (const [place, at] of order.entries()) places[at] = place;
  return places;
}

function orderStep({ args, modulators }: Clause, compiler: Compiler): Step {
  const sortKeys = sortKeysOf(modulators, compiler);
  if (!isLocal(args))
    return barrierStep(async (all, frame) => {
      const groups: Traverser[] = [];
      for (const group of byOrigin(all, frame))
        for (const traverser of await sorted(group, sortKeys, frame)) groups.push(traverser);
      return groups;
    });
  return batchStep(async (batch, frame) => {
    const next: Traverser[] = [];
    for (const traverser of batch) {
      const members = membersOf(traverser.value).map((value) => traverser.with({ value }));
      const ordered = await sorted(members, sortKeys, frame);
      next.push(
        traverser.to(
          orderedLike(
            traverser.value,
            ordered.map(({ value }) => value),
          ),
        ),
      );
    }
    return next;
  });
}

/** A set has no order: it becomes a list. */
function orderedLike(value: GremlinValue, members: readonly GremlinValue[]): GremlinValue {
  return value instanceof GremlinSet ? members : likeCollection(value, members);
}

/** Puts values into a list that cap() and select() read. With a barrier all come in before the first goes on. */
function sideEffectStep(
  { args, modulators }: Clause,
  compiler: Compiler,
  isBarrier: boolean,
): Step {
  const key = args.at(-1);
  if (typeof key !== 'string') throw compileError('aggregate() needs a name.');
  const bys = bysOf(modulators, compiler);
  if (bys.length > 1) throw compileError('Aggregate step can only have one by modulator');
  const [by = IDENTITY] = bys;
  const store = async (
    batch: readonly Traverser[],
    frame: Frame,
  ): Promise<readonly Traverser[]> => {
    const values = await resolveBy(by, batch, frame);
    const added = batch.flatMap(({ bulk }, at) => {
      const value = values[at];
      return value === undefined ? [] : Array.from({ length: bulk }, () => value);
    });
    if (isBarrier) addToSideEffect(frame.run, key, added);
    else for (const value of added) addToSideEffect(frame.run, key, [value]);
    return batch;
  };
  return isBarrier ? barrierStep(store) : batchStep(store);
}
