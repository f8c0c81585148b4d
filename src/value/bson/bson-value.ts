/** The model to and from the shared Value. Kinds of numbers and old types are the only things that Value lacks. */

import { Extended, isList, type Value } from '../value.ts';
import { type Bson, BsonCode, type BsonDocument, BsonPointer, BsonSymbol, Double } from './bson.ts';
import { isInt32 } from './numbers.ts';

/** Old types are the objects that extended JSON has for them, and text where the type is a text. */
export function valueOfBson(value: Bson): Value {
  switch (typeof value) {
    case 'bigint':
      return new Extended({ kind: 'int64', value });
    case 'object':
      return valueOfObject(value);
    default:
      return value;
  }
}

function valueOfObject(value: Exclude<Bson, boolean | string | number | bigint>): Value {
  if (value === null || value instanceof Extended) return value;
  if (value instanceof Map) return valueOfDocument(value as BsonDocument);
  if (Array.isArray(value)) return value.map(valueOfBson);
  if (value instanceof Double) return value.value;
  if (value instanceof BsonSymbol) return value.text;
  if (value instanceof BsonCode)
    return value.scope === undefined
      ? { $code: value.source }
      : { $code: value.source, $scope: valueOfDocument(value.scope) };
  if (value instanceof BsonPointer)
    return {
      $dbPointer: {
        $ref: value.namespace,
        $id: new Extended({ kind: 'objectId', bytes: value.id }),
      },
    };
  return null;
}

export function valueOfDocument(document: BsonDocument): { readonly [name: string]: Value } {
  const map: Record<string, Value> = {};
  for (const [name, value] of document) define(map, name, valueOfBson(value));
  return map;
}

/** A property, also where its name is `__proto__`, which an assignment would take as the prototype. */
function define(map: Record<string, Value>, name: string, value: Value): void {
  if (name === '__proto__')
    Object.defineProperty(map, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else map[name] = value;
}

/** Whole numbers become the smallest kind that holds them, as extended JSON reads them. */
export function bsonOfValue(value: Value): Bson {
  if (typeof value === 'number') return bsonOfNumber(value);
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return value;
  if (isList(value)) return value.map(bsonOfValue);
  if (value instanceof Extended)
    return value.payload.kind === 'int64' ? value.payload.value : value;
  const document = new Map<string, Bson>();
  for (const name of Object.keys(value)) {
    const property = value[name];
    if (property !== undefined) document.set(name, bsonOfValue(property));
  }
  return document;
}

function bsonOfNumber(value: number): Bson {
  if (isInt32(value)) return value;
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : new Double(value);
}
