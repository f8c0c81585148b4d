/** What a text index is about, from its description. */
import type { Bson, BsonDocument } from '../../../value/index.ts';
import { doubleOf } from '../bson/arithmetic.ts';
import type { TextFields } from '../query/text/text-query.ts';

export function textFieldsOf(spec: BsonDocument): TextFields {
  const weights = new Map<string, number>();
  for (const [field, weight] of spec.get('weights') as BsonDocument)
    weights.set(field, doubleOf(weight as Bson));
  const isEverything = weights.delete('$**');
  return {
    weights,
    isEverything,
    defaultLanguage: spec.get('default_language') as string,
    languageField: spec.get('language_override') as string,
  };
}
