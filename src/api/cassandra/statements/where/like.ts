/** LIKE: a pattern with % at its beginning, its end, both or neither, on a text column with an index of SASI. */
import { bytesToText } from '../../../../base/index.ts';
import { invalid } from '../../errors.ts';
import type { ColumnSchema, IndexSchema, TableSchema } from '../../schema/table-schema.ts';
import { isNative } from '../../types/cql-type.ts';
import { type BoundValue, UNSET } from '../../wire/body-reader.ts';
import type { Predicate } from './filters.ts';

/** What an index allows of patterns. */
export interface LikeOptions {
  /** Patterns may begin with %. */
  readonly isContaining: boolean;
  readonly ignoresCase: boolean;
}

/** Undefined where no index of the column answers LIKE. */
export function likeOptions(
  { name, type }: ColumnSchema,
  { indexes }: TableSchema,
): LikeOptions | undefined {
  const isText = isNative(type, 'text', 'ascii');
  const index = indexes.find((one) => one.column === name && isSasi(one));
  if (!isText || index === undefined) return undefined;
  const { mode = 'PREFIX', case_sensitive: isSensitive = 'true' } = index.options;
  return {
    isContaining: mode.toUpperCase() === 'CONTAINS',
    ignoresCase: isSensitive.toLowerCase() === 'false',
  };
}

function isSasi({ options }: IndexSchema): boolean {
  return options.class_name?.endsWith('SASIIndex') === true;
}

export function likePredicate(name: string, value: BoundValue, options: LikeOptions): Predicate {
  if (value === null) throw invalid(`Unsupported null value for column ${name}`);
  if (value === UNSET) throw invalid(`Unsupported unset value for column ${name}`);
  const folded = (text: string): string => (options.ignoresCase ? text.toLowerCase() : text);
  const pattern = bytesToText(value);
  const isOpenStart = pattern.startsWith('%');
  const isOpenEnd = pattern.length > 1 && pattern.endsWith('%');
  const given = pattern.slice(isOpenStart ? 1 : 0, isOpenEnd ? -1 : undefined);
  if (given === '') throw invalid("LIKE value can't be empty.");
  if (isOpenStart && !options.isContaining)
    throw invalid(
      `${name} LIKE '%<term>${isOpenEnd ? '%' : ''}' ${given} is only supported on properly indexed columns`,
    );
  const wanted = folded(given);
  return (row) => {
    const bytes = row(name);
    if (bytes === undefined) return false;
    const text = folded(bytesToText(bytes));
    if (isOpenStart && isOpenEnd) return text.includes(wanted);
    if (isOpenStart) return text.endsWith(wanted);
    return isOpenEnd ? text.startsWith(wanted) : text === wanted;
  };
}
