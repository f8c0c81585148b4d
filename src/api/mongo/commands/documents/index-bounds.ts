/** `min` and `max` of a find: bounds of the keys of the index that the hint names. */
import { type Bson, type BsonDocument, equalBson, isDocument } from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import type { Call } from '../../call.ts';
import type { Collection } from '../../collections/collection.ts';
import { MongoError } from '../../errors.ts';
import { declaredIndexes, ID_INDEX } from '../../indexes/index-spec.ts';
import type { QueryContext } from '../../query/query-context.ts';
import { parseSort, Sort } from '../../query/sort.ts';

export function parseBounds(
  { args, body }: Call,
  collection: Collection | undefined,
  context: QueryContext,
): ((document: BsonDocument) => boolean) | undefined {
  const [min, max] = [args.optionalDocument('min'), args.optionalDocument('max')];
  const bounds = [min, max].filter(
    (bound) => bound !== undefined && bound.size > 0,
  ) as BsonDocument[];
  if (bounds.length === 0) return undefined;
  const hint = body.get('hint');
  if (hint === undefined || hint === null)
    throw new MongoError('Location51173', 'min/max must be used with a hint');
  if (isDocument(hint) && hint.has('$natural'))
    throw new MongoError('Location51174', 'cannot use min/max with $natural');
  const key = collection && keyOf(collection, hint);
  if (key === undefined) return () => true;
  const names = [...key.keys()];
  for (const bound of bounds)
    if (!equalBson([...bound.keys()], names))
      throw new MongoError(
        'Location51174',
        'The index specified with hint does not have the keys of min and max',
      );
  const parts = parseSort(new Map([...key].map(([name, value]) => [name, direction(value)])));
  const sort = new Sort(parts, context.collation?.compare);
  const [low, high] = [min, max].map((bound) =>
    bound === undefined || bound.size === 0 ? undefined : [...bound.values()],
  );
  if (low !== undefined && high !== undefined && sort.compare(low, high) >= 0)
    throw new MongoError('Location51175', 'min must be less than max');
  return (document) => {
    const at = sort.keyOf(document);
    if (low !== undefined && sort.compare(at, low) < 0) return false;
    return high === undefined || sort.compare(at, high) < 0;
  };
}

function direction(value: Bson): number {
  return isNumber(value) && doubleOf(value) < 0 ? -1 : 1;
}

function keyOf(collection: Collection, hint: Bson): BsonDocument | undefined {
  const id = { name: '_id_', key: ID_INDEX.get('key') as BsonDocument };
  const found = [id, ...declaredIndexes(collection)].find(({ name, key }) =>
    isDocument(hint) ? equalBson(key, hint) : name === hint,
  );
  return found?.key;
}
