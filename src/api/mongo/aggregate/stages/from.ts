/** The collection that a stage names: a text, or a document with database and collection. */
import { type Bson, bsonTypeOf, isDocument } from '../../../../value/index.ts';
import { type Namespace, parseNamespace } from '../../collections/namespace.ts';
import { MongoError } from '../../errors.ts';
import { unknownField, wrongType } from '../../fields/field-table.ts';
import type { StageContext } from './stage.ts';

/** Databases of the server itself; others are named by the pipeline's own database alone. */
const INTERNAL: ReadonlySet<string> = new Set(['config', 'local']);

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
  for (const [name, value] of sent) {
    if (name !== 'db' && name !== 'coll') throw unknownField(`${stage}.from`, name);
    if (typeof value !== 'string') throw wrongType(`${stage}.from.${name}`, value, 'string');
  }
  const database = sent.get('db') ?? namespace.database;
  const collection = sent.get('coll');
  if (typeof collection !== 'string' || !INTERNAL.has(database as string))
    throw new MongoError(
      'FailedToParse',
      `${stage} with syntax {from: {db:<>, coll:<>},..} is not supported for db: ${String(database)}`,
    );
  return parseNamespace(database as string, collection);
}
