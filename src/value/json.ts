/** JSON text as bytes. Native parsing outruns a scanner in JavaScript at the size of items, so pluck parses. */
import { assert, type Bytes } from '../base/index.ts';
import type { Codec } from './codec.ts';
import { type Path, readPath } from './path.ts';
import type { Value } from './value.ts';

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
  return JSON.parse(decodeText(body)) as Value;
}

function decodeText(body: Bytes): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new SyntaxError('the text is not valid UTF-8');
  }
}
