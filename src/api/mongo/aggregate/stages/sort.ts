/** The argument of `$sort` and of the sorts within other stages. */
import { type Bson, type BsonDocument, bsonTypeOf, isDocument } from '../../../../value/index.ts';
import { isNumber } from '../../bson/arithmetic.ts';
import { MongoError } from '../../errors.ts';
import { wholeOf } from '../../fields/numbers.ts';
import { type MetadataScope, unavailable } from '../../metadata/metadata-scope.ts';
import { metaPart, type SortPart } from '../../query/sort.ts';
import { parseFieldPath } from '../expressions/field-path.ts';
import type { ExpressionContext } from '../expressions/scope.ts';

/** MongoDB's bound of the keys of a sort. */
const PARTS_MAX = 32;

export function parseStageSort(argument: Bson, context: ExpressionContext): readonly SortPart[] {
  if (!isDocument(argument))
    throw new MongoError('Location15973', 'the $sort key specification must be an object');
  if (argument.size === 0)
    throw new MongoError('Location15976', '$sort stage must have at least one sort key');
  return parseSortPattern(argument, context.metadata);
}

/** @param metadata - what the documents know; undefined where they know nothing. */
export function parseSortPattern(
  pattern: BsonDocument,
  metadata?: MetadataScope,
): readonly SortPart[] {
  const parts: SortPart[] = [];
  for (const [text, value] of pattern) {
    if (isDocument(value)) {
      const kind = metaIn(value);
      if (!SEARCH_SCORES.has(kind)) parts.push(knownPart(text, kind, metadata));
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
  if (parts.filter(({ meta }) => meta === undefined).length > PARTS_MAX)
    throw new MongoError('Location13103', 'too many compound keys');
  return parts;
}

/** Scores that nothing here makes: all documents are equal by them. */
const SEARCH_SCORES: ReadonlySet<Bson> = new Set(['searchScore', 'vectorSearchScore']);

function metaIn(value: BsonDocument): Bson {
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
  return value.get('$meta') ?? null;
}

function knownPart(text: string, kind: Bson, metadata: MetadataScope | undefined): SortPart {
  const part = metaPart(text, kind);
  const { meta } = part;
  if (meta === 'textScore' || meta === 'geoNearDistance') {
    if (metadata === undefined) throw unavailable(meta);
    metadata.need(meta);
  }
  return part;
}
