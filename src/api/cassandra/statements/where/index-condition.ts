/** What the index of a table is asked for: terms that every row has that a restriction allows. */
import type { Bytes } from '../../../../base/index.ts';
import { allOf, type Condition, equalTo, term } from '../../../../query/index.ts';
import { elementTerm, entryTerm, termPath, wholeTerm } from '../../cells/index-terms.ts';
import type { ColumnSchema, TableSchema } from '../../schema/table-schema.ts';
import type { Call } from '../plan.ts';
import type { Contained, Restriction } from './restriction.ts';

/** Made once for each execution, when the values are known. */
export type IndexCondition = (call: Call) => Condition;

/** Undefined where no index that has rows answers the restriction. */
export function indexConditionOf(
  restriction: Restriction,
  { indexes }: TableSchema,
): IndexCondition | undefined {
  const has = ({ name, kind }: ColumnSchema, parts: readonly string[]): boolean =>
    kind !== 'static' &&
    indexes.some(({ column, part }) => column === name && parts.includes(part));
  if (restriction.kind === 'eq') {
    const { columns, values } = restriction;
    if (!columns.some((column) => has(column, ['simple', 'full']))) return undefined;
    return (call) => {
      const [wanted = []] = values(call);
      const conditions = columns.flatMap((column, at) =>
        has(column, ['simple', 'full']) ? [equalCondition(column, wanted[at] as Bytes)] : [],
      );
      return allOf(...conditions);
    };
  }
  if (restriction.kind !== 'contains') return undefined;
  const [column] = restriction.columns as readonly [ColumnSchema];
  const conditions = restriction.contained.flatMap(({ part, key, value }) =>
    part !== 'like' && has(column, [part])
      ? [(call: Call) => containsCondition(column, { part, key, value }, call)]
      : [],
  );
  if (conditions.length === 0) return undefined;
  return (call) => allOf(...conditions.map((condition) => condition(call)));
}

function equalCondition(column: ColumnSchema, value: Bytes): Condition {
  return term(termPath(column, undefined), [equalTo(wholeTerm(column.type, value))]);
}

/** A part of a collection, of which an index has the terms. */
interface ContainedPart extends Pick<Contained, 'key' | 'value'> {
  readonly part: Exclude<Contained['part'], 'like'>;
}

function containsCondition(
  column: ColumnSchema,
  { part, key, value }: ContainedPart,
  call: Call,
): Condition {
  // The filter of the restriction has refused values that are not there.
  const bytesOf = (given: Contained['key']) => given?.(call) as Bytes;
  const text =
    part === 'entries'
      ? entryTerm(bytesOf(key), bytesOf(value))
      : elementTerm(bytesOf(part === 'keys' ? key : value));
  return term(termPath(column, part), [equalTo(text)]);
}
