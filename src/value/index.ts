export {
  BSON_TYPES,
  BSON_UNDEFINED,
  type Bson,
  BsonCode,
  type BsonDocument,
  BsonPointer,
  BsonSymbol,
  type BsonType,
  bsonTypeOf,
  Double,
  isArray,
  isDocument,
} from './bson/bson.ts';
export { bsonCodec } from './bson/bson-codec.ts';
export { compareBson, equalBson, numberOf, typeRank } from './bson/bson-order.ts';
export { fieldReader, pluckBodies, pluckBson } from './bson/bson-pluck.ts';
export { BsonReader, readBson } from './bson/bson-reader.ts';
export { readBsonSteps } from './bson/bson-steps.ts';
export { bsonOfValue, valueOfBson, valueOfDocument } from './bson/bson-value.ts';
export { BsonWriter, writeBson } from './bson/bson-writer.ts';
export { bsonOfExtendedJson } from './bson/extended-json.ts';
export { isInt32 } from './bson/numbers.ts';
export type { Codec, Encoding } from './codec.ts';
export { codecOf } from './codecs.ts';
export {
  annotationName,
  type EdmProperty,
  edmProperty,
  isAnnotated,
  TYPE_ANNOTATION,
} from './edm/edm.ts';
export {
  type Entity,
  edmCodec,
  entityTime,
  entityValue,
  isItemName,
  isPropertyName,
  type NamedProperty,
  printEntity,
  readEntity,
  restoreNames,
  storedName,
  TIME_PLACEHOLDER,
} from './edm/edm-codec.ts';
export { normalDateTime } from './edm/edm-date-time.ts';
export {
  EPK_MAX,
  EPK_MIN,
  type Epk,
  effectivePartitionKey,
  epkFromHex,
  epkRangeOfPrefix,
  epkToHex,
  evenEpkBoundaries,
  type PartitionKeyDefinition,
  ringPosition,
} from './epk.ts';
export {
  area,
  boxGrid,
  type Direction,
  directionGrid,
  distance,
  earth,
  earthGrid,
  intersects,
  isWithin,
  namesAround,
  type PlanePoint,
  parseGeoJson,
  plane,
  planeGrid,
  type Shape,
  type ShapeGrid,
  type Space,
  type SpatialGrid,
} from './geo/index.ts';
export {
  CanonicalJson,
  canonicalValue,
  endOfCanonicalValue,
  endOfText,
} from './json/canonical-json.ts';
export { readCanonicalObject } from './json/canonical-json-steps.ts';
export { jsonCodec } from './json/json.ts';
export {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from './json/json-bytes.ts';
export { printedLeafSize, printedSize } from './json/printed-size.ts';
export { DIGEST_BYTES, digestOf } from './key/canonical.ts';
export { KeyReader } from './key/key-reader.ts';
export { KEY_TAGS, keyTagOf } from './key/key-tags.ts';
export { TRUNCATED, valueOfKeyText } from './key/key-text.ts';
export { KeyWriter } from './key/key-writer.ts';
export {
  canonicalNumberText,
  compareNumbers,
  locateNumber,
} from './key/number-key.ts';
export { decodeTuple, encodeTuple, isExactTuple } from './key/tuple.ts';
export { decodeWhole, encodeWhole } from './key/whole-key.ts';
export { type Collation, compareTexts, compareValues } from './order.ts';
export {
  ARRAY_ELEMENT,
  CELLS,
  DECLARED,
  type Path,
  parsePartitionKeyPath,
  parsePath,
  parseScopedPath,
  printPath,
  readPath,
} from './path.ts';
export { cassandraToken, epkOfToken, tokenOfEpk } from './token.ts';
export {
  Extended,
  equalValues,
  isList,
  isMap,
  isNumeric,
  type Value,
  type ValueMap,
} from './value.ts';
