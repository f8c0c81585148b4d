/** One update or delete of a command, parsed and run: `update`, `delete` and `bulkWrite` share it. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import { doubleOf } from '../../bson/arithmetic.ts';
import type { Call } from '../../call.ts';
import type { Collection } from '../../collections/collection.ts';
import type { ChangeResult } from '../../documents/change-result.ts';
import { MongoError } from '../../errors.ts';
import { hintedOrder } from '../../indexes/hinted-order.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { type QueryContext, queryContext } from '../../query/query-context.ts';
import { parseSort, Sort } from '../../query/sort.ts';
import { changeWhereItIs } from './dropped-meanwhile.ts';
import { checkHint, contextOf } from './query-arguments.ts';
import { isTrue } from './statement-fields.ts';

export interface ChangeStatement {
  readonly filter: BsonDocument;
  /** Undefined: delete. */
  readonly update: Bson | undefined;
  readonly arrayFilters: readonly Bson[];
  readonly isUpsert: boolean;
  readonly isMulti: boolean;
  readonly sort: BsonDocument | undefined;
  readonly hint: Bson | undefined;
  /** Variables of a pipeline. */
  readonly constants: BsonDocument | undefined;
  /** As it was sent: collation. */
  readonly sent: BsonDocument;
}

export function updateStatement(
  document: BsonDocument,
  names: { readonly filter: string; readonly update: string },
): ChangeStatement {
  const update = document.get(names.update) as Bson;
  const isMulti = isTrue(document.get('multi'));
  const sort = document.get('sort');
  if (isMulti && isDocument(sort))
    throw new MongoError('FailedToParse', 'Cannot specify sort with multi=true');
  const constants = document.get('c') ?? document.get('constants');
  if (constants !== undefined && constants !== null && !isArray(update))
    throw new MongoError(
      'Location51198',
      'Constant values may only be specified for pipeline updates',
    );
  const filters = document.get('arrayFilters');
  return {
    filter: document.get(names.filter) as BsonDocument,
    update,
    arrayFilters: isArray(filters) ? filters : [],
    isUpsert: isTrue(document.get('upsert')),
    isMulti,
    sort: isDocument(sort) ? sort : undefined,
    hint: document.get('hint'),
    constants: isDocument(constants) ? constants : undefined,
    sent: document,
  };
}

export function deleteStatement(document: BsonDocument, filter: string): ChangeStatement {
  return {
    filter: document.get(filter) as BsonDocument,
    update: undefined,
    arrayFilters: [],
    isUpsert: false,
    isMulti: document.has('limit')
      ? limitOf(document.get('limit') as Bson) === 0
      : isTrue(document.get('multi')),
    sort: undefined,
    hint: document.get('hint'),
    constants: undefined,
    sent: document,
  };
}

function limitOf(value: Bson): 0 | 1 {
  const limit = doubleOf(value);
  if (limit !== 0 && limit !== 1)
    throw new MongoError(
      'FailedToParse',
      `The limit field in delete objects must be 0 or 1. Got ${limit}`,
    );
  return limit;
}

export async function runChange(
  call: Call,
  collection: Collection,
  statement: ChangeStatement,
  place: number,
): Promise<ChangeResult> {
  const { body } = call;
  const context = withConstants(contextOf(call, collection, statement.sent), statement.constants);
  const [first = '$'] = isDocument(statement.update) ? statement.update.keys() : ['$'];
  if (statement.isMulti && !first.startsWith('$'))
    throw new MongoError(
      'FailedToParse',
      'multi update is not supported for replacement-style update',
    );
  if ((statement.hint ?? null) !== null)
    checkHint(collection, statement.hint, parseFilter(statement.filter, context));
  const change = {
    ...statement,
    context,
    sort:
      statement.sort === undefined && collection !== undefined
        ? (hintedOrder(collection, statement.hint) ?? new Sort([]))
        : new Sort(parseSort(statement.sort ?? new Map()), context.collation?.compare),
    image: 'none' as const,
    bypassesValidation: isTrue(body.get('bypassDocumentValidation')),
  };
  return changeWhereItIs(call, collection, change, place);
}

function withConstants(context: QueryContext, constants: BsonDocument | undefined): QueryContext {
  if (constants === undefined) return context;
  const { nowMs, variables, collation } = context.sent;
  const { expression } = context;
  const made = queryContext(nowMs, new Map([...(variables ?? []), ...constants]), collation);
  return { ...made, expression: { ...expression, variables: made.expression.variables } };
}
