/** Filters by nested traversals, by predicates and by the way so far. */
import { compileError } from '../../errors.ts';
import { Edge, VertexProperty } from '../../model/elements.ts';
import { areEqual, valueKey } from '../../model/equality.ts';
import { Bytecode, Predicate } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import { type By, bysOf, IDENTITY, resolveBy, resolveRows } from '../by.ts';
import { type Clause, connected } from '../clauses.ts';
import type { Compiler, StepFactory, StepTable } from '../compiler.ts';
import { membersOf } from '../element-values.ts';
import { testOf } from '../predicate.ts';
import { selected } from '../scope.ts';
import {
  barrierStep,
  batchStep,
  evaluate,
  type Frame,
  filterStep,
  type Pipeline,
  type Step,
} from '../step.ts';
import { boundedPlaces, pathBounds, type Traverser } from '../traverser.ts';

const whereTraversal: StepFactory = ({ args: [first], name }, compiler) =>
  filterBy(compiler.child(first, name), true);

export const FILTER_STEPS: StepTable = {
  is: ({ args: [condition = null] }) => {
    const test = testOf(condition);
    return filterStep(({ value }) => test(value));
  },
  filter: (clause, compiler) =>
    clause.args[0] instanceof Predicate
      ? (FILTER_STEPS.is as StepFactory)(clause, compiler)
      : whereTraversal(clause, compiler),
  where: (clause, compiler) => whereStep(clause, compiler),
  not: ({ args: [first] }, compiler) => filterBy(compiler.child(first, 'not'), false),
  and: ({ args }, compiler) =>
    connective(
      args.map((arg) => compiler.child(arg, 'and')),
      'every',
    ),
  or: ({ args }, compiler) =>
    connective(
      args.map((arg) => compiler.child(arg, 'or')),
      'some',
    ),
  simplePath: (clause, compiler) => pathFilter(clause, compiler, true),
  cyclicPath: (clause, compiler) => pathFilter(clause, compiler, false),
  isVertexPropertyWith: ({ args: [first] }, compiler) => {
    const child = compiler.child(first, 'isVertexPropertyWith');
    return batchStep(async (batch, frame) => {
      const results = await evaluate(child, batch, frame);
      return batch.filter(
        ({ value }, at) => !(value instanceof VertexProperty) || (results[at]?.length ?? 0) > 0,
      );
    });
  },
  isInPartition: ({ args }) =>
    filterStep(
      ({ value }) =>
        value instanceof Edge && args.some((arg) => areEqual(arg, value.partition as GremlinValue)),
    ),
  identity: () => filterStep(() => true),
  discard: () => barrierStep(() => []),
};

/** Keeps traversers for which the nested traversal has a result, or has none. */
function filterBy(child: Pipeline, hasResult: boolean): Step {
  return batchStep(async (batch, frame) => {
    const results = await evaluate(child, batch, frame);
    return batch.filter((_, at) => (results[at]?.length ?? 0) > 0 === hasResult);
  });
}

function connective(children: readonly Pipeline[], needs: 'every' | 'some'): Step {
  return batchStep(async (batch, frame) => {
    const passed: boolean[][] = [];
    for (const child of children)
      passed.push((await evaluate(child, batch, frame)).map((results) => results.length > 0));
    return batch.filter((_, at) =>
      needs === 'every' ? passed.every((each) => each[at]) : passed.some((each) => each[at]),
    );
  });
}

/** where(traversal), where(P) and where('label', P); the values of P are labels. */
function whereStep(clause: Clause, compiler: Compiler): Step {
  const [first, second] = clause.args;
  if (first instanceof Bytecode) return whereNested(first, clause, compiler);
  const bys = bysOf(clause.modulators, compiler);
  if (first instanceof Predicate) return whereCompared(undefined, first, bys);
  if (typeof first === 'string' && second instanceof Predicate)
    return whereCompared(first, second, bys);
  throw compileError('where() needs a traversal or a predicate.');
}

/** Connectives inside of where() are made of further conditions on labels. */
function whereNested(bytecode: Bytecode, clause: Clause, compiler: Compiler): Step {
  const steps = connected(bytecode.steps, false);
  const [only, ...others] = steps;
  const isConnective = only?.name === 'and' || only?.name === 'or' || only?.name === 'not';
  if (isConnective && others.length === 0 && only.args.every((arg) => arg instanceof Bytecode)) {
    const parts = only.args.map((arg) =>
      compiler.pipeline(new Bytecode([], [{ name: 'where', args: [arg] }])),
    );
    if (only.name === 'not') return filterBy(parts[0] as Pipeline, false);
    return connective(parts, only.name === 'and' ? 'every' : 'some');
  }
  return whereLabelled(bytecode, compiler) ?? whereTraversal(clause, compiler);
}

