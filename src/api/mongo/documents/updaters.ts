/**
 * Updates and conditional deletes as named updaters. The arguments are a BSON document; the filter is tested again at
 * the decision, because the document may have changed since it was found.
 */
import { type Bytes, EvaluationBudget, equalBytes } from '../../../base/index.ts';
import type { Item, Outcome, Updater, Updaters } from '../../../partition/index.ts';
import { inSlices } from '../../../query/index.ts';
import {
  type Bson,
  type BsonDocument,
  Double,
  equalBson,
  isArray,
  isDocument,
  readBson,
  readBsonSteps,
  writeBson,
} from '../../../value/index.ts';
import { doubleOf } from '../bson/arithmetic.ts';
import { printBson } from '../bson/print.ts';
import { MongoError } from '../errors.ts';
import { DOCUMENT_EVALUATION, LARGE_DOCUMENT_BYTES } from '../limits.ts';
import type { Filter } from '../query/filter.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { compileFilter, type DocumentTest } from '../query/filter-test.ts';
import { valueAt } from '../query/path.ts';
import { matchedIndex } from '../query/positional.ts';
import { PLAIN_CONTEXT, type QueryContext, queryContext } from '../query/query-context.ts';
import { ScriptCalls } from '../scripts/script-calls.ts';
import { applyUpdate, parseUpdate, type Update, upsertSeed } from '../update/update.ts';
import { type KeptImage, NO_CHANGE, printChange } from './change-result.ts';
import { duplicateId } from './duplicate.ts';
import { checkSize, finishDocument, writeDocument } from './new-document.ts';
import {
  type CheckDocument,
  compileRules,
  type DocumentRules,
  parseRules,
  printRules,
} from './rules.ts';

export interface Change {
  readonly filter: BsonDocument;
  readonly update: Bson;
  readonly arrayFilters: readonly Bson[];
  readonly isUpsert: boolean;
  /** Dotted; empty for an unsharded collection. */
  readonly shardKey: string;
  /** For messages. */
  readonly namespace: string;
  readonly image: KeptImage;
  readonly context: QueryContext;
  readonly rules: DocumentRules;
}

export const UPDATE = 'mongo.update';
export const DELETE = 'mongo.delete';

interface PreparedChange extends Change {
  readonly parsed: Filter;
  readonly test: DocumentTest;
  readonly parsedUpdate: Update;
  readonly check: CheckDocument;
}

interface PreparedRemoval {
  readonly test: DocumentTest;
  readonly image: KeptImage;
}

/** Prepared when the request is checked; a decision elsewhere prepares it again from the bytes. */
const preparedChanges = new WeakMap<Bytes, PreparedChange>();
const preparedRemovals = new WeakMap<Bytes, PreparedRemoval>();

/** The arguments of an update. Throws where filter or update are invalid. */
export function updateArguments(change: Change): Bytes {
  const bytes = writeBson(
    new Map<string, Bson>([
      ['filter', change.filter],
      ['update', change.update],
      ['arrayFilters', change.arrayFilters],
      ['isUpsert', change.isUpsert],
      ['shardKey', change.shardKey],
      ['namespace', change.namespace],
      ['image', change.image],
      ['context', printContext(change.context)],
      ['rules', printRules(change.rules)],
    ]),
  );
  preparedChanges.set(bytes, prepare(change));
  return bytes;
}

function printContext({ sent, expression }: QueryContext): BsonDocument {
  return new Map<string, Bson>([
    ['nowMs', new Double(sent.nowMs)],
    ['variables', sent.variables ?? null],
    ['collation', sent.collation ?? null],
    ['clusterTime', expression.clusterTime ?? null],
    ['keepsEmptyTimestamps', sent.keepsEmptyTimestamps === true],
  ]);
}

