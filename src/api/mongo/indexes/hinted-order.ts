/** The order in which a scan of the hinted index gives its documents. */
import { type Bson, type BsonDocument, compareBson, isDocument } from '../../../value/index.ts';
import { doubleOf, isNumber } from '../bson/arithmetic.ts';
import type { Collection } from '../collections/collection.ts';
import { parseCollation } from '../query/collation.ts';
import { parseSort, Sort } from '../query/sort.ts';
import { hintedIndex } from './hinted.ts';

/** Undefined where there is no hint, or where the order of the index is not one of values. */
export function hintedOrder(collection: Collection, hint: Bson | undefined): Sort | undefined {
  if (hint === undefined || hint === null) return undefined;
  const natural = naturalOrder(hint);
  if (natural.size > 0) return new Sort(parseSort(natural));
  const index = hintedIndex(collection, hint);
  if (index === undefined || ![...index.key].every(isPlainPart)) return undefined;
  const sent = index.spec.get('collation');
  const compare = isDocument(sent) ? parseCollation(sent)?.compare : compareBson;
  const parts = [...index.key].map(([field, value]): [string, Bson] => [
    field,
    doubleOf(value) < 0 ? -1 : 1,
  ]);
  return new Sort(parseSort(new Map(parts)), compare);
}

function isPlainPart([field, kind]: readonly [string, Bson]): boolean {
  return isNumber(kind) && !field.includes('$**');
}

/** The order that a hint of `$natural: -1` gives to documents that are not sorted otherwise. */
function naturalOrder(hint: Bson | undefined): BsonDocument {
  const natural = isDocument(hint) ? hint.get('$natural') : undefined;
  return isNumber(natural) && doubleOf(natural as Bson) < 0 ? (hint as BsonDocument) : new Map();
}
