/** Steps that change the graph: addV, addE, property, drop. The writes are applied together when the traversal ends. */
import { compileError, runtimeError } from '../../errors.ts';
import type { Cardinality, NewProperty } from '../../graph/graph.ts';
import { GremlinMap } from '../../model/collections.ts';
import { Edge, Property, Vertex, VertexProperty } from '../../model/elements.ts';
import { TypedNumber } from '../../model/number.ts';
import { Bytecode, EnumValue, type Instruction } from '../../model/terms.ts';
import { type GremlinValue, Uuid } from '../../model/value.ts';
import type { Clause } from '../clauses.ts';
import type { Compiler, StepTable } from '../compiler.ts';
import { loaded, loadReferences } from '../references.ts';
import { selected } from '../scope.ts';
import { batchStep, type Frame, type Pipeline, type Step } from '../step.ts';
import type { Traverser } from '../traverser.ts';
import { checkHidden, checkLabel } from './merge.ts';
import { cardinalValue, type Operand, operandOf, resolve } from './operands.ts';

export const WRITE_STEPS: StepTable = {
  addV: (clause, compiler) => addVertexStep(clause, compiler),
  addE: (clause, compiler) => addEdgeStep(clause, compiler),
  property: (clause, compiler) => propertyStep(clause, compiler),
  drop: () =>
    batchStep(async (batch, frame) => {
      await frame.run.graph.drop(batch.map(({ value }) => droppable(value)));
      return [];
    }),
};

function droppable(value: GremlinValue): Vertex | Edge | VertexProperty | Property {
  const isElement = value instanceof Vertex || value instanceof Edge;
  if (isElement || value instanceof VertexProperty || value instanceof Property) return value;
  throw runtimeError('drop() can only be used on elements and properties.');
}

interface PropertyTemplate {
  /** Undefined where the step does not say. */
  readonly cardinality: Cardinality | undefined;
  readonly key: string | Pipeline;
  readonly value: Operand;
  readonly meta: ReadonlyMap<string, GremlinValue>;
  readonly id?: GremlinValue | undefined;
  readonly isToken: boolean;
}

/** property(key, value, …meta), property(cardinality, key, value, …meta), property(map). */
function templatesOf({ args }: Instruction, compiler: Compiler): PropertyTemplate[] {
  const [first] = args;
  const cardinality =
    first instanceof EnumValue && first.type === 'Cardinality'
      ? (first.name as Cardinality)
      : undefined;
  const rest = cardinality === undefined ? args : args.slice(1);
  const [key, value, ...meta] = rest;
  if (key instanceof GremlinMap)
    return [...key].map(([name, member]) => ({
      cardinality: cardinalValue(member)?.cardinality ?? cardinality,
      key: keyOf(name),
      value: cardinalValue(member)?.value ?? member,
      meta: new Map(),
      isToken: name instanceof EnumValue,
    }));
  if (key === null && value === undefined) return [];
  if (value === undefined || key === undefined || meta.length % 2 !== 0)
    throw compileError('property() needs pairs of keys and values.');
  const pairs = new Map<string, GremlinValue>();
  let id: GremlinValue | undefined;
  for (let at = 0; at < meta.length; at += 2)
    if (meta[at] instanceof EnumValue) id = meta[at + 1];
    else pairs.set(keyOf(meta[at] as GremlinValue), meta[at + 1] as GremlinValue);
  return [
    {
      cardinality,
      key: key instanceof Bytecode ? compiler.pipeline(key) : keyOf(key),
      value: operandOf(value, compiler),
      meta: pairs,
      id,
      isToken: key instanceof EnumValue,
    },
  ];
}

function keyOf(key: GremlinValue): string {
  if (typeof key === 'string') {
    checkHidden(key);
    return key;
  }
  if (key instanceof EnumValue && key.type === 'T') return key.name;
  throw compileError('A property key is a text.');
}

async function propertiesFor(
  templates: readonly PropertyTemplate[],
  traverser: Traverser,
  frame: Frame,
): Promise<NewProperty[]> {
  const properties: NewProperty[] = [];
  for (const template of templates) {
    const value = await resolve(template.value, traverser, frame);
    const key =
      typeof template.key === 'string'
        ? template.key
        : keyOf((await resolve(template.key, traverser, frame)) ?? null);
    if (value !== undefined) properties.push({ ...template, key, value });
  }
  return properties;
}

