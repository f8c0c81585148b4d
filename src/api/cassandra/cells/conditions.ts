/** The conditions of lightweight transactions, decided on the rows as they are. */
import { type Bytes, bufferOf, equalBytes } from '../../../base/index.ts';
import type { Comparison } from '../cql/ast.ts';
import { compares } from '../types/comparison.ts';
import { type CqlType, isCollection } from '../types/cql-type.ts';
import { componentsOf, elementsOf, entriesOf } from '../types/values.ts';
import type { LiveRow } from './live-row.ts';
import type { RowCondition, RowConditions } from './mutation.ts';

/** The row and the static columns of its partition, as readers see them. */
export interface ConditionScope {
  readonly row: LiveRow | undefined;
  readonly header: LiveRow | undefined;
}

export function holds(conditions: RowConditions, { row, header }: ConditionScope): boolean {
  if (conditions === 'none') return true;
  if (conditions === 'exists') return row !== undefined;
  if (conditions === 'notExists') return row === undefined;
  return conditions.every((condition) => {
    const owner = condition.isStatic ? header : row;
    return isMet(condition, owner?.values.get(condition.column)?.value);
  });
}

function isMet(condition: RowCondition, stored: Bytes | undefined): boolean {
  const { type, operator, operands } = condition;
  const [first = null] = operands;
  if (operator === 'CONTAINS' || operator === 'CONTAINS KEY')
    return first !== null && isContained(type, stored, operator === 'CONTAINS KEY', first);
  const compared = comparedPart(condition, stored);
  if (operator === 'IN') return operands.some((operand) => isMetBy(compared, '=', operand));
  return isMetBy(compared, operator, first);
}

function isContained(
  type: CqlType,
  stored: Bytes | undefined,
  isKey: boolean,
  wanted: Bytes,
): boolean {
  if (stored === undefined) return false;
  const parts =
    type.kind === 'map'
      ? entriesOf(stored).map(([key, value]) => (isKey ? key : value))
      : elementsOf(stored);
  return parts.some((part) => part !== undefined && equalBytes(part, wanted));
}

interface Compared {
  readonly type: CqlType;
  readonly value: Bytes | undefined;
}

/** The column, or the element or field of it that a condition names. */
function comparedPart(condition: RowCondition, stored: Bytes | undefined): Compared {
  const { type, element, field, isMultiCell } = condition;
  if (element !== undefined) return elementOf(type, element, stored);
  const isEmpty = stored === undefined && isMultiCell && isCollection(type);
  if (isEmpty) return { type, value: EMPTY_COLLECTION };
  if (field === undefined || type.kind !== 'user') return { type, value: stored };
  return {
    type: (type.fields[field] as (typeof type.fields)[number]).type,
    value: stored === undefined ? undefined : componentsOf(type, stored)[field],
  };
}

const EMPTY_COLLECTION = new Uint8Array(4);

/** An empty collection is null. */
function isNull(type: CqlType, value: Bytes | null | undefined): boolean {
  if (value === null || value === undefined) return true;
  return (
    isCollection(type) && value.length >= 4 && value.subarray(0, 4).every((byte) => byte === 0)
  );
}

/** A comparison with null is true for = and != alone. */
function isMetBy({ type, value }: Compared, operator: Comparison, operand: Bytes | null): boolean {
  const [isAbsent, isNullWanted] = [value === undefined, operand === null];
  if (value === undefined || operand === null || isNull(type, value) || isNull(type, operand)) {
    const isSame = (isAbsent || isNull(type, value)) === (isNullWanted || isNull(type, operand));
    if (operator === '=') return isSame;
    if (operator === '!=') return !isSame;
    if (value === undefined || operand === null) return false;
  }
  return compares(operator, type, value, operand);
}

/** The element of a map by its key, of a list by its index. */
function elementOf(type: CqlType, element: Bytes, stored: Bytes | undefined): Compared {
  if (type.kind === 'map') {
    const entries = stored === undefined ? [] : entriesOf(stored);
    const found = entries.find(([key]) => key !== undefined && equalBytes(key, element));
    return { type: type.value, value: found?.[1] };
  }
  if (type.kind !== 'list') return { type, value: undefined };
  const index = bufferOf(element).readInt32BE(0);
  return {
    type: type.element,
    value: stored === undefined ? undefined : elementsOf(stored)[index],
  };
}
