/** Terms to functions: of an execution, and in a selection of a row. */
import type { Bytes } from '../../../../base/index.ts';
import type { CallTerm, Term } from '../../cql/ast.ts';
import { invalid } from '../../errors.ts';
import { type CqlType, native, typeText } from '../../types/cql-type.ts';
import { NATIVE_VALUES } from '../../types/native-values.ts';
import { elementsOf } from '../../types/values.ts';
import { type BoundValue, UNSET } from '../../wire/body-reader.ts';
import type { Call } from '../plan.ts';
import type { FunctionCandidate } from './candidate.ts';
import { castFunction } from './casts.ts';
import { compileCellFunction, isCellFunction } from './cell-functions.ts';
import { compileLiteral } from './compile-literal.ts';
import { compileElement, compileField, compileSlice } from './compile-selected.ts';
import { compileBound, compileConstant } from './compile-value.ts';
import type { Target, TermContext, TermValue } from './context.ts';
import { NEGATIONS, operatorCandidates } from './operators.ts';
import { resolveCall, resolveOperation } from './resolve.ts';
import { termText } from './term-text.ts';
import {
  columnType,
  fitOf,
  fitOfType,
  hintedType,
  preferredType,
  typeOfTerm,
} from './term-types.ts';

export function compileTerm(term: Term, target: Target, context: TermContext): TermValue {
  switch (term.kind) {
    case 'null':
      return () => null;
    case 'bind':
      return compileBound(term, target, context);
    case 'constant':
      return compileConstant(term, target, context);
    case 'call':
      return compileCall(term, target, context);
    case 'countAll':
      return slotValue(countAll(), context);
    case 'hint':
      return compileHint(term, target, context);
    case 'operation': {
      const { left, right } = term;
      const found = resolveOperation(term, operatorCandidates(term.operator), target.type, context);
      return compileArguments(found, [left, right], 'operation', context);
    }
    case 'negation':
      return compileNegation(term.term, target, context);
    case 'castAs':
      return compileCast(term, context);
    case 'column': {
      const { name } = term;
      columnType(name, context);
      return (_, row) => row?.value(name) ?? null;
    }
    case 'field':
      return compileField(term, context);
    case 'element':
      return compileElement(term, context);
    case 'slice':
      return compileSlice(term, context);
    default:
      return compileLiteral(term, target, context);
  }
}

/** A term of a selection, whose type is its own. */
export function compileSelected(
  term: Term,
  context: TermContext,
): { readonly type: CqlType; readonly value: TermValue } {
  const type = typeOfTerm(term, context);
  if (type === undefined)
    throw invalid(
      `Cannot infer type for term ${termText(term)} in selection clause (try using a cast to force a type)`,
    );
  return { type, value: compileTerm(term, { name: '[selection]', type }, context) };
}

function countAll(): FunctionCandidate {
  return resolvedCount;
}

const resolvedCount: FunctionCandidate = {
  keyspace: 'system',
  name: 'count',
  arguments: [],
  result: native('bigint'),
  aggregate() {
    let rows = 0n;
    return {
      add() {
        rows++;
      },
      result: () => NATIVE_VALUES.bigint.parse(rows.toString()),
    };
  },
};

function compileHint(
  { type: text, term }: Extract<Term, { kind: 'hint' }>,
  target: Target,
  context: TermContext,
): TermValue {
  const type = hintedType(text, context);
  if (fitOf(term, type, context) === 'none')
    throw invalid(`Cannot cast value ${termText(term)} to type ${typeText(type)}`);
  if (fitOfType(type, target.type) === 'none')
    throw invalid(
      `Cannot assign value ${termText({ kind: 'hint', type: text, term })} to ${target.name} of type ${typeText(target.type)}`,
    );
  return compileTerm(term, { name: target.name, type }, context);
}

function compileCast(
  { term, type: text }: Extract<Term, { kind: 'castAs' }>,
  context: TermContext,
): TermValue {
  const to = hintedType(text, context);
  const { type, value } = compileCastSource(term, to, context);
  const cast = castFunction(type, to);
  if (cast === undefined) throw invalid(`${termText(term)} cannot be cast to ${typeText(to)}`);
  return (call, row) => {
    const bytes = value(call, row);
    return bytes === null || bytes === UNSET || bytes.length === 0 ? null : cast(bytes);
  };
}

/** A constant in a cast has the smallest type that holds it. */
function compileCastSource(term: Term, to: CqlType, context: TermContext) {
  const known = typeOfTerm(term, context);
  if (known === undefined && term.kind === 'constant') {
    const name = preferredType(term.constant, term.text);
    const type = name === undefined ? to : native(name);
    return { type, value: compileTerm(term, { name: '[cast]', type }, context) };
  }
  if (known === undefined && context.slots === undefined) {
    const name = typeText(to);
    throw invalid(
      `Ambiguous call to function system.castAs${name.charAt(0).toUpperCase()}${name.slice(1)}: use type casts to disambiguate`,
    );
  }
  return compileSelected(term, context);
}

