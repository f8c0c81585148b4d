/** `$out`: the result becomes a collection. */
import { type Bson, type BsonDocument, bsonTypeOf, isDocument } from '../../../../value/index.ts';
import { type Namespace, namespaceText, parseNamespace } from '../../collections/namespace.ts';
import { checkTimeseries } from '../../collections/timeseries-options.ts';
import type { Rows } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { checkFields } from '../../fields/field-table.ts';
import { NAMESPACE_BYTES_MAX } from '../../limits.ts';
import { parseMerge } from './merge.ts';
import type { Stage, StageContext, StageTable } from './stage.ts';

export const WRITE_STAGES: StageTable = {
  $merge: { parse: parseMerge, position: 'last' },
  $out: { parse: parseOut, position: 'last' },
};

/** Databases of the server itself. */
const RESERVED = new Set(['admin', 'config', 'local']);

function parseOut(argument: Bson, context: StageContext): Stage {
  const { namespace, timeseries } = outTarget(argument, context);
  if (RESERVED.has(namespace.database))
    throw new MongoError('Location31321', `Can't $out to internal database: ${namespace.database}`);
  if (namespace.collection.startsWith('system.'))
    throw new MongoError(
      'Location17385',
      `Can't $out to special collection: ${namespace.collection}`,
    );
  checkStored(namespace);
  return (rows) => written(rows, namespace, timeseries, context);
}

interface OutTarget {
  readonly namespace: Namespace;
  /** Set where the documents go to a time-series collection. */
  readonly timeseries: BsonDocument | undefined;
}

function outTarget(argument: Bson, { namespace }: StageContext): OutTarget {
  if (typeof argument === 'string')
    return { namespace: parseNamespace(namespace.database, argument), timeseries: undefined };
  if (!isDocument(argument))
    throw new MongoError(
      'Location16990',
      `$out only supports a string or object argument, but found ${bsonTypeOf(argument)}`,
    );
  checkFields('$out', argument, { db: 'string!', coll: 'string!', timeseries: 'object' }, false);
  const timeseries = argument.get('timeseries');
  return {
    namespace: parseNamespace(argument.get('db') as string, argument.get('coll') as string),
    timeseries: isDocument(timeseries) ? checkTimeseries(timeseries, false) : undefined,
  };
}

/** Names that cannot be stored. */
function checkStored(namespace: Namespace): void {
  const text = namespaceText(namespace);
  if (namespace.collection.startsWith('$') || Buffer.byteLength(text) > NAMESPACE_BYTES_MAX)
    throw new MongoError('IllegalOperation', `error with target namespace: ${text}`);
}

async function* written(
  rows: Rows,
  namespace: Namespace,
  timeseries: BsonDocument | undefined,
  { host }: StageContext,
): Rows {
  await host.writer.replace(namespace, rows, timeseries);
  yield* [] as never[];
}
