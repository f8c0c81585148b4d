/** The codec of BSON bodies. Reading an int32 and a double gives the same number: only the body tells them apart. */
import { assert, type Bytes } from '../../base/index.ts';
import type { Codec } from '../codec.ts';
import type { Path } from '../path.ts';
import { isMap, type Value } from '../value.ts';
import type { BsonDocument } from './bson.ts';
import { fieldReader, pluckBson } from './bson-pluck.ts';
import { readBson } from './bson-reader.ts';
import { bsonOfValue, valueOfBson, valueOfDocument } from './bson-value.ts';
import { writeBson } from './bson-writer.ts';

export const bsonCodec: Codec = {
  encoding: 'bson',

  decode(body: Bytes): Value {
    return valueOfDocument(readBson(body));
  },

  encode(value: Value): Bytes {
    assert(isMap(value), 'a BSON body is a document');
    return writeBson(bsonOfValue(value) as BsonDocument);
  },

  fields(names: ReadonlySet<string>): (body: Bytes) => Value {
    const read = fieldReader(names);
    return (body) => valueOfDocument(read(body));
  },

  pluck(body: Bytes, path: Path): Value {
    const found = pluckBson(body, path as readonly string[]);
    return found === undefined ? undefined : valueOfBson(found);
  },
};