function compileNegation(term: Term, target: Target, context: TermContext): TermValue {
  const type = typeOfTerm(term, context) ?? target.type;
  const found = NEGATIONS.find((one) => typeText(one.result) === typeText(type));
  if (found === undefined) throw invalid(`the '-' operation is not supported on ${termText(term)}`);
  return compileArguments(found, [term], 'operation', context);
}

function compileCall(call: CallTerm, target: Target, context: TermContext): TermValue {
  if (isCellFunction(call)) return compileCellFunction(call, context);
  const isSelection = context.slots !== undefined;
  const found = resolveCall(call, isSelection ? undefined : target.type, context);
  found.onUse?.();
  if (found.aggregate !== undefined) {
    if (!isSelection) throw invalid('Aggregation function are not supported in the where clause');
    return aggregateCall(found, call, context);
  }
  if (fitOfType(found.result, target.type) === 'none')
    throw invalid(
      `Type error: cannot assign result of function ${found.keyspace}.${found.name} (type ${typeText(found.result)}) to ${target.name} (type ${typeText(target.type)})`,
    );
  return compileArguments(found, call.arguments, 'function', context);
}

function compileArguments(
  found: FunctionCandidate,
  given: readonly Term[],
  kind: 'function' | 'operation',
  context: TermContext,
): TermValue {
  const name = `${found.keyspace}.${found.name}`;
  const inner = found.arguments.map((type, at) =>
    compileTerm(given[at] as Term, { name: `arg${at}(${name})`, type }, context),
  );
  const { run } = found;
  const argumentOf = (value: BoundValue): Bytes | null => {
    if (value === UNSET)
      throw invalid(
        kind === 'function'
          ? `Invalid unset value for argument in call to function ${found.name}`
          : 'Invalid unset value for an operand',
      );
    return value;
  };
  return (call, row) =>
    run?.(
      inner.map((value) => argumentOf(value(call, row))),
      call,
      row,
    ) ?? null;
}

function aggregateCall(found: FunctionCandidate, call: CallTerm, context: TermContext): TermValue {
  const before = context.slots?.length ?? 0;
  const inner = found.arguments.map((type, at) =>
    compileTerm(
      call.arguments[at] as Term,
      { name: `arg${at}(${found.keyspace}.${found.name})`, type },
      context,
    ),
  );
  if ((context.slots?.length ?? 0) > before)
    throw invalid('aggregate functions cannot be used as arguments of aggregate functions');
  return slotValue(found, context, inner);
}

function slotValue(
  found: FunctionCandidate,
  { slots }: TermContext,
  inner: readonly TermValue[] = [],
): TermValue {
  if (slots === undefined || found.aggregate === undefined)
    throw invalid('Aggregation function are not supported in the where clause');
  const slot = slots.length;
  const { aggregate } = found;
  slots.push({
    values: (call, row) =>
      inner.map((value) => {
        const bytes = value(call, row);
        return bytes === UNSET ? null : bytes;
      }),
    create: (call) => aggregate(call),
  });
  return (_, row) => row?.aggregate?.(slot) ?? null;
}

/** A value that must be there. */
export function required(value: BoundValue, message: string): Bytes {
  if (value === UNSET) throw invalid(`Invalid unset value ${message}`);
  if (value === null) throw invalid(`Invalid null value ${message}`);
  return value;
}

/** A value that a column is compared with. */
export function comparedValue(value: BoundValue, column: string): Bytes {
  if (value === UNSET) throw invalid(`Invalid unset value for column ${column}`);
  if (value === null) throw invalid(`Invalid null value in condition for column ${column}`);
  return value;
}

/** The values of IN: a list of terms, or one marker with all of them. */
export type InValues = (call: Call) => readonly (Bytes | null)[];

export function compileIn(
  terms: Term | readonly Term[],
  target: Target,
  context: TermContext,
): InValues {
  const { name, type } = target;
  const checked = (value: BoundValue): Bytes | null => {
    if (value === UNSET) throw invalid(`Invalid unset value for column ${name}`);
    return value;
  };
  if (Array.isArray(terms)) {
    const compiled = (terms as readonly Term[]).map((term) => compileTerm(term, target, context));
    return (call) => compiled.map((value) => checked(value(call)));
  }
  const list: CqlType = { kind: 'list', element: type, isFrozen: true };
  const all = compileTerm(terms as Term, { name: `in(${name})`, type: list }, context);
  return (call) => {
    const bytes = all(call);
    if (bytes === UNSET) throw invalid(`Invalid unset value for column ${name}`);
    if (bytes === null) throw invalid(`Invalid null value for column ${name}`);
    return elementsOf(bytes).map((element) => element ?? null);
  };
}

/** An integer that is not part of a row: LIMIT, TTL, TIMESTAMP. Null where it is null. */
export function compileInteger(
  term: Term | undefined,
  name: string,
  type: 'int' | 'bigint',
  context: TermContext,
): (call: Call) => bigint | undefined | null {
  if (term === undefined) return () => undefined;
  const value = compileTerm(term, { name, type: native(type) }, context);
  return (call) => {
    const bytes = value(call);
    if (bytes === UNSET) return undefined;
    if (bytes === null || bytes.length === 0) return null;
    return BigInt(NATIVE_VALUES[type].text(bytes));
  };
}
