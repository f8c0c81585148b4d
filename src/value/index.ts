export type { Codec, Encoding } from './codec.ts';
export { codecOf } from './codecs.ts';
export {
  annotatedName,
  annotatedValue,
  annotationName,
  type EdmProperty,
  type EdmType,
  edmProperty,
  isAnnotated,
  type SentProperty,
  TYPE_ANNOTATION,
} from './edm/edm.ts';
export {
  type Entity,
  edmCodec,
  entityOfDocument,
  entityTime,
  entityValue,
  isItemName,
  isPropertyName,
  type NamedProperty,
  NO_TIME,
  printEntity,
  readEntity,
  storedName,
  withOwnNames,
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
  type Box,
  type Direction,
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
  type Space,
  type SpatialGrid,
} from './geo/index.ts';
export {
  CanonicalJson,
  endOfPrintedName,
  endOfPrintedValue,
  endOfText,
  printedValue,
} from './json/canonical-json.ts';
export { readPrintedObject } from './json/canonical-json-steps.ts';
export { toExtendedJson } from './json/extended-json.ts';
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
export { canonicalDigest, DIGEST_BYTES, digestOf } from './key/canonical.ts';
export { KeyReader } from './key/key-reader.ts';
export { KEY_TAGS, keyKindOf, keyTagOf } from './key/key-tags.ts';
export { TRUNCATED, valueOfKeyText } from './key/key-text.ts';
export { KeyWriter } from './key/key-writer.ts';
export {
  canonicalNumberText,
  compareNumbers,
  type Decimal,
  decimalText,
  locateNumber,
  type NumberValue,
  toDouble,
} from './key/number-key.ts';
export { decodeTuple, encodeTuple, isExactTuple } from './key/tuple.ts';
export { type Collation, compareTexts, compareValues } from './order.ts';
export {
  ARRAY_ELEMENT,
  CELLS,
  type Path,
  parsePartitionKeyPath,
  parsePath,
  parseScopedPath,
  printPath,
  readPath,
} from './path.ts';
export {
  Extended,
  type ExtendedPayload,
  equalValues,
  isList,
  isMap,
  isNumeric,
  UUID_SUBTYPE,
  type Value,
  type ValueMap,
} from './value.ts';
