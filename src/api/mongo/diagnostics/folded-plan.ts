/**
 * Whether a count, or the values of a field, would come from an index alone. The partitions are asked: an index that has
 * several values of a document cannot tell, and nothing but the index knows that.
 */
import { COUNTED, FIRST_OF_VALUES } from '../../../query/index.ts';
import type { Call } from '../call.ts';
import type { Collection } from '../collections/collection.ts';
import { foldDocuments } from '../documents/find-documents.ts';
import { declaredIndexes, type MongoIndex } from '../indexes/index-spec.ts';
import { conjuncts, type Filter } from '../query/filter.ts';
import { splitPath } from '../query/path.ts';

export type FoldedPlan =
  | { readonly kind: 'countAll' }
  | { readonly kind: 'countScan' | 'distinctScan'; readonly index: MongoIndex };

/** Undefined where documents are read. */
export async function countPlan(
  call: Call,
  collection: Collection,
  filter: Filter,
): Promise<FoldedPlan | undefined> {
  if (!(await answersWith(call, collection, filter, COUNTED))) return undefined;
  const parts = conjuncts(filter);
  if (parts.length === 0) return { kind: 'countAll' };
  const names = new Set(parts.map((part) => (part.kind === 'field' ? part.path.join('.') : '')));
  const index = firstWith(collection, (fields) =>
    [...names].every((name) => fields.slice(0, names.size).includes(name)),
  );
  return index && { kind: 'countScan', index };
}

export async function distinctPlan(
  call: Call,
  collection: Collection,
  key: string,
): Promise<FoldedPlan | undefined> {
  const nothing: Filter = { kind: 'and', of: [] };
  if (!(await answersWith(call, collection, nothing, FIRST_OF_VALUES, key))) return undefined;
  const index =
    firstWith(collection, (fields) => fields.length === 1 && fields[0] === key) ??
    firstWith(collection, ([first]) => first === key);
  return index && { kind: 'distinctScan', index };
}

/** Runs the query up to its first document. */
async function answersWith(
  { store, meter }: Call,
  collection: Collection,
  filter: Filter,
  access: string,
  key?: string,
): Promise<boolean> {
  const start = () => ({ add: () => false, addMatching: key === undefined ? () => {} : undefined });
  const valuesOf = key === undefined ? undefined : splitPath(key);
  const run = foldDocuments(store, collection, filter, start, { valuesOf });
  meter.accessPaths.clear();
  await run?.();
  return meter.accessPaths.size === 1 && meter.accessPaths.has(access);
}

function firstWith(
  collection: Collection,
  isWanted: (fields: readonly string[]) => boolean,
): MongoIndex | undefined {
  return declaredIndexes(collection).find(
    ({ key, definition, spec }) =>
      definition.isVirtual !== true && spec.get('hidden') !== true && isWanted([...key.keys()]),
  );
}
