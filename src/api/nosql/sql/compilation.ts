/** What the parts of the compiler share: the compilation at large, the names in sight, and closures that may be constant. */
import type { Value } from '../../../value/index.ts';
import type { Expression, Query } from './ast.ts';
import type { Block, Compiled, Slots } from './block.ts';
import type { Problem } from './errors.ts';
import type { FunctionEnvironment } from './functions/index.ts';

export type UserFunction = (...args: readonly Value[]) => Value;

/** What a whole compilation shares. */
export interface Compilation {
  readonly environment: FunctionEnvironment;
  readonly findUdf: (name: string) => UserFunction | undefined;
  /** All problems are collected, since the service reports several at once. */
  readonly problems: Problem[];
  allocateSlot(): number;
  parameterSlot(name: string): number;
  /** Where parameters are known before the rows: the value of one. */
  parameterValue?(name: string): { readonly value: Value } | undefined;
  /** Where the start of the query is known before the rows. */
  readonly startMs?: number | undefined;
  compileSubquery(query: Query, scope: Scope): Block;
}

/** The aliases in sight, innermost first. */
export interface Scope {
  find(name: string): number | undefined;
  /** In a grouped SELECT: the slot that holds this very expression, if it is a key or an aggregate. */
  findFolded(expression: Expression): number | undefined;
}

/** A closure, and its value where it does not depend on the row. */
export interface Compilable {
  readonly run: Compiled;
  readonly constant: { readonly value: Value } | undefined;
}

export const NO_SCOPE: Scope = { find: () => undefined, findFolded: () => undefined };

export function constantOf(value: Value): Compilable {
  return { run: () => value, constant: { value } };
}

export function varying(run: Compiled): Compilable {
  return { run, constant: undefined };
}

const NO_ROW: Slots = [];

/** The closure, or its result if all it depends on is constant. */
export function folded(run: Compiled, ...parts: readonly Compilable[]): Compilable {
  return parts.every((part) => part.constant) ? constantOf(run(NO_ROW)) : varying(run);
}
