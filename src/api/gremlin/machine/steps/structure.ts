/** Elements of properties, trees of ways and parts of the graph. */
import { runtimeError } from '../../errors.ts';
import { GremlinMap } from '../../model/collections.ts';
import { Edge, Property, VertexProperty } from '../../model/elements.ts';
import { SubGraph, Tree } from '../../model/structures.ts';
import type { GremlinValue } from '../../model/value.ts';
import { type By, bysOf, IDENTITY, resolveBy } from '../by.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { loadReferences } from '../references.ts';
import { barrierStep, batchStep, byOrigin, type Frame, mapStep, type Step } from '../step.ts';
import { placesOf, type Traverser } from '../traverser.ts';
import { fresh } from './reduce.ts';
import { listMembers } from './text.ts';

export const STRUCTURE_STEPS: StepTable = {
  element: () =>
    batchStep((batch) =>
      batch.map((traverser) => {
        const { value } = traverser;
        if (value instanceof VertexProperty) return traverser.to(value.vertex);
        if (value instanceof Property) return traverser.to(value.element as GremlinValue);
        throw runtimeError('element() can only be used on properties.');
      }),
    ),
  tree: (clause, compiler) => treeStep(clause, compiler),
  subgraph: ({ args: [key] }) =>
    batchStep(async (batch, frame) => {
      const graph = subGraphOf(frame, String(key));
      for (const { value } of batch) {
        if (!(value instanceof Edge)) throw runtimeError('subgraph() can only be used on edges.');
        graph.add(value);
      }
      await loadReferences([...graph.vertices.values()], frame);
      return batch;
    }),
  index: ({ modulators }) => {
    const isMap = modulators.some(({ name, args }) => name === 'with' && args[1] === INDEX_AS_MAP);
    return mapStep((value) => {
      const members = listMembers(value) ?? [value];
      return isMap
        ? new GremlinMap(members.map((member, at) => [at, member]))
        : members.map((member, at) => [member, at]);
    });
  },
};

/** The value of the option that asks index() for maps. */
const INDEX_AS_MAP = 1;

function subGraphOf({ run }: Frame, key: string): SubGraph {
  const known = run.sideEffects.get(key);
  if (known instanceof SubGraph) return known;
  const graph = new SubGraph();
  run.sideEffects.set(key, graph);
  return graph;
}

function treeStep({ args: [key], modulators }: Clause, compiler: Compiler): Step {
  const bys = bysOf(modulators, compiler);
  const grow = async (
    tree: Tree,
    traversers: readonly Traverser[],
    frame: Frame,
  ): Promise<void> => {
    for (const traverser of traversers) await addWay(tree, traverser, bys, frame);
  };
  if (key !== undefined)
    return batchStep(async (batch, frame) => {
      const known = frame.run.sideEffects.get(String(key));
      const tree = known instanceof Tree ? known : new Tree();
      frame.run.sideEffects.set(String(key), tree);
      await grow(tree, batch, frame);
      return batch;
    });
  return barrierStep(async (all, frame) => {
    const trees: Traverser[] = [];
    for (const [origin, group] of byOrigin(all, frame).entries()) {
      const tree = new Tree();
      await grow(tree, group, frame);
      trees.push(fresh(tree, origin, group[0], frame));
    }
    return trees;
  });
}

/** Places that a by() makes nothing of end the way. */
async function addWay(
  tree: Tree,
  traverser: Traverser,
  bys: readonly By[],
  frame: Frame,
): Promise<void> {
  let node = tree;
  for (const [at, { object }] of placesOf(traverser.path).entries()) {
    const by = bys.length === 0 ? IDENTITY : (bys[at % bys.length] as By);
    const [value] = await resolveBy(by, [traverser.with({ value: object })], frame);
    if (value === undefined) return;
    const known = node.get(value);
    const next = known instanceof Tree ? known : new Tree();
    if (next !== known) node.set(value, next);
    frame.run.pace.hold(1);
    node = next;
  }
}
