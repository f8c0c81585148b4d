/** `$out`: the result becomes a collection. */
import { type Bson, type BsonDocument, bsonTypeOf, isDocument } from '../../../../value/index.ts';
import { type Namespace, parseNamespace } from '../../collections/namespace.ts';
import type { Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { collect } from './collect.ts';
import { parseMerge } from './merge.ts';
import type { Stage, StageContext, StageTable } from './stage.ts';

export const WRITE_STAGES: StageTable = {
  $merge: { parse: parseMerge, position: 'last' },
  $out: { parse: parseOut, position: 'last' },
};

/** Databases of the server itself. */
const RESERVED = new Set(['admin', 'config', 'local']);

function parseOut(argument: Bson, context: StageContext): Stage {
  const namespace = outNamespace(argument, context);
  if (RESERVED.has(namespace.database))
    throw new MongoError('Location31321', `Can't $out to internal database: ${namespace.database}`);
  if (namespace.collection.startsWith('system.'))
    throw new MongoError(
      'Location17385',
      `Can't $out to special collection: ${namespace.collection}`,
    );
  return (rows) => written(rows, namespace, context);
}

function outNamespace(argument: Bson, { namespace }: StageContext): Namespace {
  if (typeof argument === 'string') return parseNamespace(namespace.database, argument);
  if (!isDocument(argument))
    throw new MongoError(
      'Location16990',
      `$out only supports a string or object argument, but found ${bsonTypeOf(argument)}`,
    );
  for (const name of argument.keys())
    if (name !== 'db' && name !== 'coll' && name !== 'timeseries')
      throw new MongoError('IDLUnknownField', `BSON field '$out.${name}' is an unknown field.`);
  return parseNamespace(outText(argument, 'db'), outText(argument, 'coll'));
}

function outText(argument: BsonDocument, name: string): string {
  const value = argument.get(name);
  if (typeof value === 'string') return value;
  if (value === undefined)
    throw new MongoError(
      'IDLFailedToParse',
      `BSON field '$out.${name}' is missing but a required field`,
    );
  throw new MongoError(
    'TypeMismatch',
    `BSON field '$out.${name}' is the wrong type '${bsonTypeOf(value)}', expected type 'string'`,
  );
}

async function* written(rows: Rows, namespace: Namespace, { host }: StageContext): Rows {
  await host.writer.replace(namespace, await collect(rows, '$out'));
  yield* [] as never[];
}
