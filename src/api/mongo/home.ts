/** Containers of the MongoDB API: their bodies are the BSON that clients sent. */
import type { KeyCodec } from '../../partition/index.ts';
import type { HomeApi } from '../../service/index.ts';
import { bsonCodec, encodeWhole, type ValueMap } from '../../value/index.ts';
import { HOME } from './collections/collection.ts';
import { mongoUpdaters } from './documents/updaters.ts';
import { mongoImage } from './image.ts';
import { entriesFor } from './indexes/computed/computed-indexes.ts';
import { indexOf } from './indexes/index-spec.ts';
import { uniqueValuesOf } from './indexes/unique-values.ts';

const BSON_ORDER = { collation: 'bson' } as const;

/** `_id`s sort as MongoDB's values do, and `{a, b}` and `{b, a}` are two keys. Long ones are read from the documents. */
const KEYS: KeyCodec = {
  partitionKeyCollation: 'bson',
  encode: (rowKey) => encodeWhole(rowKey, BSON_ORDER),
  rowKeyOf: ({ body }) => [(bsonCodec.decode(body) as ValueMap)._id],
};

export const mongoHome: HomeApi = {
  name: HOME,
  codec: bsonCodec,
  keys: () => KEYS,
  entries: entriesFor,
  uniqueValues: (definition) => uniqueValuesOf(indexOf(definition)),
  updaters: mongoUpdaters,
  image: mongoImage,
};
