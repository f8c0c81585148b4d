/** The collection that a stage names: a text, or a document with database and collection. */
import { type Bson, bsonTypeOf, isDocument } from '../../../../value/index.ts';
import { type Namespace, parseNamespace } from '../../collections/namespace.ts';
import { MongoError } from '../../errors.ts';
import type { StageContext } from './stage.ts';

export function parseFrom(
  sent: Bson | undefined,
  { namespace }: StageContext,
  isOptional: boolean,
  stage: string,
): Namespace {
  if (sent === undefined) {
    if (isOptional) return { ...namespace, collection: '' };
    throw new MongoError('FailedToParse', `must specify 'from' field for a ${stage}`);
  }
  if (typeof sent === 'string') return parseNamespace(namespace.database, sent);
  if (!isDocument(sent))
    throw new MongoError(
      'FailedToParse',
      `${stage} argument 'from' must be a string, is type ${bsonTypeOf(sent)}`,
    );
  const database = sent.get('db') ?? namespace.database;
  const collection = sent.get('coll');
  if (typeof database !== 'string' || typeof collection !== 'string')
    throw new MongoError('FailedToParse', `${stage} 'from' must have a database and a collection`);
  return parseNamespace(database, collection);
}
