/** SET: what one assignment changes, by the type of its column. */
import { type Bytes, bytesToLatin1 } from '../../../base/index.ts';
import type { Assignment, Term } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import type { ColumnSchema } from '../schema/table-schema.ts';
import { type CqlType, isCollection, isMultiCell, isNative, native } from '../types/cql-type.ts';
import { int64Bytes, int64Of } from '../types/native-values.ts';
import { elementsOf, entriesOf } from '../types/values.ts';
import { UNSET } from '../wire/body-reader.ts';
import { compileTerm, required } from './expressions/compile.ts';
import type { TermContext, TermValue } from './expressions/context.ts';
import { termText } from './expressions/term-text.ts';
import type { Call } from './plan.ts';
import { type ChangeBuilder, fieldPath, listPaths } from './row-write.ts';

/** Adds what one assignment changes. */
export type Apply = (builder: ChangeBuilder, call: Call) => void;

/** A column is set once, or its elements or fields are, but not both. */
export function checkAssignments(
  assignments: readonly { readonly assignment: Assignment; readonly column: ColumnSchema }[],
): void {
  const seen = new Map<string, Assignment>();
  for (const { assignment, column } of assignments) {
    const before = seen.get(column.name);
    if (before === undefined) seen.set(column.name, assignment);
    else if (!isCompatible(before, assignment))
      throw invalid(`Multiple incompatible setting of column ${column.name}`);
  }
}

function isCompatible(a: Assignment, b: Assignment): boolean {
  if (a.kind === 'element' || b.kind === 'element')
    return a.kind !== 'set' && b.kind !== 'set' && a.kind !== 'field' && b.kind !== 'field';
  if (a.kind === 'field' && b.kind === 'field') return a.field !== b.field;
  return (a.kind === 'add' || a.kind === 'subtract') && (b.kind === 'add' || b.kind === 'subtract');
}

export function compileAssignment(
  assignment: Assignment,
  column: ColumnSchema,
  context: TermContext,
): Apply {
  const { type } = column;
  switch (assignment.kind) {
    case 'set': {
      if (isNative(type, 'counter'))
        throw invalid(
          `Cannot set the value of counter column ${column.name} (counters can only be incremented/decremented, not set)`,
        );
      const term = compileTerm(assignment.term, column, context);
      return (builder, call) => {
        const value = term(call);
        if (value !== UNSET) builder.set(column, value);
      };
    }
    case 'element':
      return elementAssignment(assignment, column, context);
    case 'field':
      return fieldAssignment(assignment, column, context);
    default:
      return addition(assignment, column, context);
  }
}

function fieldAssignment(
  { field, term }: Extract<Assignment, { kind: 'field' }>,
  column: ColumnSchema,
  context: TermContext,
): Apply {
  const { name, type } = column;
  const operation = `${name}.${field} = ${termText(term)}`;
  if (type.kind !== 'user')
    throw invalid(`Invalid operation (${operation}) for non-UDT column ${name}`);
  if (!isMultiCell(type))
    throw invalid(`Invalid operation (${operation}) for frozen UDT column ${name}`);
  const at = fieldAt(column, field);
  const fieldType = (type.fields[at] as (typeof type.fields)[number]).type;
  const value = compileTerm(term, { name: `${name}.${field}`, type: fieldType }, context);
  return (builder, call) => {
    const bytes = value(call);
    if (bytes !== UNSET) builder.setElements(column, [[fieldPath(at), bytes]]);
  };
}

export function fieldAt({ name, type }: ColumnSchema, field: string): number {
  const at = type.kind === 'user' ? type.fields.findIndex((one) => one.name === field) : -1;
  if (at < 0) throw invalid(`UDT column ${name} does not have a field named ${field}`);
  return at;
}

function elementAssignment(
  { element, term }: Extract<Assignment, { kind: 'element' }>,
  column: ColumnSchema,
  context: TermContext,
): Apply {
  const { name, type } = column;
  const operation = `${name}[${termText(element)}] = ${termText(term)}`;
  if (!isCollection(type))
    throw invalid(`Invalid operation (${operation}) for non collection column ${name}`);
  if (!isMultiCell(type))
    throw invalid(`Invalid operation (${operation}) for frozen collection column ${name}`);
  if (type.kind === 'set') throw invalid(`Invalid operation (${operation}) for set column ${name}`);
  if (type.kind === 'list') return listElement(element, term, column, type.element, context);
  const key = compileTerm(element, { name: `key(${name})`, type: type.key }, context);
  const value = compileTerm(term, { name: `value(${name})`, type: type.value }, context);
  return (builder, call) => {
    const path = key(call);
    if (path === null) throw invalid('Invalid null map key');
    if (path === UNSET) throw invalid('Invalid unset map key');
    const bytes = value(call);
    if (bytes !== UNSET) builder.setElements(column, [[bytesToLatin1(path), bytes]]);
  };
}

