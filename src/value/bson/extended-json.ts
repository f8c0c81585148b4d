/**
 * JSON of the NoSQL API to BSON: an object with the one form that extended JSON gives to a type is a value of that
 * type, in its relaxed and its canonical spelling. Every other object is a document.
 */
import { DomainError } from '../../base/index.ts';
import { Extended, isList, isMap, type Value, type ValueMap } from '../value.ts';
import { type Bson, Double } from './bson.ts';
import { bsonOfValue } from './bson-value.ts';
import { digitsOfText } from './decimal-bytes.ts';
import { isInt32 } from './numbers.ts';

export function bsonOfExtendedJson(value: Value): Bson {
  if (isList(value)) return value.map(bsonOfExtendedJson);
  if (!isMap(value)) return bsonOfValue(value);
  const names = Object.keys(value);
  const read = names.length === 1 ? READERS[names[0] as string] : undefined;
  const found = read?.(value[names[0] as string]);
  if (found !== undefined) return found;
  const document = new Map<string, Bson>();
  for (const name of names) {
    if (name.includes('\0'))
      throw new DomainError('invalidInput', 'A name in a BSON document has no zero character.');
    const property = value[name];
    if (property !== undefined) document.set(name, bsonOfExtendedJson(property));
  }
  return document;
}

const HEX_12 = /^[0-9a-fA-F]{24}$/;
const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;
const INT64_MAX = 2n ** 63n;

/** Each returns undefined where the object is not of its form. */
const READERS: Readonly<Record<string, (value: Value) => Bson | undefined>> = {
  $oid: (hex) =>
    typeof hex === 'string' && HEX_12.test(hex)
      ? new Extended({ kind: 'objectId', bytes: Buffer.from(hex, 'hex') })
      : undefined,
  $date: readDate,
  $numberLong: readLong,
  $numberInt: (text) => {
    const value = typeof text === 'string' ? Number(text) : Number.NaN;
    return isInt32(value) ? value : undefined;
  },
  $numberDouble: (text) => (typeof text === 'string' ? new Double(Number(text)) : undefined),
  $numberDecimal: readDecimal,
  $uuid: (text) =>
    typeof text === 'string' && UUID.test(text)
      ? new Extended({
          kind: 'binary',
          subtype: 4,
          bytes: Buffer.from(text.replaceAll('-', ''), 'hex'),
        })
      : undefined,
  $binary: readBinary,
  $timestamp: readTimestamp,
  $regularExpression: readRegex,
  $minKey: (one) => (one === 1 ? new Extended({ kind: 'minKey' }) : undefined),
  $maxKey: (one) => (one === 1 ? new Extended({ kind: 'maxKey' }) : undefined),
};

function readDate(value: Value): Bson | undefined {
  if (typeof value === 'string') {
    const ms = Date.parse(value);
    return Number.isNaN(ms) ? undefined : new Extended({ kind: 'date', ms });
  }
  const long = isMap(value) ? readLong(value.$numberLong) : undefined;
  return typeof long === 'bigint' ? new Extended({ kind: 'date', ms: Number(long) }) : undefined;
}

function readLong(text: Value): Bson | undefined {
  if (typeof text !== 'string' || !/^-?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value >= -INT64_MAX && value < INT64_MAX ? value : undefined;
}

function readDecimal(text: Value): Bson | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    return new Extended({ kind: 'decimal', digits: digitsOfText(text) });
  } catch {
    return undefined;
  }
}

function readBinary(value: Value): Bson | undefined {
  if (!isMap(value)) return undefined;
  const { base64, subType } = value as ValueMap;
  if (typeof base64 !== 'string' || typeof subType !== 'string') return undefined;
  if (!/^[0-9a-fA-F]{1,2}$/.test(subType)) return undefined;
  return new Extended({
    kind: 'binary',
    subtype: Number.parseInt(subType, 16),
    bytes: Buffer.from(base64, 'base64'),
  });
}

function readTimestamp(value: Value): Bson | undefined {
  if (!isMap(value)) return undefined;
  const { t, i } = value;
  const isWord = (word: Value): word is number => typeof word === 'number' && word >>> 0 === word;
  return isWord(t) && isWord(i) ? new Extended({ kind: 'timestamp', high: t, low: i }) : undefined;
}

function readRegex(value: Value): Bson | undefined {
  if (!isMap(value)) return undefined;
  const { pattern, options } = value;
  return typeof pattern === 'string' && typeof options === 'string'
    ? new Extended({ kind: 'regex', source: pattern, flags: options })
    : undefined;
}
