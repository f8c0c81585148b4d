/** `$unionWith`: the documents of another pipeline behind those of this one. */
import { type Bson, bsonTypeOf, isArray, isDocument } from '../../../../value/index.ts';
import { parseNamespace } from '../../collections/namespace.ts';
import type { Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { nested, type Stage, type StageContext } from './stage.ts';

export function parseUnionWith(argument: Bson, context: StageContext): Stage {
  const { collection, pipeline } = parseArgument(argument);
  const { database } = context.namespace;
  const from =
    collection === undefined ? { database, collection: '' } : parseNamespace(database, collection);
  const run = context.host.prepare(
    from,
    pipeline,
    nested(context, { namespace: from, isUnion: true }),
  );
  return (rows) => chained(rows, run);
}

function parseArgument(argument: Bson): {
  readonly collection: string | undefined;
  readonly pipeline: readonly Bson[];
} {
  if (typeof argument === 'string') return { collection: argument, pipeline: [] };
  if (!isDocument(argument))
    throw new MongoError(
      'FailedToParse',
      `the $unionWith stage specification must be an object or string, but found ${bsonTypeOf(argument)}`,
    );
  for (const name of argument.keys())
    if (name !== 'coll' && name !== 'pipeline')
      throw new MongoError(
        'IDLUnknownField',
        `BSON field '$unionWith.${name}' is an unknown field.`,
      );
  const collection = argument.get('coll');
  const pipeline = argument.get('pipeline') ?? [];
  if (collection !== undefined && typeof collection !== 'string')
    throw new MongoError(
      'TypeMismatch',
      `BSON field '$unionWith.coll' is the wrong type '${bsonTypeOf(collection)}', expected type 'string'`,
    );
  if (!isArray(pipeline))
    throw new MongoError('TypeMismatch', "'pipeline' option must be specified as an array");
  const isDocuments = isDocument(pipeline[0]) && pipeline[0].has('$documents');
  if (collection === undefined && !isDocuments)
    throw new MongoError(
      'FailedToParse',
      '$unionWith stage without explicit collection must have a pipeline with $documents as first stage',
    );
  return { collection, pipeline };
}

async function* chained(rows: Rows, run: () => Rows): Rows {
  yield* rows;
  yield* run();
}
