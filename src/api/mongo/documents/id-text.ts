/**
 * The `_id` of a document as the id that the NoSQL API shows, and back. An objectId is its 24 hexadecimal digits, a text
 * is itself, everything else is its extended JSON. A text that could be taken for one of these is in quotation marks, so
 * that every id names one `_id` only.
 */
import {
  type Bson,
  bsonOfExtendedJson,
  Extended,
  type Value,
  valueOfBson,
} from '../../../value/index.ts';

const OBJECT_ID = /^[0-9a-f]{24}$/;

export function idTextOf(id: Bson): string {
  if (typeof id === 'string') return isItself(id) ? id : JSON.stringify(id);
  if (id instanceof Extended && id.payload.kind === 'objectId')
    return Buffer.from(id.payload.bytes).toString('hex');
  return JSON.stringify(valueOfBson(id));
}

export function idOfText(text: string): Bson {
  if (OBJECT_ID.test(text))
    return new Extended({ kind: 'objectId', bytes: new Uint8Array(Buffer.from(text, 'hex')) });
  const json = jsonOf(text);
  return json === undefined ? text : bsonOfExtendedJson(json);
}

function isItself(text: string): boolean {
  return !OBJECT_ID.test(text) && jsonOf(text) === undefined;
}

function jsonOf(text: string): Value {
  if (!/^[-0-9{["tfn]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Value;
  } catch {
    return undefined;
  }
}
