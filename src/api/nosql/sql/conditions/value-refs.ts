/** Resolves expressions of a query to values of an item. */
import type { Condition } from '../../../../query/index.ts';
import { ARRAY_ELEMENT, type Path, type SpatialGrid } from '../../../../value/index.ts';
import type { CompileOver } from '../compile/constants.ts';
import type { Collection, Expression, Query } from '../language/ast.ts';
import type { ValueRef } from './conditions-ranges.ts';
import type { FindConstant } from './key-ranges.ts';

export interface Analysis {
  readonly findConstant: FindConstant;
  readonly compileOver: CompileOver;
  /** The grid of the spatial index at a path, where there is one. */
  readonly gridOf: (path: Path) => SpatialGrid | undefined;
  /** A fresh number, which distinguishes the elements of one iteration from those of another. */
  nextNumber(): number;
  /** False when the bound on steps is reached: aliases of aliases can make a short query huge. */
  takeStep(): boolean;
  /** The rows of a subquery in the scope of these aliases. */
  rowsOf(query: Query, aliases: Aliases): Rows;
}

export interface Rows {
  /** The condition for the query to have a row before grouping. */
  readonly condition: Condition;
  readonly aliases: Aliases;
}

export type Binding =
  | ({ readonly kind: 'valueRef' } & ValueRef)
  /** The result of a subquery over the same item: an expression in its scope, with the condition of its rows. */
  | {
      readonly kind: 'derived';
      readonly expression: Expression;
      readonly aliases: Aliases;
      readonly condition: Condition;
    }
  | { readonly kind: 'unknown' };

export type Aliases = ReadonlyMap<string, Binding>;

export const ROOT: ValueRef = { path: [], identity: '' };

export function valueRefOf(
  expression: Expression,
  aliases: Aliases,
  analysis: Analysis,
): ValueRef | undefined {
  switch (expression.kind) {
    case 'identifier': {
      const binding = aliases.get(expression.name);
      if (binding?.kind === 'valueRef') return binding;
      return binding?.kind === 'derived'
        ? valueRefOf(binding.expression, binding.aliases, analysis)
        : undefined;
    }
    case 'property': {
      const base = valueRefOf(expression.base, aliases, analysis);
      return base && propertyOf(base, expression.name);
    }
    case 'index': {
      const base = valueRefOf(expression.base, aliases, analysis);
      const index = base && analysis.findConstant(expression.index)?.value;
      if (!base || index === undefined) return undefined;
      if (typeof index === 'string') return propertyOf(base, index);
      return typeof index === 'number' ? elementOf(base, String(index)) : undefined;
    }
    default:
      return undefined;
  }
}

export function propertyOf({ path, identity }: ValueRef, name: string): ValueRef {
  return { path: [...path, name], identity: `${identity}.${JSON.stringify(name)}` };
}

/** An element; `which` distinguishes it from others of the array. */
export function elementOf({ path, identity }: ValueRef, which: string): ValueRef {
  return { path: [...path, ARRAY_ELEMENT], identity: `${identity}[${which}]` };
}

/** Some element, distinct from all others. */
export function someElementOf(valueRef: ValueRef, analysis: Analysis): ValueRef {
  return elementOf(valueRef, `#${analysis.nextNumber()}`);
}

/** `FROM c.a[0]` as an expression. */
export function pathExpression({
  root,
  steps,
  span,
}: Extract<Collection, { kind: 'path' }>): Expression {
  let expression: Expression = { kind: 'identifier', name: root, span };
  for (const step of steps)
    expression =
      step.kind === 'number'
        ? {
            kind: 'index',
            base: expression,
            index: { kind: 'literal', value: step.index, span },
            span,
          }
        : { kind: 'property', base: expression, name: step.name, span };
  return expression;
}
