/** A native encoding: the stored form of an API's items, converted to and from the canonical Value. */
import type { Bytes } from '../base/index.ts';
import type { Path } from './path.ts';
import type { Value } from './value.ts';

export type Encoding = 'json' | 'bson' | 'cql' | 'edm';

export interface Codec {
  readonly encoding: Encoding;
  /** Throws a SyntaxError when the bytes are not of this encoding. The value shares no memory with `body`. */
  decode(body: Bytes): Value;
  /** The value must not be undefined. Types that the encoding lacks are written in their documented JSON form. */
  encode(value: Value): Bytes;
  /** The value at one path (without ARRAY_ELEMENT), undefined where there is none. */
  pluck(body: Bytes, path: Path): Value;
  /** Reads the properties with these names and steps over the others; absent where that saves nothing. */
  fields?(names: ReadonlySet<string>): (body: Bytes) => Value;
  /** What indexes see of a body, where that is not its value. It must not depend on anything else, such as the time. */
  indexed?(body: Bytes): Value;
}
