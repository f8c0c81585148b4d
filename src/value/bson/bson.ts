/**
 * The model of BSON documents. A JavaScript number is an int32, a bigint is an int64, and a double has a class of its
 * own, because MongoDB's arithmetic and its replies depend on the kind. A document is a Map, since the names of an
 * object that look like numbers would lose their place. Everything else that JSON lacks is an Extended.
 */
import type { Bytes } from '../../base/index.ts';
import { Extended } from '../value.ts';

export type Bson =
  | null
  | boolean
  | string
  | number
  | bigint
  | Double
  | Extended
  | BsonCode
  | BsonSymbol
  | BsonPointer
  | BsonUndefined
  | readonly Bson[]
  | BsonDocument;

export type BsonDocument = ReadonlyMap<string, Bson>;

export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** JavaScript code, with its variables in the type that has them. It is stored and never run. */
export class BsonCode {
  readonly source: string;
  readonly scope: BsonDocument | undefined;

  constructor(source: string, scope?: BsonDocument) {
    this.source = source;
    this.scope = scope;
  }
}

/** A text of the old type symbol. */
export class BsonSymbol {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The old type DBPointer. */
export class BsonPointer {
  readonly namespace: string;
  readonly id: Bytes;

  constructor(namespace: string, id: Bytes) {
    this.namespace = namespace;
    this.id = id;
  }
}

/** The old type undefined, which is a value and not a missing property. */
class BsonUndefined {}

export const BSON_UNDEFINED = new BsonUndefined();

export function isDocument(value: Bson | undefined): value is BsonDocument {
  return value instanceof Map;
}

export function isArray(value: Bson | undefined): value is readonly Bson[] {
  return Array.isArray(value);
}

/** The element types on the wire. */
export const BSON_TYPES = {
  double: 0x01,
  string: 0x02,
  object: 0x03,
  array: 0x04,
  binData: 0x05,
  undefined: 0x06,
  objectId: 0x07,
  bool: 0x08,
  date: 0x09,
  null: 0x0a,
  regex: 0x0b,
  dbPointer: 0x0c,
  javascript: 0x0d,
  symbol: 0x0e,
  javascriptWithScope: 0x0f,
  int: 0x10,
  timestamp: 0x11,
  long: 0x12,
  decimal: 0x13,
  minKey: 0xff,
  maxKey: 0x7f,
} as const;

export type BsonType = keyof typeof BSON_TYPES;

const EXTENDED_TYPES = {
  int64: 'long',
  decimal: 'decimal',
  date: 'date',
  uuid: 'binData',
  objectId: 'objectId',
  binary: 'binData',
  timestamp: 'timestamp',
  regex: 'regex',
  minKey: 'minKey',
  maxKey: 'maxKey',
} as const satisfies Readonly<Record<Extended['payload']['kind'], BsonType>>;

/** The type under the name that `$type` has for it. */
export function bsonTypeOf(value: Bson): BsonType {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'int';
    case 'bigint':
      return 'long';
    case 'boolean':
      return 'bool';
    default:
      return objectTypeOf(value);
  }
}

function objectTypeOf(value: Exclude<Bson, boolean | string | number | bigint>): BsonType {
  if (value === null) return 'null';
  if (value instanceof Map) return 'object';
  if (Array.isArray(value)) return 'array';
  if (value instanceof Double) return 'double';
  if (value instanceof Extended) return EXTENDED_TYPES[value.payload.kind];
  if (value instanceof BsonCode)
    return value.scope === undefined ? 'javascript' : 'javascriptWithScope';
  if (value instanceof BsonSymbol) return 'symbol';
  return value instanceof BsonPointer ? 'dbPointer' : 'undefined';
}