function addVertexStep({ args: [label = 'vertex'], modulators }: Clause, compiler: Compiler): Step {
  const labelOperand = label instanceof Bytecode ? compiler.pipeline(label) : label;
  const templates = modulators
    .filter(({ name }) => name === 'property')
    .flatMap((modulator) => templatesOf(modulator, compiler));
  return batchStep(async (batch, frame) => {
    const next: Traverser[] = [];
    for (const traverser of batch)
      for (let left = traverser.bulk; left > 0; left--) {
        const given = await propertiesFor(templates, traverser, frame);
        const token = given.findLast(({ key, isToken }) => key === 'label' && isToken);
        const name = labelText(token?.value ?? (await resolve(labelOperand, traverser, frame)));
        const properties = given.filter(({ key, isToken }) => key !== 'label' || !isToken);
        next.push(traverser.to(frame.run.graph.addVertex(name, properties)).with({ bulk: 1 }));
      }
    return next;
  });
}

function labelText(label: GremlinValue | undefined): string {
  if (typeof label !== 'string') throw runtimeError('Label can not be null');
  checkLabel(label);
  return label;
}

type End = { readonly label: string } | { readonly operand: Operand } | undefined;

function addEdgeStep({ args: [label], modulators }: Clause, compiler: Compiler): Step {
  if (label === undefined) throw compileError('addE() needs a label.');
  const labelOperand = label instanceof Bytecode ? compiler.pipeline(label) : label;
  const templates = modulators
    .filter(({ name }) => name === 'property')
    .flatMap((modulator) => templatesOf(modulator, compiler));
  const ends = { from: endOf(modulators, 'from', compiler), to: endOf(modulators, 'to', compiler) };
  return batchStep(async (batch, frame) => {
    const next: Traverser[] = [];
    for (const traverser of batch)
      for (let left = traverser.bulk; left > 0; left--) {
        const name = labelText(await resolve(labelOperand, traverser, frame));
        const from = await vertexAt(ends.from, traverser, { side: 'from', label: name }, frame);
        const to = await vertexAt(ends.to, traverser, { side: 'to', label: name }, frame);
        const properties = await propertiesFor(templates, traverser, frame);
        const edge = frame.run.graph.addEdge({ label: name, from, to, properties });
        next.push(traverser.to(edge).with({ bulk: 1 }));
      }
    return next;
  });
}

/** from('label'), from(traversal) or from(vertex). */
function endOf(modulators: readonly Instruction[], side: 'from' | 'to', compiler: Compiler): End {
  const argument = modulators.findLast(({ name }) => name === side)?.args[0];
  if (argument === undefined) return undefined;
  if (typeof argument === 'string') return { label: argument };
  if (argument instanceof Bytecode) return { operand: compiler.pipeline(argument) };
  if (argument instanceof Vertex) return { operand: argument };
  throw compileError(`${side}() needs a label, a vertex or a traversal.`);
}

/** A vertex, or the one that has the id. */
async function vertexOf(
  value: GremlinValue | undefined,
  { run }: Frame,
): Promise<Vertex | undefined> {
  if (value instanceof Vertex && value.key !== '') return value;
  if (value === undefined || value === null || value instanceof Edge) return undefined;
  const isId = value instanceof Vertex || typeof value !== 'object' || value instanceof TypedNumber;
  if (!isId && !(value instanceof Uuid)) return undefined;
  for await (const [vertex] of run.graph.vertices({ targets: [value], conditions: [] }))
    if (vertex !== undefined) return vertex;
  return undefined;
}

async function vertexAt(
  end: End,
  traverser: Traverser,
  { side, label }: { readonly side: string; readonly label: string },
  frame: Frame,
): Promise<Vertex> {
  const found =
    end === undefined
      ? traverser.value
      : 'label' in end
        ? selected(traverser, end.label, frame)
        : await resolve(end.operand, traverser, frame);
  const value = await vertexOf(found, frame);
  if (value === undefined)
    throw runtimeError(
      `The value given to addE(${label}).${side}() must resolve to a Vertex or the ID of a Vertex present in the graph`,
    );
  await loadReferences([value], frame);
  if (value.properties === undefined)
    throw runtimeError(`The vertex of addE().${side}() does not exist.`);
  return value;
}

function propertyStep(clause: Clause, compiler: Compiler): Step {
  const templates = templatesOf(clause, compiler);
  return batchStep(async (batch, frame) => {
    const ready = await loaded(batch, frame);
    const next: Traverser[] = [];
    for (const traverser of ready) {
      const { value } = traverser;
      if (!(value instanceof Vertex || value instanceof Edge || value instanceof VertexProperty))
        throw runtimeError('property() can only be used on elements.');
      const { graph } = frame.run;
      for (const property of await propertiesFor(templates, traverser, frame)) {
        // A traverser that stands for several adds several values to a list.
        const times = property.cardinality === 'list' ? traverser.bulk : 1;
        for (let left = times; left > 0; left--) graph.setProperty(value, property);
      }
      next.push(
        value instanceof VertexProperty
          ? traverser
          : traverser.with({ value: graph.current(value) }),
      );
    }
    return next;
  });
}
