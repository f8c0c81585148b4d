/** The keys that a statement names, once its values are known: partitions, and slices of their rows. */
import { type Bytes, bytesToLatin1, compareBytes, prefixEnd } from '../../../../base/index.ts';
import { invalid } from '../../errors.ts';
import { IN_COMBINATIONS_MAX, KEY_VALUE_BYTES_MAX } from '../../limits.ts';
import { encodeClustering } from '../../schema/table-keys.ts';
import type { ColumnSchema, TableSchema } from '../../schema/table-schema.ts';
import { compareTyped } from '../../types/ordered.ts';
import type { Call } from '../plan.ts';
import type { Bound } from './restriction.ts';
import { hasMixedOrder, type KeyStep, type Restrictions } from './restrictions.ts';

/** One end of a slice in the order of the stored rows: values of the first clustering columns. */
export interface RowLimit {
  readonly values: readonly Bytes[];
  readonly isInclusive: boolean;
}

/** Rows in the order in which they are stored; undefined: to the end of the partition. */
export interface Slice {
  readonly from: RowLimit | undefined;
  readonly to: RowLimit | undefined;
}

/** Every combination of the values of the partition key columns, each once, in the order of their values. */
export function partitionsOf(
  { partition }: Restrictions,
  schema: TableSchema,
  call: Call,
): readonly (readonly Bytes[])[] {
  const steps = partition.map((values) => values(call).map((value) => [value]));
  const keys = unique(combinations(steps));
  for (const key of keys) checkPartitionKey(schema, key);
  return keys.length < 2 ? keys : [...keys].sort((a, b) => compareKeys(schema, a, b));
}

function compareKeys(
  { partitionKey }: TableSchema,
  a: readonly Bytes[],
  b: readonly Bytes[],
): number {
  for (const [at, { type }] of partitionKey.entries()) {
    const order = compareTyped(type, a[at] as Bytes, b[at] as Bytes);
    if (order !== 0) return order;
  }
  return 0;
}

export function checkPartitionKey({ partitionKey }: TableSchema, values: readonly Bytes[]): void {
  if (values.length === 1 && values[0]?.length === 0) throw invalid('Key may not be empty');
  values.forEach((value, at) => {
    if (value.length > KEY_VALUE_BYTES_MAX)
      throw invalid(
        `Key length of ${value.length} is longer than maximum of ${KEY_VALUE_BYTES_MAX} (column ${(partitionKey[at] as ColumnSchema).name})`,
      );
  });
}

export function slicesOf(
  { steps, lower, upper }: Restrictions,
  schema: TableSchema,
  call: Call,
): readonly Slice[] {
  const prefixes = combinations(steps.map((step: KeyStep) => step.values(call)));
  const sorted = unique(prefixes)
    .map((prefix) => ({ prefix, key: encodeClustering(schema, prefix) }))
    .sort((a, b) => compareBytes(a.key, b.key));
  return sorted.map(({ prefix }) => sliceOf(prefix, lower, upper, schema, call));
}

/** In a descending column what is greater comes first. */
function sliceOf(
  prefix: readonly Bytes[],
  lower: Bound | undefined,
  upper: Bound | undefined,
  { clustering }: TableSchema,
  call: Call,
): Slice {
  const whole: RowLimit | undefined =
    prefix.length === 0 ? undefined : { values: prefix, isInclusive: true };
  const limitOf = (bound: Bound | undefined): RowLimit | undefined =>
    bound === undefined
      ? whole
      : { values: [...prefix, ...bound.values(call)], isInclusive: bound.isInclusive };
  const columns = clustering.slice(
    prefix.length,
    prefix.length + Math.max(lower?.columns ?? 0, upper?.columns ?? 0),
  );
  const isDescending = columns[0]?.isDescending === true;
  const [from, to] = isDescending ? [upper, lower] : [lower, upper];
  if (!hasMixedOrder({ columns })) return { from: limitOf(from), to: limitOf(to) };
  // Columns in different directions: the first alone makes a slice; a filter checks the others.
  const firstOf = (bound: Bound | undefined): RowLimit | undefined =>
    bound === undefined
      ? whole
      : { values: [...prefix, ...bound.values(call).slice(0, 1)], isInclusive: true };
  return { from: firstOf(from), to: firstOf(to) };
}

/** The encoded keys from which to which a slice goes, the end excluded. */
export function encodedSlice(
  schema: TableSchema,
  { from, to }: Slice,
): { readonly start: Bytes; readonly end: Bytes | undefined } {
  const start =
    from === undefined ? encodeClustering(schema, []) : edge(schema, from, !from.isInclusive);
  const end =
    to === undefined ? prefixEnd(encodeClustering(schema, [])) : edge(schema, to, to.isInclusive);
  return { start: start ?? encodeClustering(schema, []), end };
}

function edge(schema: TableSchema, { values }: RowLimit, isBehind: boolean): Bytes | undefined {
  const key = encodeClustering(schema, values);
  return isBehind ? prefixEnd(key) : key;
}

function combinations(
  steps: readonly (readonly (readonly Bytes[])[])[],
): readonly (readonly Bytes[])[] {
  let result: readonly (readonly Bytes[])[] = [[]];
  for (const alternatives of steps) {
    if (result.length * alternatives.length > IN_COMBINATIONS_MAX)
      throw invalid(`The IN restrictions have more than ${IN_COMBINATIONS_MAX} combinations`);
    result = result.flatMap((prefix) => alternatives.map((values) => [...prefix, ...values]));
  }
  return result;
}

function unique(keys: readonly (readonly Bytes[])[]): readonly (readonly Bytes[])[] {
  if (keys.length < 2) return keys;
  return [...new Map(keys.map((key) => [key.map(bytesToLatin1).join('\u0100'), key])).values()];
}
