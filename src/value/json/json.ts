/**
 * JSON text as bytes. Native parsing is faster than a scanner in JavaScript where values are wanted, so pluck parses.
 */
import { isUtf8 } from 'node:buffer';
import { assert, type Bytes, bytesToText } from '../../base/index.ts';
import type { Codec } from '../codec.ts';
import { type Path, readPath } from '../path.ts';
import type { Value } from '../value.ts';

export const jsonCodec: Codec = {
  encoding: 'json',

  decode: decodeJson,

  encode(value: Value): Bytes {
    const text = JSON.stringify(value);
    assert(text !== undefined, 'undefined is no JSON text');
    return Buffer.from(text, 'utf8');
  },

  pluck(body: Bytes, path: Path): Value {
    return readPath(decodeJson(body), path);
  },
};

/** JSON.parse defines properties without assigning them, so `__proto__` is a property like any other. */
function decodeJson(body: Bytes): Value {
  if (!isUtf8(body)) throw new SyntaxError('the text is not valid UTF-8');
  return JSON.parse(bytesToText(body)) as Value;
}
