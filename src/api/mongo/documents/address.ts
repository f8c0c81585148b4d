/** Where a document is stored: its shard key is the partition key, its `_id` the row key. */
import type { ItemAddress } from '../../../service/index.ts';
import {
  type Bson,
  type BsonDocument,
  Extended,
  isArray,
  isDocument,
  type Value,
  valueOfBson,
} from '../../../value/index.ts';
import { isZeroDecimal } from '../bson/decimal.ts';
import type { Collection } from '../collections/collection.ts';
import { MongoError } from '../errors.ts';
import { equalityOn, type Filter } from '../query/filter.ts';
import { valueAt } from '../query/path.ts';

/** All documents of an unsharded collection have one key. */
export const ONE_KEY: readonly Value[] = [undefined];

export function addressOf(collection: Collection, document: BsonDocument): ItemAddress {
  return {
    partitionKey: partitionKeyOf(collection, document),
    rowKey: [rowKeyOf(collection, document)],
  };
}

/** Measurements of a time series may share an `_id`; their time never changes, and goes with it. */
function rowKeyOf(collection: Collection, document: BsonDocument): Value {
  const id = idKey(document.get('_id') as Bson);
  const timeField = timeFieldOf(collection);
  return timeField === undefined ? id : [id, valueOfBson(document.get(timeField) ?? null)];
}

/** The fields that the address of a document is made of. */
export function addressFields(collection: Collection): ReadonlySet<string> {
  const { shardKey } = collection;
  const more = [shardKey?.[0], timeFieldOf(collection)];
  return new Set(['_id', ...more.filter((name) => name !== undefined)]);
}

/** Undefined for a collection that is no time series. */
function timeFieldOf({ options }: Collection): string | undefined {
  const series = options.get('timeseries');
  return isDocument(series) ? (series.get('timeField') as string) : undefined;
}

export function partitionKeyOf({ shardKey }: Collection, document: BsonDocument): readonly Value[] {
  if (shardKey === undefined) return ONE_KEY;
  const value = valueAt(document, shardKey);
  if (isArray(value))
    throw new MongoError(
      'ShardKeyNotFound',
      `Shard key cannot contain array values or array descendants: ${shardKey.join('.')}`,
    );
  return [value === undefined ? undefined : keyValue(value)];
}

export function idKey(id: Bson): Value {
  return keyValue(id);
}

/** Zeros of any sign are one key, although their hashes would differ. */
function keyValue(value: Bson): Value {
  const key = valueOfBson(value);
  return key === 0 || (key instanceof Extended && isZero(key)) ? 0 : key;
}

function isZero({ payload }: Extended): boolean {
  return payload.kind === 'decimal' && isZeroDecimal(payload.digits);
}

/** The one address that a filter can match; undefined where it asks for less than `_id` and shard key. */
export function addressIn(collection: Collection, filter: Filter): ItemAddress | undefined {
  if (timeFieldOf(collection) !== undefined) return undefined;
  const id = equalityOn(filter, '_id');
  const partitionKey = id === undefined ? undefined : partitionKeyIn(collection, filter);
  if (id === undefined || partitionKey === undefined || isArray(id)) return undefined;
  return { partitionKey, rowKey: [idKey(id)] };
}

/** The one partition key that a filter can match. */
export function partitionKeyIn(
  { shardKey }: Collection,
  filter: Filter,
): readonly Value[] | undefined {
  if (shardKey === undefined) return ONE_KEY;
  const value = equalityOn(filter, shardKey.join('.'));
  // Null also matches documents that lack the field.
  return value === undefined || value === null || isArray(value) ? undefined : [keyValue(value)];
}
