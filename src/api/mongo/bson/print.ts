/** Values as MongoDB's messages show them: { _id: ObjectId('…'), a: "x", b: [ 1, 2 ] }. */
import {
  type Bson,
  BsonCode,
  type BsonDocument,
  BsonSymbol,
  Double,
  Extended,
  isArray,
  isDocument,
} from '../../../value/index.ts';

export function printBson(value: Bson | undefined): string {
  if (value === undefined) return 'EOO';
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (isArray(value)) return value.length === 0 ? '[]' : `[ ${value.map(printBson).join(', ')} ]`;
  if (isDocument(value)) return printDocument(value);
  if (value instanceof Double) return printDouble(value.value);
  if (value instanceof Extended) return printExtended(value);
  if (value instanceof BsonSymbol) return JSON.stringify(value.text);
  return value instanceof BsonCode ? value.source : 'undefined';
}

export function printDocument(document: BsonDocument): string {
  if (document.size === 0) return '{}';
  const parts = [...document].map(([name, value]) => `${name}: ${printBson(value)}`);
  return `{ ${parts.join(', ')} }`;
}

/** A double shows that it is one. */
function printDouble(value: number): string {
  if (Number.isNaN(value)) return 'nan.0';
  if (!Number.isFinite(value)) return value > 0 ? 'inf.0' : '-inf.0';
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? `${value}.0` : String(value);
}

function printExtended({ payload }: Extended): string {
  switch (payload.kind) {
    case 'objectId':
      return `ObjectId('${Buffer.from(payload.bytes).toString('hex')}')`;
    case 'date':
      return `new Date(${payload.ms})`;
    case 'decimal':
      return payload.digits;
    case 'timestamp':
      return `Timestamp(${payload.high}, ${payload.low})`;
    case 'regex':
      return `/${payload.source}/${payload.flags}`;
    case 'uuid':
      return printBinary(payload.bytes, 4);
    case 'binary':
      return printBinary(payload.bytes, payload.subtype);
    case 'int64':
      return String(payload.value);
    default:
      return payload.kind === 'minKey' ? 'MinKey' : 'MaxKey';
  }
}

function printBinary(bytes: Uint8Array, subtype: number): string {
  const hex = Buffer.from(bytes).toString('hex').toUpperCase();
  if (subtype === 4 && bytes.length === 16)
    return `UUID("${hex.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')}")`;
  return `BinData(${subtype}, ${hex})`;
}
