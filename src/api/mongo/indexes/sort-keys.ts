/** Sort keys as the shared planner has them: values that compare as the BSON that they stand for. */
import {
  type Bson,
  BsonSymbol,
  compareBson,
  compareNumbers,
  compareTexts,
  Double,
  Extended,
  isList,
  isMap,
  readBson,
  type Value,
  valueOfBson,
  writeBson,
} from '../../../value/index.ts';

/** An empty array sorts before null, which a missing value is. */
const EMPTY: Value = [];
const BOX = 'bson';

/** Whatever a value does not hold exactly is kept as bytes: kinds of old types, the order of names. */
export function sortKey(value: Bson | undefined): Value {
  if (value === undefined) return EMPTY;
  if (typeof value !== 'object' || value === null || value instanceof Double)
    return valueOfBson(value);
  if (value instanceof BsonSymbol) return value.text;
  if (value instanceof Extended) return value;
  return {
    [BOX]: new Extended({ kind: 'binary', subtype: 0, bytes: writeBson(new Map([['', value]])) }),
  };
}

export function compareSortKeys(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a === 'number' && typeof b === 'number') return compareNumbers(a, b);
  return compareBson(bsonOf(a), bsonOf(b));
}

function bsonOf(key: Value): Bson | undefined {
  if (isList(key)) return undefined;
  if (typeof key === 'number') return new Double(key);
  if (key instanceof Extended) return key.payload.kind === 'int64' ? key.payload.value : key;
  if (!isMap(key)) return key as Bson;
  const { payload } = key[BOX] as Extended;
  return payload.kind === 'binary' ? readBson(payload.bytes).get('') : null;
}