function listElement(
  element: Term,
  term: Term,
  column: ColumnSchema,
  elementType: CqlType,
  context: TermContext,
): Apply {
  const { name } = column;
  const index = compileTerm(element, { name: `idx(${name})`, type: native('int') }, context);
  const value = compileTerm(term, { name: `value(${name})`, type: elementType }, context);
  return (builder, call) => {
    const at = listIndex(index(call));
    const bytes = value(call);
    if (bytes === UNSET) return;
    builder.changeList(column, { kind: 'setAt', index: at, values: bytes === null ? [] : [bytes] });
  };
}

export function listIndex(value: ReturnType<TermValue>): number {
  if (value === null) throw invalid('Invalid null value for list index');
  if (value === UNSET) throw invalid('Invalid unset value for list index');
  return Buffer.from(value).readInt32BE(0);
}

type Addition = Extract<Assignment, { kind: 'add' | 'subtract' }>;

/** `c = c + x`, `c = c - x` and `c = x + c`. */
function addition(assignment: Addition, column: ColumnSchema, context: TermContext): Apply {
  const { name, type } = column;
  const { kind, isPrepended, term } = assignment;
  const operation = isPrepended
    ? `${name} = ${termText(term)} + ${name}`
    : `${name} = ${name} ${kind === 'add' ? '+' : '-'} ${termText(term)}`;
  if (isPrepended && isNative(type, 'counter')) return counterChange(assignment, column, context);
  if (isPrepended && type.kind !== 'list')
    throw invalid(`Invalid operation (${operation}) for non list column ${name}`);
  if (type.kind === 'tuple')
    throw invalid(`Invalid operation (${operation}) for tuple column ${name}`);
  if (!isCollection(type)) {
    if (!isNative(type, 'counter'))
      throw invalid(`Invalid operation (${operation}) for non counter column ${name}`);
    return counterChange(assignment, column, context);
  }
  if (!isMultiCell(type))
    throw invalid(
      `Invalid operation (${operation}) for frozen ${isPrepended ? 'list' : 'collection'} column ${name}`,
    );
  // Elements are taken out of a map by their keys.
  const operand: CqlType =
    type.kind === 'map' && kind === 'subtract'
      ? { kind: 'set', element: type.key, isFrozen: true }
      : type;
  const value = compileTerm(term, { name, type: operand }, context);
  return kind === 'add' ? addedElements(column, value, isPrepended) : takenElements(column, value);
}

function counterChange(
  { kind, term }: Addition,
  column: ColumnSchema,
  context: TermContext,
): Apply {
  const value = compileTerm(term, { name: column.name, type: native('bigint') }, context);
  const sign = kind === 'add' ? 1n : -1n;
  return (builder, call) => {
    const bytes = value(call);
    if (bytes === UNSET) return;
    const amount = int64Of(
      required(bytes, kind === 'add' ? 'for counter increment' : 'for counter decrement'),
    );
    if (sign < 0n && amount === -(1n << 63n))
      throw invalid('The negation of -9223372036854775808 overflows supported counter precision');
    builder.add(column, int64Bytes(BigInt.asIntN(64, sign * amount)));
  };
}

function takenElements(column: ColumnSchema, term: TermValue): Apply {
  return (builder, call) => {
    const value = term(call);
    if (value === UNSET || value === null) return;
    const elements = elementsOf(value).map((element) => element as Bytes);
    if (column.type.kind === 'list')
      builder.changeList(column, { kind: 'discard', index: 0, values: elements });
    else
      builder.setElements(
        column,
        elements.map((element) => [bytesToLatin1(element), null] as const),
      );
  };
}

function addedElements(column: ColumnSchema, term: TermValue, isPrepended: boolean): Apply {
  const { type } = column;
  return (builder, call) => {
    const value = term(call);
    if (value === UNSET || value === null) return;
    if (type.kind === 'map') {
      const entries = entriesOf(value).map(
        ([key, element]) => [bytesToLatin1(key as Bytes), element as Bytes] as const,
      );
      builder.setElements(column, entries);
      return;
    }
    const elements = elementsOf(value).map((element) => element as Bytes);
    if (type.kind === 'set') {
      builder.setElements(
        column,
        elements.map((element) => [bytesToLatin1(element), new Uint8Array(0)] as const),
      );
      return;
    }
    const paths = listPaths(elements.length, isPrepended, call);
    builder.setElements(
      column,
      elements.map((element, at) => [paths[at] as string, element] as const),
    );
  };
}
