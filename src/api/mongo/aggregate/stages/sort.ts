/** The argument of `$sort` and of the sorts within other stages. */
import { type Bson, type BsonDocument, bsonTypeOf, isDocument } from '../../../../value/index.ts';
import { isNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { wholeOf } from '../../fields/numbers.ts';
import type { SortPart } from '../../query/sort.ts';
import { parseFieldPath } from '../expressions/field-path.ts';
import type { ExpressionContext } from '../expressions/scope.ts';

/** MongoDB's bound of the keys of a sort. */
const PARTS_MAX = 32;

export function parseStageSort(argument: Bson, _context: ExpressionContext): readonly SortPart[] {
  if (!isDocument(argument))
    throw new MongoError('Location15973', 'the $sort key specification must be an object');
  if (argument.size === 0)
    throw new MongoError('Location15976', '$sort stage must have at least one sort key');
  return parseSortPattern(argument);
}

export function parseSortPattern(pattern: BsonDocument): readonly SortPart[] {
  const parts: SortPart[] = [];
  for (const [text, value] of pattern) {
    if (isDocument(value)) {
      checkMeta(value);
      continue;
    }
    if (!isNumber(value))
      throw new MongoError(
        'Location15974',
        `Illegal key in $sort specification: ${text}: ${bsonTypeOf(value)}`,
      );
    const direction = wholeOf(value);
    if (direction !== 1 && direction !== -1)
      throw new MongoError(
        'Location15975',
        '$sort key ordering must be 1 (for ascending) or -1 (for descending)',
      );
    parts.push({ text, path: parseFieldPath(text), isDescending: direction < 0 });
  }
  if (parts.length > PARTS_MAX) throw new MongoError('Location13103', 'too many compound keys');
  return parts;
}

function checkMeta(value: BsonDocument): void {
  const [name] = value.keys();
  if (name === '$meta' && value.size > 1)
    throw new MongoError(
      'FailedToParse',
      'Cannot have additional keys in a $meta sort specification',
    );
  if (name !== '$meta')
    throw new MongoError(
      'Location17312',
      '$meta is the only expression supported by $sort right now',
    );
  const kind = value.get('$meta');
  if (
    kind !== 'textScore' &&
    kind !== 'geoNearDistance' &&
    kind !== 'randVal' &&
    kind !== 'searchScore' &&
    kind !== 'vectorSearchScore'
  )
    throw new MongoError('Location31138', `Illegal $meta sort: $meta: ${String(kind)}`);
  if (kind === 'textScore' || kind === 'geoNearDistance')
    throw new MongoError(
      'Location40218',
      `query requires ${kind === 'textScore' ? 'text score' : '$geoNear distance'} metadata, but it is not available`,
    );
}
