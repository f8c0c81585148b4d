/** Restrictions that are checked row by row. */
import { type Bytes, equalBytes } from '../../../../base/index.ts';
import { invalid } from '../../errors.ts';
import type { ColumnSchema } from '../../schema/table-schema.ts';
import { type CqlType, isNative } from '../../types/cql-type.ts';
import { compareTyped } from '../../types/ordered.ts';
import { elementsOf, entriesOf } from '../../types/values.ts';
import { type BoundValue, UNSET } from '../../wire/body-reader.ts';
import type { Call } from '../plan.ts';
import { likePredicate } from './like.ts';
import type { Bound, Contained, Restriction } from './restriction.ts';

/** A row by the names of its columns; undefined where a column is null. */
export type RowValues = (name: string) => Bytes | undefined;

export type Predicate = (values: RowValues) => boolean;

/** Made once for each execution, when the values are known. */
export type Filter = (call: Call) => Predicate;

/** @param isKey - the keys could answer it: then IN and slices of several columns are checked too. */
export function filterOf(restriction: Restriction, isKey = false): Filter {
  switch (restriction.kind) {
    case 'eq':
      return equalFilter(restriction, isKey);
    case 'in':
      if (isKey) return inFilter(restriction);
      return () => {
        throw invalid('IN restrictions are not supported on indexed columns');
      };
    case 'slice':
      if (restriction.isMulti && !isKey)
        throw invalid('Multi-column slice restrictions cannot be used for filtering.');
      return sliceFilter(restriction, isKey);
    case 'contains':
      return containsFilter(restriction);
  }
}

function equalFilter(
  { columns, values, term }: Extract<Restriction, { kind: 'eq' | 'in' }>,
  isKey: boolean,
): Filter {
  return (call) => {
    const [only] = columns as readonly [ColumnSchema];
    const wanted =
      term === undefined || isKey
        ? (values(call)[0] as readonly Bytes[])
        : [filterValue(term(call), only)];
    return (row) =>
      columns.every(({ name, type }, at) => {
        const found = row(name);
        return found !== undefined && compareTyped(type, found, wanted[at] as Bytes) === 0;
      });
  };
}

function inFilter({ columns, values }: Extract<Restriction, { kind: 'eq' | 'in' }>): Filter {
  return (call) => {
    const wanted = values(call);
    return (row) =>
      wanted.some((tuple) =>
        tuple.every((value, at) => {
          const { name, type } = columns[at] as ColumnSchema;
          const found = row(name);
          return found !== undefined && compareTyped(type, found, value) === 0;
        }),
      );
  };
}

function filterValue(value: BoundValue, { name, type }: ColumnSchema): Bytes {
  if (value === null)
    throw invalid(
      isNative(type, 'counter')
        ? 'Invalid null value for counter increment/decrement'
        : `Unsupported null value for column ${name}`,
    );
  if (value === UNSET) throw invalid(`Unsupported unset value for column ${name}`);
  return value;
}

/** Cassandra's own. */
const INDEXED_VALUE_BYTES_MAX = 0xffff;

/** The filter of a condition that an index answers, whose values must be short enough to be in it. */
export function indexedFilter(restriction: Restriction, isKey: boolean): Filter {
  const filter = filterOf(restriction, isKey);
  return (call) => {
    const predicate = filter(call);
    const values =
      restriction.kind === 'eq'
        ? restriction.values(call).flat()
        : restriction.kind === 'contains'
          ? restriction.contained.flatMap(({ key, value }) => [key?.(call), value?.(call)])
          : [];
    for (const value of values)
      if (value instanceof Uint8Array && value.length > INDEXED_VALUE_BYTES_MAX)
        throw invalid('Index expression values may not be larger than 64K');
    return predicate;
  };
}

function sliceFilter(
  { columns, lower, upper }: Extract<Restriction, { kind: 'slice' }>,
  isKey: boolean,
): Filter {
  return (call) => {
    const [first] = columns as readonly [ColumnSchema];
    for (const bound of isKey ? [] : [lower, upper])
      if (bound?.term !== undefined) filterValue(bound.term(call), first);
    const isAbove = boundPredicate(columns, lower, 1, call);
    const isBelow = boundPredicate(columns, upper, -1, call);
    return (row) => isAbove(row) && isBelow(row);
  };
}

/** Compares column by column; empty values are less than all others and match no slice but of their own. */
function boundPredicate(
  columns: readonly ColumnSchema[],
  bound: Bound | undefined,
  sign: 1 | -1,
  call: Call,
): Predicate {
  if (bound === undefined) return () => true;
  const wanted = bound.values(call);
  return (row) => {
    for (const [at, value] of wanted.entries()) {
      const { name, type } = columns[at] as ColumnSchema;
      const found = row(name);
      if (found === undefined) return false;
      const order = compareTyped(type, found, value) * sign;
      if (order !== 0) return order > 0;
    }
    return bound.isInclusive;
  };
}

function containsFilter({
  columns,
  contained,
}: Extract<Restriction, { kind: 'contains' }>): Filter {
  const [{ name, type }] = columns as readonly [ColumnSchema];
  return (call) => {
    const predicates = contained.map((one) => containedPredicate(name, type, one, call));
    return (row) => predicates.every((matches) => matches(row));
  };
}

function containedPredicate(
  name: string,
  type: CqlType,
  { part, key, value, like }: Contained,
  call: Call,
): Predicate {
  if (like !== undefined && value !== undefined) return likePredicate(name, value(call), like);
  const wantedKey = key && containedValue(key(call), name, part === 'entries' ? ' map key' : '');
  const wanted = value && containedValue(value(call), name, part === 'entries' ? ' map value' : '');
  const isWanted = (found: Bytes | undefined, expected: Bytes | undefined): boolean =>
    expected === undefined || (found !== undefined && equalBytes(found, expected));
  return (row) => {
    const bytes = row(name);
    if (bytes === undefined || bytes.length === 0) return false;
    if (type.kind === 'map')
      return entriesOf(bytes).some(
        ([foundKey, found]) => isWanted(foundKey, wantedKey) && isWanted(found, wanted),
      );
    return elementsOf(bytes).some((found) => isWanted(found, wanted ?? wantedKey));
  };
}

function containedValue(value: BoundValue, name: string, what: string): Bytes {
  if (value === null)
    throw invalid(`Unsupported null${what === '' ? ' value' : what} for column ${name}`);
  if (value === UNSET)
    throw invalid(`Unsupported unset${what === '' ? ' value' : what} for column ${name}`);
  return value;
}
