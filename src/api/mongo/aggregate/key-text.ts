/**
 * Texts that stand for BSON values in maps: 1, Long 1 and 1.0 have one, and the order of names matters. They are made of
 * the BSON itself, since a JavaScript object puts names that are whole numbers in front of the others.
 */
import { hash } from 'node:crypto';
import { draw, spend } from '../../../base/index.ts';
import {
  type Bson,
  BsonCode,
  type BsonDocument,
  BsonPointer,
  BsonSymbol,
  bsonTypeOf,
  Double,
  Extended,
  encodeTuple,
  equalBson,
  isArray,
  isDocument,
  valueOfBson,
} from '../../../value/index.ts';

/** Equal texts exactly for equal values. */
export function keyText(value: Bson): string {
  if (typeof value === 'string') return `s${value}`;
  if (typeof value === 'number') return `n${value}`;
  if (value instanceof Double && Number.isSafeInteger(value.value)) return `n${value.value + 0}`;
  if (typeof value === 'bigint' && value < 2n ** 53n && value > -(2n ** 53n)) return `n${value}`;
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (value === null) return 'z';
  if (isArray(value) || isDocument(value)) return nestedKeyText(value);
  return rareKeyText(value);
}

/** A map keeps its keys, so that long ones are digests. */
const NESTED_CHARACTERS_MAX = 64;

function nestedKeyText(value: BsonDocument | readonly Bson[]): string {
  const text = wholeText(value);
  if (text.length <= NESTED_CHARACTERS_MAX) return text;
  return `h${hash('sha256', Buffer.from(text, 'utf16le'), 'latin1')}`;
}

/** The text of a value within another. Names and plain values say how long they are, so that none runs into the next. */
function wholeText(value: Bson): string {
  spend(10);
  if (isArray(value)) {
    let text = '[';
    for (const element of value) text += wholeText(element);
    return `${text}]`;
  }
  if (isDocument(value)) {
    let text = '{';
    for (const [name, inner] of value) text += `${name.length}:${name}${wholeText(inner)}`;
    return `${text}}`;
  }
  const text = keyText(value);
  draw(16 + text.length);
  return `${text.length}:${text}`;
}

function rareKeyText(value: Bson): string {
  if (value instanceof BsonSymbol) return `s${value.text}`;
  if (value instanceof Extended) {
    const { payload } = value;
    if (payload.kind === 'date') return `d${payload.ms}`;
    if (payload.kind === 'objectId') return `o${Buffer.from(payload.bytes).toString('latin1')}`;
    if (payload.kind === 'decimal') {
      const double = Number(payload.digits);
      if (Number.isSafeInteger(double) && equalBson(value, new Double(double)))
        return `n${double + 0}`;
      if (payload.digits.endsWith('NaN')) return 'nNaN';
    }
  }
  if (value instanceof Double && Number.isNaN(value.value)) return 'nNaN';
  // The shared values have no old types of their own: undefined is null there, and code is a document.
  if (bsonTypeOf(value) === 'undefined') return 'u';
  if (value instanceof BsonCode)
    return value.scope === undefined
      ? `c${value.source}`
      : `C${wholeText(value.source)}${wholeText(value.scope)}`;
  if (value instanceof BsonPointer)
    return `p${wholeText(value.namespace)}${Buffer.from(value.id).toString('latin1')}`;
  return `b${Buffer.from(encodeTuple([valueOfBson(value)], 'bson')).toString('latin1')}`;
}
