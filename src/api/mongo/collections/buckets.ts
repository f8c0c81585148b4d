/**
 * The buckets of a time series, `system.buckets.NAME`: how tools dump and restore one. Documents are stored one by one
 * here, so that each is shown as a bucket of its own, of the format before compression; a bucket that is inserted is
 * taken apart.
 */
import type { Bytes } from '../../../base/index.ts';
import type { Service } from '../../../service/index.ts';
import {
  type Bson,
  type BsonDocument,
  isDocument,
  readBson,
  writeBson,
} from '../../../value/index.ts';
import { wholeNumber } from '../bson/arithmetic.ts';
import { MongoError } from '../errors.ts';
import { documentOf } from '../reply.ts';
import { type Collection, findCollection, isTimeSeries } from './collection.ts';
import type { Namespace } from './namespace.ts';

const PREFIX = 'system.buckets.';
/** Buckets begin at whole minutes, hours or days (documented). */
const ROUNDING_SEC: Readonly<Record<string, number>> = {
  seconds: 60,
  minutes: 3600,
  hours: 86_400,
};

/** The time series whose buckets the name asks for. */
export function bucketsOf(
  service: Service,
  { database, collection }: Namespace,
): Collection | undefined {
  if (!collection.startsWith(PREFIX)) return undefined;
  const found = findCollection(service, { database, collection: collection.slice(PREFIX.length) });
  return found !== undefined && isTimeSeries(found) ? found : undefined;
}

interface SeriesFields {
  readonly time: string;
  readonly meta: string | undefined;
  readonly roundingSec: number;
}

function fieldsOf({ options }: Collection): SeriesFields {
  const series = options.get('timeseries') as BsonDocument;
  const granularity = String(series.get('granularity') ?? '');
  return {
    time: series.get('timeField') as string,
    meta: series.get('metaField') as string | undefined,
    roundingSec: ROUNDING_SEC[granularity] ?? Number(series.get('bucketRoundingSeconds') ?? 60),
  };
}

/** The pipeline that shows each document of a time series as a bucket. */
export function bucketPipeline(collection: Collection): readonly Bson[] {
  const { time, meta, roundingSec } = fieldsOf(collection);
  const literal = (name: string): BsonDocument => documentOf({ $literal: name });
  const field = (name: string): BsonDocument =>
    documentOf({ $getField: documentOf({ field: literal(name), input: '$$ROOT' }) });
  const ms = documentOf({ $toLong: field(time) });
  const startMs = documentOf({
    $subtract: [ms, documentOf({ $mod: [ms, BigInt(roundingSec) * 1000n] })],
  });
  const measured =
    meta === undefined
      ? '$$ROOT'
      : documentOf({ $unsetField: documentOf({ field: literal(meta), input: '$$ROOT' }) });
  const least = documentOf({
    $setField: documentOf({
      field: literal(time),
      input: measured,
      value: documentOf({ $toDate: startMs }),
    }),
  });
  const seconds = documentOf({ $toInt: documentOf({ $divide: [startMs, 1000n] }) });
  const columns = documentOf({
    $arrayToObject: documentOf({
      $map: documentOf({
        input: documentOf({ $objectToArray: measured }),
        as: 'each',
        in: documentOf({ k: '$$each.k', v: documentOf({ 0: '$$each.v' }) }),
      }),
    }),
  });
  const identity = [hex(seconds), hex(documentOf({ $toHashedIndexKey: '$_id' }))];
  const bucket = documentOf({
    _id: documentOf({ $toObjectId: documentOf({ $concat: identity }) }),
    control: documentOf({ version: documentOf({ $literal: 1 }), min: least, max: measured }),
    ...(meta === undefined ? {} : { meta: field(meta) }),
    data: columns,
  });
  return [documentOf({ $replaceWith: bucket })];
}

/** The digits of an integer, as many as it has bytes. */
function hex(integer: Bson): BsonDocument {
  const bytes = documentOf({
    $convert: documentOf({
      input: integer,
      to: documentOf({ type: 'binData', subtype: 0 }),
      byteOrder: 'big',
    }),
  });
  return documentOf({ $convert: documentOf({ input: bytes, to: 'string', format: 'hex' }) });
}

/** The documents of buckets, and the place of the bucket that each is of. */
export function takeApart(
  collection: Collection,
  buckets: readonly Bytes[],
): { readonly bodies: readonly Bytes[]; readonly places: readonly number[] } {
  const fields = fieldsOf(collection);
  const bodies: Bytes[] = [];
  const places: number[] = [];
  for (const [place, bucket] of buckets.entries())
    for (const body of measurementsOf(readBson(bucket), fields)) {
      bodies.push(body);
      places.push(place);
    }
  return { bodies, places };
}

function measurementsOf(bucket: BsonDocument, { time, meta }: SeriesFields): readonly Bytes[] {
  const [control, data] = [bucket.get('control'), bucket.get('data')];
  if (!isDocument(control) || !isDocument(data))
    throw new MongoError('BadValue', 'A bucket of a time series needs control and data');
  if (wholeNumber(control.get('version')) !== 1)
    throw new MongoError(
      'NotImplemented',
      'Compressed buckets of time series cannot be inserted: only those of version 1',
    );
  const times = data.get(time);
  if (!isDocument(times)) throw new MongoError('BadValue', `A bucket has no times in '${time}'`);
  return [...times.keys()].map((row) => {
    const made = new Map<string, Bson>();
    for (const [name, column] of data) {
      const value = isDocument(column) ? column.get(row) : undefined;
      if (value !== undefined) made.set(name, value);
      if (name === time && meta !== undefined && bucket.has('meta'))
        made.set(meta, bucket.get('meta') as Bson);
    }
    return writeBson(made);
  });
}
