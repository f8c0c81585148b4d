/** `$facet`: several pipelines over the same documents; their results are the fields of one document. */
import { type Bson, bsonTypeOf, isArray, isDocument } from '../../../../value/index.ts';
import { Row, type Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { DOCUMENT_BYTES_MAX } from '../../limits.ts';
import { checkFieldName } from '../expressions/field-path.ts';
import { collect } from './collect.ts';
import { rowsOf } from './simple.ts';
import { nested, type Stage, type StageContext, type StageTable } from './stage.ts';

export const FACET_STAGES: StageTable = {
  $facet: { parse: parseFacet, isBannedInFacet: true },
};

function parseFacet(argument: Bson, context: StageContext): Stage {
  if (!isDocument(argument) || argument.size === 0)
    throw new MongoError(
      'Location40169',
      `the $facet specification must be a non-empty object, but found: ${bsonTypeOf(argument)}`,
    );
  const facets: (readonly [string, Stage])[] = [];
  for (const [name, sent] of argument) {
    checkFieldName(name);
    if (!isArray(sent))
      throw new MongoError(
        'Location40170',
        `arguments to $facet must be arrays, ${name} is type ${bsonTypeOf(sent)}`,
      );
    for (const stage of sent)
      if (!isDocument(stage))
        throw new MongoError(
          'Location40171',
          `elements of arrays in $facet spec must be non-empty objects, ${name} argument contained an element of type ${bsonTypeOf(stage)}`,
        );
    const { expressions } = context;
    const inner = nested(context, {
      expressions: { ...expressions, metadata: expressions.metadata?.branch() },
      ...{ isFacet: true, isLookup: false, isUnion: false },
    });
    facets.push([name, context.parse(sent, inner)]);
  }
  return (rows) => facet(rows, facets);
}

async function* facet(rows: Rows, facets: readonly (readonly [string, Stage])[]): Rows {
  const documents = await collect(rows, '$facet');
  const made = new Map<string, Bson>();
  for (const [name, stage] of facets)
    made.set(name, await collect(stage(rowsOf(documents)), '$facet'));
  const row = Row.of(made);
  if (row.body.length > DOCUMENT_BYTES_MAX)
    throw new MongoError(
      'BSONObjectTooLarge',
      `BSONObj size: ${row.body.length} is invalid. Size must be between 0 and ${DOCUMENT_BYTES_MAX}`,
    );
  yield [row];
}
