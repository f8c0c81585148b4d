/** A native encoding: what an API sends and stores, to and from the canonical Value. */
import type { Bytes } from '../base/index.ts';
import type { Path } from './path.ts';
import type { Value } from './value.ts';

export type Encoding = 'json' | 'bson' | 'cql' | 'edm';

export interface Codec {
  readonly encoding: Encoding;
  /** Throws a SyntaxError when the bytes are not of this encoding. The value keeps nothing of `body`. */
  decode(body: Bytes): Value;
  /** The value must not be undefined; types that the encoding lacks become its documented images. */
  encode(value: Value): Bytes;
  /** The value at one path (without EACH), undefined where there is none. */
  pluck(body: Bytes, path: Path): Value;
}
