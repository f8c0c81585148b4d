/** IF: the conditions of lightweight transactions, compiled. */
import type { Bytes } from '../../../base/index.ts';
import type { RowCondition, RowConditions } from '../cells/mutation.ts';
import type { Condition, Conditions, Term } from '../cql/ast.ts';
import { invalid } from '../errors.ts';
import type { ColumnSchema, TableSchema } from '../schema/table-schema.ts';
import {
  type CqlType,
  hasDuration,
  isCollection,
  isMultiCell,
  isNative,
  native,
} from '../types/cql-type.ts';
import { elementsOf } from '../types/values.ts';
import { type BoundValue, UNSET } from '../wire/body-reader.ts';
import { compileTerm } from './expressions/compile.ts';
import type { TermContext } from './expressions/context.ts';
import type { Call } from './plan.ts';
import { columnNamed } from './scope.ts';

export interface CompiledConditions {
  /** The columns that a failed condition returns. */
  readonly columns: 'all' | readonly ColumnSchema[];
  /** Whether a row is meant, or the static columns of the partition alone. */
  readonly isOfRow: boolean;
  values(call: Call): RowConditions;
}

export function compileConditions(
  conditions: Conditions,
  schema: TableSchema,
  context: TermContext,
): CompiledConditions {
  if (conditions === undefined) return { columns: [], isOfRow: false, values: () => 'none' };
  if (conditions === 'exists') return { columns: 'all', isOfRow: false, values: () => 'exists' };
  if (conditions === 'notExists')
    return { columns: 'all', isOfRow: false, values: () => 'notExists' };
  const compiled = conditions.map((condition) => compileCondition(condition, schema, context));
  const names = new Set(conditions.map(({ column }) => column));
  const named = [...names].map((name) => columnNamed(schema, name));
  const columns = [
    ...named.filter(({ kind }) => kind !== 'static'),
    ...named.filter(({ kind }) => kind === 'static'),
  ];
  return {
    columns,
    isOfRow: columns.some(({ kind }) => kind === 'regular'),
    values: (call) => compiled.map((condition) => condition(call)),
  };
}

function compileCondition(
  condition: Condition,
  schema: TableSchema,
  context: TermContext,
): (call: Call) => RowCondition {
  const column = columnNamed(schema, condition.column);
  const { name, type, kind } = column;
  if (kind === 'partition_key' || kind === 'clustering')
    throw invalid(`PRIMARY KEY column '${name}' cannot have IF conditions`);
  if (isNative(type, 'counter')) throw invalid('Conditions on counters are not supported');
  const part = partOf(condition, column);
  const element =
    condition.element === undefined
      ? () => undefined
      : compileElement(condition.element, part.keyType, column, context);
  const common = (call: Call) => ({
    column: name,
    type,
    isStatic: kind === 'static',
    isMultiCell: isMultiCell(type),
    element: element(call),
    field: part.field,
  });
  const target = { name: part.name, type: part.valueType };
  if (condition.kind === 'in') {
    const operands = compileOperands(condition.terms, target, context);
    return (call) => ({ ...common(call), operator: 'IN', operands: operands(call) });
  }
  const { operator } = condition;
  if (operator === 'CONTAINS' || operator === 'CONTAINS KEY') {
    const operand = compileTerm(condition.term, containedTarget(column, operator), context);
    return (call) => {
      const value = operand(call);
      if (value === null) throw invalid(`Invalid comparison with null for operator "${operator}"`);
      // No collection contains a value that is not there.
      return { ...common(call), operator, operands: [value === UNSET ? null : value] };
    };
  }
  checkDurations(operator, part.valueType);
  const operand = compileTerm(condition.term, target, context);
  return (call) => {
    const value = operandOf(operand(call), name);
    if (value === null && operator !== '=' && operator !== '!=')
      throw invalid(`Invalid comparison with null for operator "${operator}"`);
    return { ...common(call), operator, operands: [value] };
  };
}

