/** Values from the way so far, and new values: select, project, path, constant. */
import { compileError } from '../../errors.ts';
import { GremlinMap } from '../../model/collections.ts';
import { Path } from '../../model/elements.ts';
import { Bytecode, EnumValue } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import { type By, bysOf, IDENTITY, resolveBy, resolveRows } from '../by.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { columnOf } from '../element-values.ts';
import { type Pop, selected } from '../scope.ts';
import { batchStep, evaluate, type Frame, mapStep, type Step } from '../step.ts';
import { boundedPlaces, pathBounds, pathOf, type Traverser } from '../traverser.ts';
import { textsOf } from './arguments.ts';

export const SELECT_STEPS: StepTable = {
  constant: ({ args: [value = null] }) => mapStep(() => value),
  path: (clause, compiler) => pathStep(clause, compiler),
  project: ({ args, modulators }, compiler) =>
    projectStep(textsOf(args, 'project'), bysOf(modulators, compiler)),
  select: (clause, compiler) => selectStep(clause, compiler),
};

/** The modulators take turns. */
function byAt(bys: readonly By[], at: number): By {
  return bys.length === 0 ? IDENTITY : (bys[at % bys.length] as By);
}

function pathStep({ modulators }: Clause, compiler: Compiler): Step {
  const bys = bysOf(modulators, compiler);
  const bounds = pathBounds(modulators);
  return batchStep(async (batch, frame) => {
    const paths = batch.map((traverser) => pathOf(boundedPlaces(traverser, bounds)));
    if (bys.length === 0)
      return batch.map((traverser, row) => traverser.to(paths[row] as GremlinValue));
    const rows = batch.map((traverser, row) => ({
      traverser,
      objects: (paths[row] as Path).objects,
    }));
    const results = await resolveRows(bys, rows, frame);
    return batch.flatMap((traverser, row) => {
      const objects = results[row] as (GremlinValue | undefined)[];
      if (objects.includes(undefined)) return [];
      return [traverser.to(new Path(objects as GremlinValue[], (paths[row] as Path).labels))];
    });
  });
}

function projectStep(names: readonly string[], bys: readonly By[]): Step {
  return batchStep(async (batch, frame) => {
    const columns: (GremlinValue | undefined)[][] = [];
    for (const at of names.keys()) columns.push(await resolveBy(byAt(bys, at), batch, frame));
    return batch.map((traverser, row) => {
      const map = new GremlinMap();
      for (const [at, name] of names.entries()) {
        const value = columns[at]?.[row];
        if (value !== undefined) map.set(name, value);
      }
      return traverser.to(map);
    });
  });
}

function selectStep({ args, modulators }: Clause, compiler: Compiler): Step {
  const [first] = args;
  if (first instanceof EnumValue && first.type === 'Column')
    return batchStep((batch) =>
      batch.flatMap((traverser) => {
        const value = columnOf(traverser.value, first.name);
        return value === undefined ? [] : [traverser.to(value)];
      }),
    );
  const pop = first instanceof EnumValue && first.type === 'Pop' ? (first.name as Pop) : undefined;
  const [computed] = pop === undefined ? args : args.slice(1);
  if (computed instanceof Bytecode) return selectComputed(computed, pop, modulators, compiler);
  const labels = textsOf(pop === undefined ? args : args.slice(1), 'select');
  if (labels.length === 0) throw compileError('select() needs labels.');
  const bys = bysOf(modulators, compiler);
  return batchStep(async (batch, frame) => {
    const columns: (GremlinValue | undefined)[][] = [];
    for (const [at, label] of labels.entries())
      columns.push(await column(batch, label, { pop, by: byAt(bys, at) }, frame));
    return batch.flatMap((traverser, row) => {
      const values = columns.map((each) => each[row]);
      if (values.some((value) => value === undefined)) return [];
      const present = values as GremlinValue[];
      if (labels.length === 1) return [traverser.to(present[0] as GremlinValue)];
      return [
        traverser.to(
          new GremlinMap(labels.map((label, at) => [label, present[at] as GremlinValue])),
        ),
      ];
    });
  });
}

/** select(traversal): the key is what the traversal makes of each traverser. */
function selectComputed(
  key: Bytecode,
  pop: Pop | undefined,
  modulators: Clause['modulators'],
  compiler: Compiler,
): Step {
  const child = compiler.pipeline(key);
  const [by = IDENTITY] = bysOf(modulators, compiler);
  return batchStep(async (batch, frame) => {
    const keys = await evaluate(child, batch, frame);
    const found = batch.flatMap((traverser, at) => {
      const name = keys[at]?.[0]?.value;
      if (name === undefined) return [];
      const entry = traverser.value instanceof GremlinMap ? traverser.value.get(name) : undefined;
      const value =
        entry ?? (typeof name === 'string' ? selected(traverser, name, frame, pop) : undefined);
      return value === undefined ? [] : [traverser.with({ value })];
    });
    const values = await resolveBy(by, found, frame);
    return found.flatMap((traverser, at) => {
      const value = values[at];
      return value === undefined ? [] : [traverser.to(value)];
    });
  });
}

/** The values of one label for all traversers. */
async function column(
  batch: readonly Traverser[],
  label: string,
  { pop, by }: { readonly pop: Pop | undefined; readonly by: By },
  frame: Frame,
): Promise<(GremlinValue | undefined)[]> {
  const found = batch.map((traverser) => selected(traverser, label, frame, pop));
  const rows = [...found.keys()].filter((row) => found[row] !== undefined);
  const inputs = rows.map((row) =>
    (batch[row] as Traverser).with({ value: found[row] as GremlinValue }),
  );
  const values = await resolveBy(by, inputs, frame);
  const result: (GremlinValue | undefined)[] = batch.map(() => undefined);
  for (const [at, row] of rows.entries()) result[row] = values[at];
  return result;
}
