/** Values on their way into the sandbox and out of it; `guest/` is the other side. */
import {
  BSON_UNDEFINED,
  type Bson,
  BsonCode,
  type BsonDocument,
  BsonSymbol,
  Double,
  Extended,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { decimal } from '../bson/arithmetic.ts';
import { decimalOfText } from '../bson/decimal.ts';
import { MongoError } from '../errors.ts';

/** A value as JSON that the sandbox takes. */
export function sentOf(value: Bson | undefined): unknown {
  switch (typeof value) {
    case 'undefined':
      return typed('undefined', 1);
    case 'bigint':
      return typed('long', String(value));
    case 'object':
      return value === null ? null : sentObject(value);
    default:
      return value;
  }
}

function typed(type: string, value: unknown): unknown {
  return { $: type, v: value };
}

function sentObject(value: Exclude<Bson, null | boolean | string | number | bigint>): unknown {
  if (isDocument(value)) return sentDocument(value);
  if (isArray(value)) return value.map(sentOf);
  if (value instanceof Double) return sentDouble(value.value);
  if (value instanceof Extended) return sentExtended(value);
  if (value instanceof BsonSymbol) return value.text;
  if (value instanceof BsonCode) return typed('code', value.source);
  return value === BSON_UNDEFINED ? typed('undefined', 1) : null;
}

const UUID_SUBTYPE = 4;

function sentDocument(document: BsonDocument): unknown {
  const parts = [...document].map(([name, value]) => [name, sentOf(value)] as const);
  return document.has('$') ? typed('document', parts) : Object.fromEntries(parts);
}

function sentDouble(value: number): unknown {
  if (!Number.isFinite(value)) return typed('double', String(value));
  if (Object.is(value, -0)) return typed('double', '-0');
  return Number.isInteger(value) ? typed('double', value) : value;
}

function sentExtended({ payload }: Extended): unknown {
  switch (payload.kind) {
    case 'date':
      return typed('date', payload.ms);
    case 'int64':
      return typed('long', String(payload.value));
    case 'decimal':
      return typed('decimal', payload.digits);
    case 'objectId':
    case 'uuid':
      return typed(payload.kind, Buffer.from(payload.bytes).toString('hex'));
    case 'binary':
      if (payload.subtype === UUID_SUBTYPE && payload.bytes.length === 16)
        return typed('uuid', Buffer.from(payload.bytes).toString('hex'));
      return typed('binary', [payload.subtype, Buffer.from(payload.bytes).toString('base64')]);
    case 'timestamp':
      return typed('timestamp', [payload.high >>> 0, payload.low >>> 0]);
    case 'regex':
      return typed('regex', [payload.source, payload.flags]);
    default:
      return typed(payload.kind, 1);
  }
}

/** A result of the sandbox, which may be anything: a script may have changed what prints it. */
export function receivedOf(sent: unknown): Bson {
  if (sent === undefined) return BSON_UNDEFINED;
  if (sent === null || typeof sent === 'boolean' || typeof sent === 'string') return sent;
  if (typeof sent === 'number') return isInt32(sent) ? sent : new Double(sent);
  if (Array.isArray(sent)) return sent.map(receivedOf);
  const fields = sent as Record<string, unknown>;
  if (typeof fields.$ === 'string') return receivedTyped(fields.$, fields.v);
  return new Map(Object.keys(fields).map((name) => [checkedName(name), receivedOf(fields[name])]));
}

function isInt32(value: number): boolean {
  return (value | 0) === value && !Object.is(value, -0);
}

function checkedName(name: string): string {
  if (name.includes('\0'))
    throw new MongoError('Location16985', 'JavaScript property (name) contains a null char');
  return name;
}

function receivedTyped(type: string, value: unknown): Bson {
  switch (type) {
    case 'double':
      return new Double(Number(value));
    case 'int':
      return Number(value) | 0;
    case 'long':
      return BigInt.asIntN(64, BigInt(digits(value, /^-?\d{1,20}$/)));
    case 'undefined':
      return BSON_UNDEFINED;
    case 'code':
      return new BsonCode(String(value));
    case 'document':
      return receivedDocument(value);
    default:
      return receivedExtended(type, value);
  }
}

function receivedDocument(value: unknown): BsonDocument {
  const made = new Map<string, Bson>();
  for (const part of listOf(value)) {
    const [name, inner] = listOf(part);
    made.set(checkedName(String(name)), receivedOf(inner));
  }
  return made;
}

function receivedExtended(type: string, value: unknown): Bson {
  switch (type) {
    case 'date':
      return new Extended({ kind: 'date', ms: typeof value === 'number' ? Math.trunc(value) : 0 });
    case 'decimal':
      return decimal(decimalOfText(digits(value, DECIMAL)));
    case 'objectId':
      return new Extended({
        kind: 'objectId',
        bytes: new Uint8Array(Buffer.from(digits(value, /^[0-9a-f]{24}$/), 'hex')),
      });
    case 'uuid':
      return new Extended({
        kind: 'binary',
        bytes: new Uint8Array(Buffer.from(digits(value, /^[0-9a-f]{32}$/), 'hex')),
        subtype: UUID_SUBTYPE,
      });
    case 'binary': {
      const [subtype, base64] = listOf(value);
      const bytes = new Uint8Array(Buffer.from(String(base64), 'base64'));
      return new Extended({ kind: 'binary', bytes, subtype: Number(subtype) & 0xff });
    }
    case 'timestamp': {
      const [high, low] = listOf(value);
      return new Extended({ kind: 'timestamp', high: Number(high) >>> 0, low: Number(low) >>> 0 });
    }
    case 'regex': {
      const [source, flags] = listOf(value).map((part) => String(part).replaceAll('\0', ''));
      return new Extended({ kind: 'regex', source: source ?? '', flags: sortedFlags(flags ?? '') });
    }
    case 'minKey':
    case 'maxKey':
      return new Extended({ kind: type });
    default:
      throw broken();
  }
}

function sortedFlags(flags: string): string {
  return [...new Set(flags.replace(/[^imsux]/g, ''))].sort().join('');
}

const DECIMAL = /^([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,5})?|[+-]?(NaN|Infinity))$/;

function digits(value: unknown, form: RegExp): string {
  const text = String(value);
  if (!form.test(text)) throw broken();
  return text;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw broken();
  return value;
}

function broken(): MongoError {
  return new MongoError('JSInterpreterFailure', 'The script returned a value that is not BSON');
}
