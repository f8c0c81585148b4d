/** Arguments that are constants or traversals, and the properties that writing steps make of them. */
import type { Cardinality } from '../../graph/graph.ts';
import type { GremlinMap } from '../../model/collections.ts';
import type { Edge, Vertex } from '../../model/elements.ts';
import { Bytecode, EnumValue } from '../../model/terms.ts';
import type { GremlinValue } from '../../model/value.ts';
import type { Compiler } from '../compiler.ts';
import { evaluate, type Frame, Pipeline } from '../step.ts';
import type { Traverser } from '../traverser.ts';

/** A constant, or a traversal whose first result counts. */
export type Operand = GremlinValue | Pipeline;

/** A value with the cardinality of its property, as clients send it: `Cardinality.list(5)`. */
export function cardinalValue(
  value: GremlinValue,
): { readonly cardinality: Cardinality; readonly value: GremlinValue } | undefined {
  if (!(value instanceof Bytecode)) return undefined;
  const [only] = value.sources.length > 0 ? value.sources : value.steps;
  if (only?.name !== 'CardinalityValueTraversal') return undefined;
  const [cardinality, inner = null] = only.args;
  const name = cardinality instanceof EnumValue ? cardinality.name : String(cardinality);
  return { cardinality: name as Cardinality, value: inner };
}

export function operandOf(value: GremlinValue, compiler: Compiler): Operand {
  return value instanceof Bytecode && cardinalValue(value) === undefined
    ? compiler.pipeline(value)
    : value;
}

/** Undefined where a traversal has no result. */
export async function resolve(
  operand: Operand,
  traverser: Traverser,
  frame: Frame,
): Promise<GremlinValue | undefined> {
  if (!(operand instanceof Pipeline)) return operand;
  const [results] = await evaluate(operand, [traverser], frame);
  return results?.[0]?.value;
}

/** Sets what a map says, and returns the element as it is then. */
export function setProperties<T extends Vertex | Edge>(
  element: T,
  properties: GremlinMap,
  cardinality: Cardinality | undefined,
  { run }: Frame,
): T {
  for (const [key, value] of properties) {
    const cardinal = cardinalValue(value);
    run.graph.setProperty(element, {
      key: String(key),
      value: cardinal?.value ?? value,
      cardinality: cardinal?.cardinality ?? cardinality ?? 'single',
      meta: new Map(),
    });
  }
  return properties.size === 0 ? element : run.graph.current(element);
}