function parseContext(printed: Bson | undefined): QueryContext {
  if (!isDocument(printed)) return PLAIN_CONTEXT;
  const [variables, collation] = [printed.get('variables'), printed.get('collation')];
  const made = queryContext(
    doubleOf(printed.get('nowMs') as Bson),
    isDocument(variables) ? variables : undefined,
    isDocument(collation) ? collation : undefined,
  );
  const clusterTime = printed.get('clusterTime') ?? undefined;
  const keepsEmptyTimestamps = printed.get('keepsEmptyTimestamps') === true;
  return {
    ...made,
    expression: { ...made.expression, clusterTime },
    sent: { ...made.sent, keepsEmptyTimestamps },
  };
}

export function deleteArguments(
  filter: BsonDocument,
  image: KeptImage,
  context: QueryContext,
): Bytes {
  const bytes = writeBson(
    new Map<string, Bson>([
      ['filter', filter],
      ['image', image],
      ['context', printContext(context)],
    ]),
  );
  preparedRemovals.set(bytes, { test: testOf(filter, context), image });
  return bytes;
}

/** Functions of clients have answered when the document was found; the decision cannot wait for them. */
function decided(context: QueryContext): QueryContext {
  return { ...context, expression: { ...context.expression, scripts: new ScriptCalls() } };
}

function testOf(filter: BsonDocument, context: QueryContext): DocumentTest {
  return compileFilter(parseFilter(filter, decided(context)), context.collation?.compare);
}

function prepare(change: Change): PreparedChange {
  const context = decided(change.context);
  const parsed = parseFilter(change.filter, context);
  return {
    ...change,
    parsed,
    test: compileFilter(parsed, context.collation?.compare),
    parsedUpdate: parseUpdate(change.update, change.arrayFilters, context),
    check: compileRules(change.rules),
  };
}

/** A large document that a change was prepared for, decoded in slices before the decision. */
interface LargeDocument {
  readonly body: Bytes;
  readonly document: BsonDocument;
}

/** By arguments; undefined until the document is known to be large. */
const largeDocuments = new WeakMap<Bytes, LargeDocument | undefined>();

/** Not an error: the document has to be decoded in slices first, and then the change is sent again. */
export class LargeDocumentFound extends Error {
  override readonly name = 'LargeDocumentFound';
}

/** Changes with these arguments throw `LargeDocumentFound` instead of decoding a large document in one piece. */
export function decodesAhead(args: Bytes): void {
  largeDocuments.set(args, undefined);
}

/** Gives a large document to the next change with these arguments, if it still is what is stored then. */
export async function decodeAhead(args: Bytes, body: Bytes): Promise<void> {
  largeDocuments.set(args, { body, document: await inSlices(readBsonSteps(body)) });
}

/** The next change with these arguments decodes what it finds. */
export function decodesAtOnce(args: Bytes): void {
  largeDocuments.delete(args);
}

function decodedBody(body: Bytes, args: Bytes): BsonDocument {
  if (body.length <= LARGE_DOCUMENT_BYTES || !largeDocuments.has(args)) return readBson(body);
  const known = largeDocuments.get(args);
  if (known === undefined || !equalBytes(known.body, body)) throw new LargeDocumentFound();
  return known.document;
}

function changeOf(args: Bytes): PreparedChange {
  const found = preparedChanges.get(args);
  if (found !== undefined) return found;
  const document = readBson(args);
  const list = document.get('arrayFilters');
  return prepare({
    filter: document.get('filter') as BsonDocument,
    update: document.get('update') as Bson,
    arrayFilters: isArray(list) ? list : [],
    isUpsert: document.get('isUpsert') === true,
    shardKey: document.get('shardKey') as string,
    namespace: document.get('namespace') as string,
    image: document.get('image') as KeptImage,
    context: parseContext(document.get('context')),
    rules: parseRules(document.get('rules') as BsonDocument),
  });
}

const BUDGET = new EvaluationBudget(DOCUMENT_EVALUATION);

const update: Updater = ([current], args, { nowMs }): Outcome => {
  const change = changeOf(args);
  if (current === undefined) return change.isUpsert ? upsert(change, nowMs) : unmatched();
  const document = decodedBody(current.body, args);
  return BUDGET.run(() => updated(change, current, document, nowMs));
};

