/** A hint: which index it names, and which documents that index has. */
import { type Bson, type BsonDocument, equalBson, isDocument } from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import { printDocument } from '../bson/print.ts';
import type { Collection } from '../collections/collection.ts';
import { namespaceText } from '../collections/namespace.ts';
import { MongoError } from '../errors.ts';
import { type Filter, partsOf } from '../query/filter.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { compileFilter, type DocumentTest } from '../query/filter-test.ts';
import { someWholeAt } from '../query/path.ts';
import { isWildcard } from './index-key.ts';
import { declaredIndexes, ID_INDEX, type MongoIndex } from './index-spec.ts';
import { wildcardPaths } from './wildcard-paths.ts';

type Hinted = Pick<MongoIndex, 'name' | 'key' | 'spec'>;

/** The index that a hint names; undefined where it asks for a scan. Refuses a hint that names none. */
export function hintedIndex(collection: Collection, hint: Bson | undefined): Hinted | undefined {
  if (hint === undefined || hint === null) return undefined;
  if (isDocument(hint) && hint.has('$natural')) {
    checkNatural(hint);
    return undefined;
  }
  if (isDocument(hint) && hint.size === 0) return undefined;
  const id = { name: '_id_', key: ID_INDEX.get('key') as BsonDocument, spec: ID_INDEX };
  const found = [id, ...declaredIndexes(collection)].find(({ name, key }) =>
    isDocument(hint) ? equalBson(key, hint) : name === hint,
  );
  if (found !== undefined && found.spec.get('hidden') !== true) return found;
  throw new MongoError(
    'BadValue',
    `error processing query: ns=${namespaceText(collection.namespace)} planner returned error :: caused by :: hint ` +
      `provided does not correspond to an existing index: ${isDocument(hint) ? printDocument(hint) : String(hint)}`,
  );
}

function checkNatural(hint: BsonDocument): void {
  const direction = hint.get('$natural');
  if (hint.size > 1)
    throw new MongoError('BadValue', '$natural hint cannot be combined with other fields');
  if (!isNumber(direction) || Math.abs(doubleOf(direction as Bson)) !== 1)
    throw new MongoError('BadValue', '$natural hint may only be 1 or -1');
}

/** Which documents the index has; undefined where it has all. A find by a hint returns no others. */
export function coverage(
  { key, spec }: Hinted,
  filter: Filter,
  collection: Collection,
): DocumentTest | undefined {
  const partial = spec.get('partialFilterExpression');
  const passes = isDocument(partial) ? compileFilter(parseFilter(partial)) : undefined;
  if ([...key.keys()].some(isWildcard)) checkWildcard(key, spec, filter, collection);
  const places = [...key]
    .filter(([, kind]) => kind === '2dsphere' || kind === '2d')
    .map(([field]) => field);
  const fields = places.length > 0 ? places : spec.get('sparse') === true ? [...key.keys()] : [];
  if (fields.length === 0) return passes;
  return (document) =>
    fields.some((field) =>
      someWholeAt(document, field.split('.'), (value) => value !== undefined),
    ) &&
    (passes === undefined || passes(document));
}

/** A wildcard index serves a filter only on a field that it has. */
function checkWildcard(
  key: BsonDocument,
  spec: BsonDocument,
  filter: Filter,
  collection: Collection,
): void {
  const hasPath = wildcardPaths(key, spec);
  const covers = (path: string): boolean =>
    hasPath(path) || [...key.keys()].some((field) => !isWildcard(field) && field === path);
  for (const part of partsOf(filter))
    if (part.kind === 'field' && covers(part.path.join('.'))) return;
  throw new MongoError(
    'NoQueryExecutionPlans',
    `error processing query: ns=${namespaceText(collection.namespace)} planner returned error :: caused by :: No query solutions`,
  );
}
