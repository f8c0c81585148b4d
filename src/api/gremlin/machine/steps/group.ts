/** group() and groupCount(): traversers by a key, and what becomes of each group. */
import { compileError } from '../../errors.ts';
import { GremlinMap } from '../../model/collections.ts';
import { valueKey } from '../../model/equality.ts';
import { calculate, isNumber, numberOf } from '../../model/number.ts';
import type { GremlinValue } from '../../model/value.ts';
import { type By, bysOf, IDENTITY, resolveBy } from '../by.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { batchesOf, chunks, collect, type Frame, type Pipeline, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { fresh } from './reduce.ts';

export const GROUP_STEPS: StepTable = {
  group: (clause, compiler) => groupStep(clause, compiler),
  groupCount: (clause, compiler) => groupStep(clause, compiler),
};

interface Group {
  readonly origin: number;
  readonly key: GremlinValue;
  readonly members: Traverser[];
}

/** What becomes of the traversers of a group: their number, the list of their values, or one result of all. */
type GroupValue =
  | { readonly kind: 'count' }
  | { readonly kind: 'list'; readonly by: By }
  | { readonly kind: 'traversal'; readonly child: Pipeline; readonly isProductive: boolean };

function groupStep({ name, args, modulators }: Clause, compiler: Compiler): Step {
  const bys = bysOf(modulators, compiler);
  if (name === 'groupCount' && bys.length > 1)
    throw compileError('GroupCount step can only have one by modulator');
  if (bys.length > 2) throw compileError('Group step can only have two by modulators');
  const [key = IDENTITY, value = IDENTITY] = bys;
  const label = typeof args[0] === 'string' ? args[0] : undefined;
  const kind: GroupValue = name === 'groupCount' ? { kind: 'count' } : groupValueOf(value);
  if (label !== undefined) return sideEffectStep(label, key, kind);
  return async function* (input, frame) {
    const all = await collect(input, frame);
    const groups = divided(all, await resolveBy(key, all, frame));
    const values = await valuesOf(groups, kind, frame);
    const maps = Array.from({ length: frame.origins }, () => new GremlinMap());
    for (const [at, group] of groups.entries()) {
      const result = values[at];
      if (result !== undefined) maps[group.origin]?.set(group.key, result);
    }
    frame.run.pace.release(all.length);
    yield* chunks(maps.map((map, origin) => fresh(map, origin, all[0], frame)));
  };
}

/** The map is a side effect; traversers go on. Groups grow with every use of the name. */
function sideEffectStep(label: string, key: By, kind: GroupValue): Step {
  return async function* (input, frame) {
    const all = await collect(input, frame);
    const inputs = all.map((traverser) => traverser.with({ origin: 0 }));
    const added = divided(inputs, await resolveBy(key, inputs, frame));
    const { sideEffects, groups } = frame.run;
    const known = sideEffects.get(label);
    const map = known instanceof GremlinMap ? known : new GremlinMap();
    sideEffects.set(label, map);
    if (kind.kind === 'count') addCounts(map, added);
    else {
      const members =
        (groups.get(label) as Map<string, Group> | undefined) ?? new Map<string, Group>();
      groups.set(label, members);
      for (const group of added) {
        const name = valueKey(group.key);
        const before = members.get(name);
        members.set(name, {
          ...group,
          members: before === undefined ? group.members : [...before.members, ...group.members],
        });
      }
      const changed = added.map(({ key: each }) => members.get(valueKey(each)) as Group);
      const values = await valuesOf(changed, kind, { run: frame.run, origins: 1 });
      for (const [at, group] of changed.entries()) {
        const value = values[at];
        if (value !== undefined) map.set(group.key, value);
      }
    }
    yield* batchesOf(all);
  };
}

function addCounts(map: GremlinMap, groups: readonly Group[]): void {
  for (const { key, members } of groups) {
    const before = map.get(key) ?? null;
    const count = numberOf('long', countOf(members));
    map.set(key, isNumber(before) ? calculate('add', before, count) : count);
  }
}

function countOf(members: readonly Traverser[]): number {
  return members.reduce((sum, { bulk }) => sum + bulk, 0);
}

/** Keys and tokens are applied to each, and the group is the list of these; a traversal runs over the whole group. */
function groupValueOf(by: By): GroupValue {
  if (by.kind === 'traversal')
    return { kind: 'traversal', child: by.child, isProductive: by.isProductive === true };
  return { kind: 'list', by };
}

/** Groups in the order of their first members. Traversers without a key are left out. */
function divided(all: readonly Traverser[], keys: readonly (GremlinValue | undefined)[]): Group[] {
  const groups = new Map<string, Group>();
  for (const [at, traverser] of all.entries()) {
    const key = keys[at];
    if (key === undefined) continue;
    const { origin } = traverser;
    const name = `${origin}:${valueKey(key)}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, { origin, key, members: [traverser] });
    else group.members.push(traverser);
  }
  return [...groups.values()];
}

async function valuesOf(
  groups: readonly Group[],
  value: GroupValue,
  frame: Frame,
): Promise<(GremlinValue | undefined)[]> {
  switch (value.kind) {
    case 'count':
      return groups.map(({ members }) => numberOf('long', countOf(members)));
    case 'list':
      return Promise.all(groups.map(({ members }) => listOf(members, value.by, frame)));
    case 'traversal': {
      // All groups run at once, each as one origin.
      const inputs = groups.flatMap(({ members }, origin) =>
        members.map((member) => member.with({ origin })),
      );
      const results: (GremlinValue | undefined)[] = groups.map(() =>
        value.isProductive ? null : undefined,
      );
      const inner: Frame = { run: frame.run, origins: groups.length, isNested: true };
      const hasResult = new Set<number>();
      for await (const batch of value.child.open(batchesOf(inputs), inner))
        for (const result of batch)
          if (!hasResult.has(result.origin)) {
            hasResult.add(result.origin);
            results[result.origin] = result.value;
          }
      return results;
    }
  }
}

async function listOf(
  members: readonly Traverser[],
  by: By,
  frame: Frame,
): Promise<GremlinValue[]> {
  const values = await resolveBy(by, members, frame);
  return members.flatMap(({ bulk }, at) => {
    const value = values[at];
    return value === undefined ? [] : Array.from({ length: bulk }, () => value);
  });
}