function updated(
  change: PreparedChange,
  current: Item,
  document: BsonDocument,
  nowMs: number,
): Outcome {
  if (!change.test(document)) {
    if (change.isUpsert) throw duplicateId(change.namespace, document.get('_id') as Bson);
    return unmatched();
  }
  return modify(change, current, document, nowMs);
}

function unmatched(): Outcome {
  return { kind: 'keep', reply: printChange(NO_CHANGE) };
}

function modify(
  change: PreparedChange,
  current: Item,
  before: BsonDocument,
  nowMs: number,
): Outcome {
  const { parsed, parsedUpdate, context } = change;
  const compare = context.collation?.compare;
  const after = applyUpdate(parsedUpdate, before, {
    nowMs,
    isInsert: false,
    compare,
    matched: (path) => matchedIndex(parsed, before, path, compare),
  });
  checkImmutable(change, before, after);
  const body = writeDocument(after);
  const isSame = parsedUpdate.kind !== 'replacement' && equalBytes(body, current.body);
  const modified = isSame ? 0 : 1;
  if (modified === 1) change.check(after, before);
  const reply = printChange({ matched: 1, modified, before, after }, change.image);
  if (modified === 0) return { kind: 'keep', reply };
  checkSize(body);
  return { kind: 'put', body, ttlSec: current.ttlSec, reply };
}

function upsert(change: PreparedChange, nowMs: number): Outcome {
  const { document, body } = BUDGET.run(() => upsertedDocument(change, nowMs));
  change.check(document);
  const result = { upsertedId: document.get('_id'), after: document };
  return { kind: 'put', body, ttlSec: 0, reply: printChange(result, change.image) };
}

/** The document that an upsert inserts. */
export function upsertedDocument(
  change: Pick<PreparedChange, 'parsed' | 'parsedUpdate' | 'context'>,
  nowMs: number,
) {
  const seed = upsertSeed(change.parsed, change.parsedUpdate);
  const compare = change.context.collation?.compare;
  const made = applyUpdate(change.parsedUpdate, seed, { nowMs, isInsert: true, compare });
  const asked = seed.get('_id');
  if (asked !== undefined && !equalBson(asked, made.get('_id'))) throw alteredId(made.get('_id'));
  return finishDocument(made);
}

function checkImmutable(change: PreparedChange, before: BsonDocument, after: BsonDocument): void {
  const id = after.get('_id');
  const isOperators = change.parsedUpdate.kind === 'operators';
  if (!isSameId(before.get('_id') as Bson, id)) throw alteredId(isOperators ? undefined : id);
  if (change.shardKey === '') return;
  const path = change.shardKey.split('.');
  if (!equalBson(valueAt(before, path), valueAt(after, path)))
    throw new MongoError(
      'ImmutableField',
      `Performing an update on the path '${change.shardKey}' would modify the immutable field '${change.shardKey}'`,
    );
}

/** The order of names counts in an `_id` that is a document; the kind of a number does not. */
function isSameId(before: Bson, after: Bson | undefined): boolean {
  return equalBson(before, after);
}

function alteredId(id: Bson | undefined): MongoError {
  return new MongoError(
    'ImmutableField',
    id === undefined
      ? "Performing an update on the path '_id' would modify the immutable field '_id'"
      : `After applying the update, the (immutable) field '_id' was found to have been altered to _id: ${printBson(id)}`,
  );
}

const remove: Updater = ([current], args): Outcome => {
  if (current === undefined) return unmatched();
  const { test, image } = removalOf(args);
  const before = decodedBody(current.body, args);
  if (!BUDGET.run(() => test(before))) return unmatched();
  return { kind: 'delete', reply: printChange({ matched: 1, modified: 1, before }, image) };
};

function removalOf(args: Bytes): PreparedRemoval {
  const found = preparedRemovals.get(args);
  if (found !== undefined) return found;
  const sent = readBson(args);
  const removal = {
    test: testOf(sent.get('filter') as BsonDocument, parseContext(sent.get('context'))),
    image: sent.get('image') as KeptImage,
  };
  preparedRemovals.set(args, removal);
  return removal;
}

export const mongoUpdaters: Updaters = { [UPDATE]: update, [DELETE]: remove };