/** where(__.as('a').out().as('b')): begins at the value of one label and must end at that of the other. */
function whereLabelled(bytecode: Bytecode, compiler: Compiler): Step | undefined {
  const { steps } = bytecode;
  const start = steps[0]?.name === 'as' ? String(steps[0].args[0]) : undefined;
  const end =
    steps.length > 1 && steps.at(-1)?.name === 'as' ? String(steps.at(-1)?.args[0]) : undefined;
  if (start === undefined && end === undefined) return undefined;
  const inner = steps.slice(start === undefined ? 0 : 1, end === undefined ? undefined : -1);
  const child = compiler.pipeline(new Bytecode([], inner));
  return batchStep(async (batch, frame) => {
    const places = batch.flatMap((traverser) => {
      const value = start === undefined ? traverser.value : selected(traverser, start, frame);
      return value === undefined ? [] : [{ traverser, input: traverser.with({ value }) }];
    });
    const results = await evaluate(
      child,
      places.map(({ input }) => input),
      frame,
    );
    const isKept = (traverser: Traverser, found: readonly Traverser[]): boolean => {
      if (end === undefined) return found.length > 0;
      const wanted = selected(traverser, end, frame);
      return (
        wanted !== undefined && found.some(({ value }) => valueKey(value) === valueKey(wanted))
      );
    };
    return places
      .filter(({ traverser }, at) => isKept(traverser, results[at] ?? []))
      .map(({ traverser }) => traverser);
  });
}

function labelsIn(predicate: Predicate): string[] {
  return predicate.values.flatMap((value) => {
    if (value instanceof Predicate) return labelsIn(value);
    if (typeof value !== 'string')
      throw compileError('where() compares with the values of labels.');
    return [value];
  });
}

/** The predicate with the values of the labels instead of their names. */
function bound(predicate: Predicate, values: ReadonlyMap<string, GremlinValue>): Predicate {
  return new Predicate(
    predicate.name,
    predicate.values.flatMap((value) => {
      if (value instanceof Predicate) return [bound(value, values)];
      const found = values.get(String(value)) ?? null;
      // Membership is tested in what was collected under the name.
      const isSet = predicate.name === 'within' || predicate.name === 'without';
      return isSet ? membersOf(found) : [found];
    }),
  );
}

/** The first by() is for the left side, the others are for the labels of the predicate, one after the other. */
function whereCompared(left: string | undefined, predicate: Predicate, bys: readonly By[]): Step {
  const labels = [...new Set(labelsIn(predicate))];
  const byAt = (at: number): By => (bys.length === 0 ? IDENTITY : (bys[at % bys.length] as By));
  return batchStep(async (batch, frame) => {
    const lefts = await sides(batch, left, byAt(0), frame);
    const rights: (GremlinValue | undefined)[][] = [];
    for (const [at, label] of labels.entries())
      rights.push(await sides(batch, label, byAt(at + 1), frame));
    return batch.filter((_, at) => {
      const value = lefts[at];
      if (value === undefined) return false;
      const values = new Map<string, GremlinValue>();
      for (const [index, label] of labels.entries()) {
        const right = rights[index]?.[at];
        if (right === undefined) return false;
        values.set(label, right);
      }
      return testOf(bound(predicate, values))(value);
    });
  });
}

async function sides(
  batch: readonly Traverser[],
  label: string | undefined,
  by: By,
  frame: Frame,
): Promise<(GremlinValue | undefined)[]> {
  const values = batch.map((traverser) =>
    label === undefined ? traverser.value : selected(traverser, label, frame),
  );
  const present = batch.filter((_, at) => values[at] !== undefined);
  const inputs = present.map((traverser) =>
    traverser.with({ value: values[batch.indexOf(traverser)] as GremlinValue }),
  );
  const resolved = await resolveBy(by, inputs, frame);
  const results = new Map(present.map((traverser, at) => [traverser, resolved[at]]));
  return batch.map((traverser) => results.get(traverser));
}

function pathFilter({ modulators }: Clause, compiler: Compiler, isSimple: boolean): Step {
  const bys = bysOf(modulators, compiler);
  const bounds = pathBounds(modulators);
  return batchStep(async (batch, frame) => {
    const rows: { readonly traverser: Traverser; readonly objects: GremlinValue[] }[] = [];
    for (const traverser of batch) {
      const objects = boundedPlaces(traverser, bounds).map(({ object }) => object);
      // Ways may be long.
      await frame.run.pace.spend(objects.length);
      rows.push({ traverser, objects });
    }
    const values = await resolveRows(bys, rows, frame);
    const kept: Traverser[] = [];
    for (const [row, { traverser }] of rows.entries()) {
      const found = values[row] as (GremlinValue | undefined)[];
      // A by() that makes nothing filters the traverser.
      if (found.includes(undefined)) continue;
      const keys = new Set(found.map((value) => valueKey(value as GremlinValue)));
      if ((keys.size === found.length) === isSimple) kept.push(traverser);
      await frame.run.pace.spend(found.length);
    }
    return kept;
  });
}
