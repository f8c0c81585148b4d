/** What reading and writing commands have in common: collation, variables, hints and bounds of an index. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  Extended,
  isArray,
  isDocument,
} from '../../../../value/index.ts';
import { compileExpression, expressionContext } from '../../aggregate/index.ts';
import type { Call } from '../../call.ts';
import { type Collection, isView } from '../../collections/collection.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { MongoError } from '../../errors.ts';
import { coverage, hintedIndex } from '../../indexes/hinted.ts';
import { type Filter, textOf } from '../../query/filter.ts';
import type { DocumentTest } from '../../query/filter-test.ts';
import { type QueryContext, queryContext } from '../../query/query-context.ts';
import { ScriptCalls } from '../../scripts/script-calls.ts';
import { isTrue } from './statement-fields.ts';

/** Commands for which a collation without fields is none. */
const TAKES_EMPTY_COLLATION: ReadonlySet<string> = new Set([
  'aggregate',
  'bulkWrite',
  'count',
  'delete',
  'distinct',
  'findAndModify',
  'findandmodify',
  'update',
]);

/** @param statement - one of several of the command; it may have a collation of its own. */
/** Commands whose filters see neither the time of the server nor that of the cluster. */
const TIMELESS: ReadonlySet<string> = new Set(['count', 'distinct']);

export function contextOf(
  {
    body,
    name,
    store,
    context,
    meter,
  }: Pick<Call, 'body' | 'name' | 'store' | 'context' | 'meter'>,
  collection: Collection | undefined,
  statement: BsonDocument = body,
): QueryContext {
  const sent = documentIn(statement, 'collation', name);
  if (sent !== undefined && sent.size === 0 && !TAKES_EMPTY_COLLATION.has(name))
    throw new MongoError(
      'IDLFailedToParse',
      "BSON field 'collation.locale' is missing but a required field",
    );
  const inherited = collection?.options.get('collation');
  const collation =
    (sent?.size === 0 ? undefined : sent) ?? (isDocument(inherited) ? inherited : undefined);
  const nowMs = meter.startMs(store);
  const plain = queryContext(nowMs, variablesIn(documentIn(body, 'let', name), nowMs), collation);
  const made = keepsEmptyTimestamps(body)
    ? { ...plain, sent: { ...plain.sent, keepsEmptyTimestamps: true } }
    : plain;
  const scripts = new ScriptCalls(context.service.scripts, meter);
  if (TIMELESS.has(name))
    return { ...made, expression: { ...made.expression, scripts, nowMs: undefined } };
  if (context.topology === 'standalone')
    return { ...made, expression: { ...made.expression, scripts } };
  const { high, low } = context.clusterClock.time;
  const clusterTime = new Extended({ kind: 'timestamp', high, low });
  return { ...made, expression: { ...made.expression, scripts, clusterTime } };
}

/** Tools that restore documents want them as they were. */
export function keepsEmptyTimestamps(body: BsonDocument): boolean {
  return isTrue(body.get('bypassEmptyTsReplacement'));
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
    checkVariable(name, value);
    const context = expressionContext(nowMs, variables);
    const made = compileExpression(value, context)(new Map());
    if (made !== undefined) variables.set(name, made);
  }
  return variables;
}

function checkVariable(name: string, value: Bson): void {
  if (name === 'NOW' || name === 'CLUSTER_TIME' || name === 'USER_ROLES')
    throw new MongoError('Location4738901', `Attempt to set internal constant: ${name}`);
  if (name !== 'CURRENT' && !/^[a-z\u0080-\u{10ffff}][\w\u0080-\u{10ffff}]*$/u.test(name))
    throw new MongoError(
      'FailedToParse',
      `'${name}' starts with an invalid character for a user variable name`,
    );
  checkConstant(value);
}

/** No document is there yet that a field could be of. */
function checkConstant(value: Bson): void {
  if (isArray(value)) for (const each of value) checkConstant(each);
  if (isDocument(value))
    for (const [name, inner] of value) if (name !== '$literal') checkConstant(inner);
  if (typeof value !== 'string' || !value.startsWith('$')) return;
  if (value === '$$NOW' || value === '$$CLUSTER_TIME')
    throw new MongoError('Location51144', `Builtin variable ${value} is not available`);
  if (!value.startsWith('$$') || /^\$\$(ROOT|CURRENT)\b/.test(value))
    throw new MongoError(
      'Location4890500',
      'Command let Expression tried to access a field, but this is not allowed because command let expressions run before the query examines any documents.',
    );
}

/**
 * Refuses a hint that names no index. Returns what the documents of the index have in common.
 * @param isStrict - true where null is no hint.
 */
export function checkHint(
  collection: Collection | undefined,
  hint: Bson | undefined,
  filter: Filter,
  isStrict = false,
): DocumentTest | undefined {
  if (hint === undefined || (hint === null && !isStrict)) return undefined;
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

/** A search of texts has its index. */
export function checkTextHint(filter: Filter, hint: Bson | undefined): void {
  const isHinted = isDocument(hint) ? hint.size > 0 : typeof hint === 'string';
  if (isHinted && textOf(filter) !== undefined)
    throw new MongoError('BadValue', 'text and hint not allowed in same query');
}
