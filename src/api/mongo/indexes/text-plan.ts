/** Whether a search of texts can be answered by the text index, as MongoDB asks for it. */
import { compareBson } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { conjuncts, type Filter, textOf } from '../query/filter.ts';
import { fieldIndex } from './chosen-index.ts';
import { usedIndexes } from './computed/computed-indexes.ts';
import { askedBy } from './computed/leading-fields.ts';

/** @param leading - fields in front of the texts: each must equal one value. */
export function isTextPlanned(
  collection: Collection,
  filter: Filter,
  leading: readonly string[],
  outer: readonly Filter[] = [],
): boolean {
  const parts = [...outer, ...conjuncts(filter)];
  return parts.every((part) => {
    if (part.kind === 'text') return leading.every((field) => isEqual(field, parts));
    if (part.kind !== 'or' || textOf(part) === undefined) return true;
    const others = parts.filter((other) => other !== part);
    return part.of.every((branch) =>
      textOf(branch) === undefined
        ? isIndexed(collection, branch)
        : isTextPlanned(collection, branch, leading, others),
    );
  });
}

function isEqual(field: string, parts: readonly Filter[]): boolean {
  return parts.some(
    (part) =>
      part.kind === 'field' && part.path.join('.') === field && askedBy(part.test)?.length === 1,
  );
}

function isIndexed(collection: Collection, branch: Filter): boolean {
  const parts = conjuncts(branch);
  const isById = parts.some((part) => part.kind === 'field' && part.path.join('.') === '_id');
  if (isById || fieldIndex(collection, branch) !== undefined) return true;
  return usedIndexes(collection, parts, compareBson).length > 0;
}
