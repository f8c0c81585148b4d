/** What an update or a delete would do to the documents that are there: they are read, and nothing is written. */
import { equalBytes } from '../../../base/index.ts';
import {
  type Bson,
  type BsonDocument,
  isArray,
  isDocument,
  writeBson,
} from '../../../value/index.ts';
import type { Call } from '../call.ts';
import type { Collection } from '../collections/collection.ts';
import { findDocuments } from '../documents/find-documents.ts';
import type { Row } from '../documents/rows.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { matchedIndex } from '../query/positional.ts';
import type { QueryContext } from '../query/query-context.ts';
import { applyUpdate, parseUpdate } from '../update/update.ts';

interface Statement {
  /** As it was sent: `q`, and `u` for an update. */
  readonly sent: BsonDocument;
  readonly isOne: boolean;
  readonly context: QueryContext;
}

export async function wouldChange(
  { store }: Call,
  collection: Collection | undefined,
  { sent, isOne, context }: Statement,
): Promise<{ readonly matched: number; readonly modified: number }> {
  const query = sent.get('q');
  const filter = parseFilter(isDocument(query) ? query : new Map(), context);
  const filters = sent.get('arrayFilters');
  const compare = context.collation?.compare;
  const update = sent.has('u')
    ? parseUpdate(sent.get('u'), isArray(filters) ? filters : [], context)
    : undefined;
  const isModified = ({ document, body }: Row): boolean => {
    if (update === undefined) return true;
    const after = applyUpdate(update, document, {
      nowMs: store.nowMs(),
      isInsert: false,
      compare,
      matched: (path) => matchedIndex(filter, document, path, compare),
    });
    return !equalBytes(writeBson(after), body);
  };
  let [matched, modified] = [0, 0];
  if (collection === undefined) return { matched, modified };
  const rows = findDocuments(store, collection, filter, { compare });
  for await (const batch of rows)
    for (const row of batch) {
      matched += 1;
      if (isModified(row)) modified += 1;
      if (isOne) return { matched, modified };
    }
  return { matched, modified };
}

/** The figures as the last stage of a plan shows them. */
export function wouldFigures(
  name: string,
  { matched, modified }: { readonly matched: number; readonly modified: number },
): Readonly<Record<string, Bson>> {
  if (name === 'delete') return { nWouldDelete: matched };
  return { nMatched: matched, nWouldModify: modified, nWouldUpsert: 0 };
}
