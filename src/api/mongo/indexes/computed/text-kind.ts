/**
 * Text: the fields in front, a word.
 *
 *   [a, 'stem']      one entry for every different word of all texts of the index, folded as far as any search folds
 *
 * A document has a score only where it has one of the words of the search, and words that are the same to a search are
 * folded alike. Phrases, negated words and scores are read from the documents.
 */
import { equalTo } from '../../../../query/index.ts';
import { readBson } from '../../../../value/index.ts';
import { isIndexedWord } from '../../query/text/english-stop-words.ts';
import { indexedWords } from '../../query/text/indexed-words.ts';
import { textFieldsOf } from '../text-fields.ts';
import { combined, ENTRIES_MAX, ENTRY_RULES, type IndexKey, type IndexKind } from './kind.ts';
import { leadingPoints, leadingValues } from './leading-fields.ts';

export function textKind({ key, spec, entryRules = 1 }: IndexKey): IndexKind {
  const names = [...key.keys()];
  const leading = names.slice(0, names.indexOf('_fts'));
  const fields = textFieldsOf(spec);
  return {
    entriesOf({ value, body }) {
      const words = indexedWords(readBson(body), fields, ENTRIES_MAX);
      const before = words && leadingValues(leading, value);
      return (
        before &&
        combined(
          before,
          words.map((word) => [word]),
        )
      );
    },
    search(parts, compare) {
      const before = leadingPoints(leading, parts, compare);
      if (before === undefined) return undefined;
      for (const part of parts)
        if (part.kind === 'text' && part.query.isBound) {
          const words = part.query.entryWords;
          if (entryRules < ENTRY_RULES && !words.every(isIndexedWord)) return undefined;
          return { values: [...before, words.map(equalTo)], isWhole: true };
        }
      return undefined;
    },
  };
}
