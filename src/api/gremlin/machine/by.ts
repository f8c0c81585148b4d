/** by(): what a step takes of a traverser instead of its value. */
import { compileError, runtimeError } from '../errors.ts';
import { GremlinMap, MapEntry } from '../model/collections.ts';
import { Edge, Path, Property, Vertex, VertexProperty } from '../model/elements.ts';
import { Bytecode, EnumValue, type Instruction } from '../model/terms.ts';
import type { GremlinValue } from '../model/value.ts';
import type { Compiler } from './compiler.ts';
import { columnOf, propertyValues, tokenOf } from './element-values.ts';
import { loadReferences } from './references.ts';
import { evaluate, type Frame, type Pipeline } from './step.ts';
import type { Traverser } from './traverser.ts';

export type By =
  | { readonly kind: 'identity' }
  | { readonly kind: 'key'; readonly key: string; readonly isProductive?: boolean }
  | { readonly kind: 'token'; readonly name: string }
  | { readonly kind: 'column'; readonly name: string }
  | {
      readonly kind: 'traversal';
      readonly child: Pipeline;
      readonly source: Bytecode;
      readonly isProductive?: boolean;
    };

export const IDENTITY: By = { kind: 'identity' };

export function byOf({ args }: Instruction, compiler: Compiler): By {
  const [first] = args;
  if (first === undefined || (first instanceof EnumValue && first.type === 'Order'))
    return IDENTITY;
  const { productiveKeys } = compiler.settings;
  if (typeof first === 'string') {
    const isProductive = productiveKeys !== undefined && !isExempt(productiveKeys, first);
    return { kind: 'key', key: first, isProductive };
  }
  if (first instanceof Bytecode)
    return {
      kind: 'traversal',
      child: compiler.pipeline(first),
      source: first,
      isProductive: productiveKeys !== undefined,
    };
  if (first instanceof EnumValue && first.type === 'T') return { kind: 'token', name: first.name };
  if (first instanceof EnumValue && first.type === 'Column')
    return { kind: 'column', name: first.name };
  throw compileError('by() needs a property name, a token or a traversal.');
}

/** Keys that are known to be there stay as they are. */
function isExempt(keys: ReadonlySet<string> | 'all', key: string): boolean {
  return keys !== 'all' && keys.has(key);
}

/** The by() modulators of a step, in order. */
export function bysOf(modulators: readonly Instruction[], compiler: Compiler): By[] {
  return modulators.filter(({ name }) => name === 'by').map((by) => byOf(by, compiler));
}

/** What by() makes of each traverser; undefined where it makes nothing. */
export async function resolveBy(
  by: By,
  traversers: readonly Traverser[],
  frame: Frame,
): Promise<(GremlinValue | undefined)[]> {
  switch (by.kind) {
    case 'identity':
      return traversers.map(({ value }) => value);
    case 'traversal': {
      const results = await evaluate(by.child, traversers, frame);
      return results.map(([first]) => productive(first?.value, by));
    }
    case 'key':
      await loadReferences(
        traversers.map(({ value }) => value),
        frame,
      );
      return traversers.map(({ value }) => productive(keyed(value, by.key), by));
    case 'token':
      return traversers.map(({ value }) => tokenOf(value, by.name));
    case 'column':
      return traversers.map(({ value }) => columnOf(value, by.name));
  }
}

/**
 * What the modulators make of the objects of each row, which take turns. Each of them runs once over all rows: the
 * look-ups of a batch are few, however many objects it has.
 */
export async function resolveRows(
  bys: readonly By[],
  rows: readonly { readonly traverser: Traverser; readonly objects: readonly GremlinValue[] }[],
  frame: Frame,
): Promise<(GremlinValue | undefined)[][]> {
  const results: (GremlinValue | undefined)[][] = rows.map(({ objects }) => [...objects]);
  for (const [turn, by] of bys.entries()) {
    const places: { readonly row: number; readonly at: number }[] = [];
    const inputs: Traverser[] = [];
    for (const [row, { traverser, objects }] of rows.entries())
      for (let at = turn; at < objects.length; at += bys.length) {
        places.push({ row, at });
        inputs.push(traverser.with({ value: objects[at] as GremlinValue }));
      }
    const values = await resolveBy(by, inputs, frame);
    for (const [index, { row, at }] of places.entries())
      (results[row] as (GremlinValue | undefined)[])[at] = values[index];
    await frame.run.pace.spend(places.length);
  }
  return results;
}

function productive(
  value: GremlinValue | undefined,
  { isProductive }: { readonly isProductive?: boolean },
): GremlinValue | undefined {
  return value === undefined && isProductive === true ? null : value;
}

function keyed(value: GremlinValue, key: string): GremlinValue | undefined {
  if (value instanceof MapEntry && value.get(key) === undefined) return undefined;
  if (value instanceof GremlinMap) return value.get(key);
  const isElement =
    value instanceof Vertex || value instanceof Edge || value instanceof VertexProperty;
  if (isElement) return propertyValues(value, key)[0];
  if (value instanceof Property || value instanceof Path || value === null) return undefined;
  throw runtimeError(`by('${key}') can only be used on elements and maps.`);
}
