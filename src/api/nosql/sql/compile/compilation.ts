/** What the parts of the compiler share: the compilation at large, the names in sight, and closures that may be constant. */
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

/** What a whole compilation shares. */
export interface Compilation {
  readonly environment: FunctionEnvironment;
  readonly findUdf: (name: string) => UserFunction | undefined;
  /** All problems are collected, since the service reports several at once. */
  readonly diagnostics: Diagnostic[];
  allocateSlot(): number;
  /** @param span - where the parameter stands. */
  parameterSlot(name: string, span: Span): number;
  /** Where parameters are known before the rows: the value of one. */
  parameterValue?(name: string): { readonly value: Value } | undefined;
  /** Where the start of the query is known before the rows. */
  readonly startMs?: number | undefined;
  compileSubquery(query: Query, scope: Scope): Block;
  /** By name: what is known of an item beside what it holds. */
  readonly computed: ReadonlyMap<string, ComputedDefinition>;
  /** Slots that hold whole items. */
  readonly itemSlots: Set<number>;
}

/** An expression over an item, and the name it knows the item by. */
export interface ComputedDefinition {
  readonly alias: string;
  readonly expression: Expression;
}

export const NO_COMPUTED: ReadonlyMap<string, ComputedDefinition> = new Map();

/** The aliases in sight, innermost first. */
export interface Scope {
  find(name: string): number | undefined;
  /** In a grouped SELECT: the slot that holds this very expression, if it is a key or an aggregate. */
  findGroupSlot(expression: Expression): number | undefined;
}

/** A closure, and its value where it does not depend on the row. */
export interface Compilable {
  readonly run: Compiled;
  readonly constant: { readonly value: Value } | undefined;
}

export const NO_SCOPE: Scope = { find: () => undefined, findGroupSlot: () => undefined };

/** One name and nothing else. */
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

/** To be called where a compilation begins: its constants may take so much in all, whatever others took. */
export function renewConstants(): void {
  constantBudget.renew();
}

/** The closure, or its result if all it depends on is constant and little work. */
export function constantFolded(run: Compiled, ...parts: readonly Compilable[]): Compilable {
  if (!parts.every((part) => part.constant)) return varying(run);
  try {
    return constantOf(constantBudget.run(() => run(NO_ROW)));
  } catch (error) {
    // Said of the first row, if there is any.
    if (error instanceof EvaluationTooLong || error instanceof DomainError) return varying(run);
    throw error;
  }
}