function compileElement(
  term: Term,
  type: CqlType,
  column: ColumnSchema,
  context: TermContext,
): (call: Call) => Bytes {
  const isMap = column.type.kind === 'map';
  const value = compileTerm(
    term,
    { name: isMap ? `key(${column.name})` : `idx(${column.name})`, type },
    context,
  );
  return (call) => {
    const bytes = value(call);
    if (bytes === UNSET)
      throw invalid(`Invalid 'unset' value in ${isMap ? 'map' : 'list'} element access`);
    if (bytes === null)
      throw invalid(`Invalid null value for ${isMap ? 'map' : 'list'} element access`);
    const index = isMap ? 0 : Buffer.from(bytes).readInt32BE(0);
    if (index < 0) throw invalid(`Invalid negative list index ${index}`);
    return bytes;
  };
}

function containedTarget(
  { name, type }: ColumnSchema,
  operator: 'CONTAINS' | 'CONTAINS KEY',
): { name: string; type: CqlType } {
  if (operator === 'CONTAINS KEY') {
    if (type.kind !== 'map') throw invalid(`Cannot use CONTAINS KEY on non-map column ${name}`);
    return { name: `key(${name})`, type: type.key };
  }
  if (!isCollection(type)) throw invalid(`Cannot use CONTAINS on non-collection column ${name}`);
  return { name: `value(${name})`, type: type.kind === 'map' ? type.value : type.element };
}

/** The values of IN, which may be null. */
function compileOperands(
  terms: Term | readonly Term[],
  target: { readonly name: string; readonly type: CqlType },
  context: TermContext,
): (call: Call) => readonly (Bytes | null)[] {
  if (Array.isArray(terms)) {
    const compiled = (terms as readonly Term[]).map((term) => compileTerm(term, target, context));
    return (call) =>
      compiled.flatMap((value) => {
        const bytes = value(call);
        return bytes === UNSET ? [] : [bytes];
      });
  }
  const list: CqlType = { kind: 'list', element: target.type, isFrozen: true };
  const all = compileTerm(terms as Term, { name: `in(${target.name})`, type: list }, context);
  return (call) => {
    const bytes = all(call);
    if (bytes === UNSET) throw invalid(`Invalid 'unset' value for column ${target.name}`);
    if (bytes === null) throw invalid('Invalid null list in IN condition');
    return elementsOf(bytes).map((element) => element ?? null);
  };
}

function checkDurations(operator: string, type: CqlType): void {
  if (operator === '=' || operator === '!=' || !hasDuration(type)) return;
  if (type.kind === 'native')
    throw invalid(`Slice conditions ( ${operator} ) are not supported on durations`);
  const what = isCollection(type) ? 'collections' : type.kind === 'tuple' ? 'tuples' : 'UDTs';
  throw invalid(`Slice conditions are not supported on ${what} containing durations`);
}

function operandOf(value: BoundValue, name: string): Bytes | null {
  if (value === UNSET) throw invalid(`Invalid 'unset' value in condition of ${name}`);
  return value;
}

interface ConditionPart {
  readonly name: string;
  readonly keyType: CqlType;
  readonly valueType: CqlType;
  readonly field: number | undefined;
}

function partOf({ element, field }: Condition, { name, type }: ColumnSchema): ConditionPart {
  const whole = { name, keyType: native('int'), valueType: type, field: undefined };
  if (field !== undefined) {
    const at = type.kind === 'user' ? type.fields.findIndex((one) => one.name === field) : -1;
    const found = type.kind === 'user' ? type.fields[at] : undefined;
    if (found === undefined) throw invalid(`Unknown field ${field} for column ${name}`);
    return { ...whole, name: `${name}.${field}`, valueType: found.type, field: at };
  }
  if (element === undefined) return whole;
  if (type.kind === 'map')
    return { ...whole, name: `value(${name})`, keyType: type.key, valueType: type.value };
  if (type.kind === 'list') return { ...whole, name: `value(${name})`, valueType: type.element };
  throw invalid(
    type.kind === 'set'
      ? `Invalid element access syntax for set column ${name}`
      : `Invalid element access syntax for non-collection column ${name}`,
  );
}
