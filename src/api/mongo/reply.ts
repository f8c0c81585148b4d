/** Small replies. */
import { type Bson, type BsonDocument, Double } from '../../value/index.ts';

/** The properties, then `ok: 1`. */
export function ok(properties: Readonly<Record<string, Bson>> = {}): BsonDocument {
  const reply = new Map<string, Bson>(Object.entries(properties));
  return reply.set('ok', new Double(1));
}

export function documentOf(properties: Readonly<Record<string, Bson>>): BsonDocument {
  return new Map(Object.entries(properties));
}
