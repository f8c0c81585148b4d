/** The codec of each encoding. */
import { assert } from '../base/index.ts';
import { bsonCodec } from './bson/bson-codec.ts';
import type { Codec, Encoding } from './codec.ts';
import { edmCodec } from './edm/edm-codec.ts';
import { jsonCodec } from './json/json.ts';

const CODECS: Readonly<Partial<Record<Encoding, Codec>>> = {
  json: jsonCodec,
  edm: edmCodec,
  bson: bsonCodec,
};

export function codecOf(encoding: Encoding): Codec {
  const codec = CODECS[encoding];
  assert(codec !== undefined, 'no codec for the encoding');
  return codec;
}
