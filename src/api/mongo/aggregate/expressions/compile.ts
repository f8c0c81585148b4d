/** Compiles expressions to closures: paths, constants, documents, lists and operators. */
import { EvaluationBudget } from '../../../../base/index.ts';
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { MongoError } from '../../errors.ts';
import { EXPRESSION_EVALUATION } from '../../limits.ts';
import { checkFieldName, compilePath } from './field-path.ts';
import { OPERATORS } from './operators.ts';
import {
  constant,
  constantOf,
  type Evaluate,
  type ExpressionContext,
  type Frame,
  failingAs,
  Scope,
} from './scope.ts';
import { checkedText } from './text.ts';

/** An expression of a document. Undefined is a missing value. */
export type Expression = (document: BsonDocument) => Bson | undefined;

/** Nesting of expressions: far below what the stack holds. */
const DEPTH_MAX = 200;

export function compileExpression(sent: Bson, context: ExpressionContext): Expression {
  const evaluate = rootScope(context).compile(sent);
  const known = constantOf(evaluate);
  if (known !== undefined) return () => known.value;
  const frame: Frame = [undefined];
  return (document) => {
    frame[0] = document;
    return evaluate(frame);
  };
}

export function rootScope(context: ExpressionContext): Scope {
  let depth = 0;
  const budget = new EvaluationBudget(EXPRESSION_EVALUATION);
  const { scripts } = context;
  return Scope.root(context, (sent, scope) => {
    const functionsBefore = depth === 0 ? scripts?.count : undefined;
    depth += 1;
    if (depth > DEPTH_MAX) throw new MongoError('Overflow', 'An expression is nested too deeply');
    // Operators on constants are evaluated while compiling.
    const compiled =
      depth === 1 ? budget.run(() => compileOperand(sent, scope)) : compileOperand(sent, scope);
    depth -= 1;
    if (depth > 0 || isCheap(sent, compiled)) return compiled;
    const evaluate = failingAs(limited(compiled, budget), compiled);
    if (scripts?.count !== functionsBefore) scripts?.note((document) => evaluate([document]));
    return evaluate;
  });
}

/** Paths and constants need no limits. */
function isCheap(sent: Bson, compiled: Evaluate): boolean {
  return typeof sent === 'string' || constantOf(compiled) !== undefined;
}

/** One evaluation is that of a whole expression for one document. */
function limited(evaluate: Evaluate, budget: EvaluationBudget): Evaluate {
  return (frame) => {
    const outer = budget.enter();
    try {
      return evaluate(frame);
    } finally {
      budget.leave(outer);
    }
  };
}

function compileOperand(sent: Bson, scope: Scope): Evaluate {
  if (typeof sent === 'string')
    return sent.startsWith('$') ? compilePath(sent, scope) : constant(checkedText(sent));
  if (isDocument(sent)) return compileObject(sent, scope);
  return isArray(sent) ? compileList(sent, scope) : constant(sent);
}

function compileList(sent: readonly Bson[], scope: Scope): Evaluate {
  const parts = sent.map((part) => scope.compile(part));
  if (parts.every((part) => constantOf(part) !== undefined))
    return constant(parts.map((part) => constantOf(part)?.value ?? null));
  return (frame) => parts.map((part) => part(frame) ?? null);
}

function compileObject(sent: BsonDocument, scope: Scope): Evaluate {
  const [first] = sent.keys();
  if (first?.startsWith('$') === true) {
    if (sent.size > 1)
      throw new MongoError(
        'Location15983',
        `an object representing an expression must have exactly one field: ${[...sent.keys()].join(', ')}`,
      );
    return compileOperator(first, sent.get(first) as Bson, scope);
  }
  const parts = [...sent].map(([name, value]) => {
    checkFieldName(name);
    return [name, scope.compile(value)] as const;
  });
  if (parts.every(([, part]) => constantOf(part) !== undefined)) return constant(build(parts, []));
  return (frame) => build(parts, frame);
}

function build(parts: readonly (readonly [string, Evaluate])[], frame: Frame): BsonDocument {
  const made = new Map<string, Bson>();
  for (const [name, part] of parts) {
    const value = part(frame);
    if (value !== undefined) made.set(name, value);
  }
  return made;
}

export function isOperator(name: string): boolean {
  return OPERATORS.has(name);
}

function compileOperator(name: string, argument: Bson, scope: Scope): Evaluate {
  const compile = OPERATORS.get(name);
  if (compile === undefined)
    throw new MongoError('InvalidPipelineOperator', `Unrecognized expression '${name}'`);
  return compile(argument, scope, name);
}
