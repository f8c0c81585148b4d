/** What reading and writing commands have in common: collation, variables, hints and bounds of an index. */
import { type Bson, type BsonDocument, bsonTypeOf, isDocument } from '../../../../value/index.ts';
import { compileExpression, expressionContext } from '../../aggregate/index.ts';
import type { Call } from '../../call.ts';
import { type Collection, isView } from '../../collections/collection.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { MongoError } from '../../errors.ts';
import { coverage, hintedIndex } from '../../indexes/hinted.ts';
import type { Filter } from '../../query/filter.ts';
import type { DocumentTest } from '../../query/filter-test.ts';
import { type QueryContext, queryContext } from '../../query/query-context.ts';

/** @param statement - one of several of the command; it may have a collation of its own. */
export function contextOf(
  { body, name, store }: Pick<Call, 'body' | 'name' | 'store'>,
  collection: Collection | undefined,
  statement: BsonDocument = body,
): QueryContext {
  const sent = documentIn(statement, 'collation', name);
  if (sent !== undefined && sent.size === 0)
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field 'collation.locale' is missing but a required field",
    );
  const inherited = collection?.options.get('collation');
  const collation = sent ?? (isDocument(inherited) ? inherited : undefined);
  const nowMs = store.nowMs();
  return queryContext(nowMs, variablesIn(documentIn(body, 'let', name), nowMs), collation);
}

function documentIn(document: BsonDocument, field: string, name: string): BsonDocument | undefined {
  const value = document.get(field);
  if (value === undefined || value === null || isDocument(value)) return value ?? undefined;
  throw new MongoError(
    'TypeMismatch',
    `BSON field '${name}.${field}' is the wrong type '${bsonTypeOf(value)}', expected type 'object'`,
  );
}

/** The values of variables are expressions without fields. */
function variablesIn(sent: BsonDocument | undefined, nowMs: number): BsonDocument | undefined {
  if (sent === undefined || sent.size === 0) return undefined;
  const variables = new Map<string, Bson>();
  for (const [name, value] of sent) {
    if (!/^[a-z\u0080-\u{10ffff}][\w\u0080-\u{10ffff}]*$/u.test(name))
      throw new MongoError(
        'FailedToParse',
        `'${name}' starts with an invalid character for a user variable name`,
      );
    const context = expressionContext(nowMs, variables);
    variables.set(name, compileExpression(value, context)(new Map()) ?? null);
  }
  return variables;
}

/** Refuses a hint that names no index. Returns what the documents of the index have in common. */
export function checkHint(
  collection: Collection | undefined,
  hint: Bson | undefined,
  filter: Filter,
): DocumentTest | undefined {
  if (hint === undefined || hint === null) return undefined;
  if (typeof hint !== 'string' && !isDocument(hint))
    throw new MongoError('FailedToParse', 'Hint must be a string or an object');
  const index = collection && hintedIndex(collection, hint);
  return index && coverage(index, filter, collection);
}

/** Views are read only. */
export function refuseView(collection: Collection): void {
  if (isView(collection))
    throw new MongoError(
      'CommandNotSupportedOnView',
      `Namespace ${namespaceText(collection.namespace)} is a view, not a collection`,
    );
}
