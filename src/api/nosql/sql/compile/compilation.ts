/** Types shared by the parts of the compiler: the compilation, scopes of names, and closures that may be constant. */
import {
  CONSTANT_EVALUATION,
  DomainError,
  EvaluationBudget,
  EvaluationTooLong,
} from '../../../../base/index.ts';
import type { Value } from '../../../../value/index.ts';
import type { Diagnostic, Span } from '../errors.ts';
import type { FunctionEnvironment } from '../functions/index.ts';
import type { Expression, Query } from '../language/ast.ts';
import type { Block, Compiled, Slots } from './block.ts';

export type UserFunction = (...args: readonly Value[]) => Value;

/** The state of one compilation. */
export interface Compilation {
  readonly environment: FunctionEnvironment;
  readonly findUdf: (name: string) => UserFunction | undefined;
  /** Diagnostics are collected, since the service reports several at once. */
  readonly diagnostics: Diagnostic[];
  allocateSlot(): number;
  /** @param span - the parameter in the text. */
  parameterSlot(name: string, span: Span): number;
  /** The value of a parameter, where it is known before the rows. */
  parameterValue?(name: string): { readonly value: Value } | undefined;
  /** The start time of the query, where it is known before the rows. */
  readonly startMs?: number | undefined;
  compileSubquery(query: Query, scope: Scope): Block;
  /** Computed properties by name. */
  readonly computed: ReadonlyMap<string, ComputedDefinition>;
  /** Slots that hold whole items. */
  readonly itemSlots: Set<number>;
}

/** An expression over an item, and the alias of the item in it. */
export interface ComputedDefinition {
  readonly alias: string;
  readonly expression: Expression;
}

export const NO_COMPUTED: ReadonlyMap<string, ComputedDefinition> = new Map();

/** The visible aliases, innermost first. */
export interface Scope {
  find(name: string): number | undefined;
  /** In a grouped SELECT: the slot of this expression, if it is a group key or an aggregate. */
  findGroupSlot(expression: Expression): number | undefined;
}

/** A closure, and its value where it does not depend on the row. */
export interface Compilable {
  readonly run: Compiled;
  readonly constant: { readonly value: Value } | undefined;
}

export const NO_SCOPE: Scope = { find: () => undefined, findGroupSlot: () => undefined };

/** A scope of one name. */
export function scopeOfOne(name: string, slot: number): Scope {
  return { ...NO_SCOPE, find: (wanted) => (wanted === name ? slot : undefined) };
}

export function constantOf(value: Value): Compilable {
  return { run: () => value, constant: { value } };
}

export function varying(run: Compiled): Compilable {
  return { run, constant: undefined };
}

const NO_ROW: Slots = [];

const constantBudget = new EvaluationBudget(CONSTANT_EVALUATION);

/** To be called when a compilation begins: the constants of each compilation have a budget. */
export function renewConstants(): void {
  constantBudget.renew();
}

/** The closure, or its result if all its parts are constant and it is cheap to compute. */
export function constantFolded(run: Compiled, ...parts: readonly Compilable[]): Compilable {
  if (!parts.every((part) => part.constant)) return varying(run);
  try {
    return constantOf(constantBudget.run(() => run(NO_ROW)));
  } catch (error) {
    // The error is thrown again for the first row, if there is one.
    if (error instanceof EvaluationTooLong || error instanceof DomainError) return varying(run);
    throw error;
  }
}
