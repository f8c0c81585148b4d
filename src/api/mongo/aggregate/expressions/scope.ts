/**
 * What an expression is compiled against: the document in slot 0 of a frame, variables in the slots behind it, and the
 * surroundings of the command. Slots are given out while compiling, so that a variable costs one array access.
 */
import type { Bson, BsonDocument } from '../../../../value/index.ts';
import { compareBson } from '../../../../value/index.ts';
import type { MetadataScope } from '../../metadata/metadata-scope.ts';
import type { ScriptCalls } from '../../scripts/script-calls.ts';

/** Values of one evaluation: the document, then the variables. Evaluation is synchronous, so one frame serves all. */
export type Frame = (Bson | undefined)[];

/** Undefined is a missing value. */
export type Evaluate = (frame: Frame) => Bson | undefined;

/** A variable that has its value from outside: `let` of a command, or of a stage that runs a pipeline per document. */
export interface Variable {
  value: Bson | undefined;
}

type Compare = (a: Bson | undefined, b: Bson | undefined) => number;

/** What all expressions of one command share. */
export interface ExpressionContext {
  /** `$$NOW`; undefined in commands that show no time. */
  readonly nowMs: number | undefined;
  /** `$$CLUSTER_TIME`; undefined where the server has none to show. */
  readonly clusterTime?: Bson | undefined;
  /** `$$USER_ROLES`. */
  readonly userRoles?: Bson | undefined;
  readonly variables: ReadonlyMap<string, Variable>;
  /** True in groups, where MongoDB's other engine has other codes for a division by zero. */
  readonly isCompiledGroup?: boolean;
  /** Functions of clients; undefined where they are refused. */
  readonly scripts?: ScriptCalls | undefined;
  /** What `$meta` may ask for; undefined where documents have no metadata. */
  readonly metadata?: MetadataScope | undefined;
  /** The order of values: that of the collation, or the simple one. */
  readonly compare: Compare;
  /** The collation with all its options; undefined for the simple one. */
  readonly collation?: BsonDocument | undefined;
}

/** A context with the variables that a command gave values to. */
export function expressionContext(
  nowMs: number,
  variables: BsonDocument = new Map(),
  compare: Compare = compareBson,
): ExpressionContext {
  const cells = new Map<string, Variable>();
  for (const [name, value] of variables) cells.set(name, { value });
  return { nowMs, variables: cells, compare };
}

/** Slots that all expressions of one frame share. */
interface Slots {
  count: number;
}

type CompileOperand = (sent: Bson, scope: Scope) => Evaluate;

export class Scope {
  readonly context: ExpressionContext;
  /** The slot that `$field` starts at: 0, or a variable that is named CURRENT. */
  readonly currentSlot: number;
  readonly #slots: Slots;
  readonly #names: ReadonlyMap<string, number>;
  readonly #compile: CompileOperand;

  private constructor(
    context: ExpressionContext,
    slots: Slots,
    names: ReadonlyMap<string, number>,
    compile: CompileOperand,
  ) {
    this.context = context;
    this.#slots = slots;
    this.#names = names;
    this.#compile = compile;
    this.currentSlot = names.get('CURRENT') ?? 0;
  }

  static root(context: ExpressionContext, compile: CompileOperand): Scope {
    return new Scope(context, { count: 1 }, new Map(), compile);
  }

  compile(sent: Bson): Evaluate {
    return this.#compile(sent, this);
  }

  slotOf(name: string): number | undefined {
    return this.#names.get(name);
  }

  /** A scope with further variables, and the slots they have. */
  with(names: readonly string[]): { readonly scope: Scope; readonly slots: readonly number[] } {
    const all = new Map(this.#names);
    const slots = names.map(() => this.#slots.count++);
    for (const [at, name] of names.entries()) all.set(name, slots[at] as number);
    return { scope: new Scope(this.context, this.#slots, all, this.#compile), slots };
  }
}

/** Constants by the functions that return them, so that operators on constants are evaluated once. */
const CONSTANTS = new WeakMap<Evaluate, { readonly value: Bson | undefined }>();

export function constant(value: Bson | undefined): Evaluate {
  const evaluate: Evaluate = () => value;
  CONSTANTS.set(evaluate, { value });
  return evaluate;
}

/** Errors of operators on constants, by the functions that throw them for each document. */
const FAILURES = new WeakMap<Evaluate, Error>();

export function failing(evaluate: Evaluate, error: Error): Evaluate {
  FAILURES.set(evaluate, error);
  return evaluate;
}

/** A function that stands for another has its failure too. */
export function failingAs(evaluate: Evaluate, other: Evaluate): Evaluate {
  const error = FAILURES.get(other);
  return error === undefined ? evaluate : failing(evaluate, error);
}

/** Throws where an operand is an operator on constants that fails: some operators do not wait for a document. */
export function refuseFailing(evaluate: Evaluate): void {
  const error = FAILURES.get(evaluate);
  if (error !== undefined) throw error;
}

/** The value of a constant expression; undefined for any other. */
export function constantOf(evaluate: Evaluate): { readonly value: Bson | undefined } | undefined {
  return CONSTANTS.get(evaluate);
}
