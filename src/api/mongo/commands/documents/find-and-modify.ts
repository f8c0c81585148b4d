/** Changes one document and returns it, as it was or as it is. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import { ensureCollection, findCollection } from '../../collections/collection.ts';
import { namespaceOf } from '../../collections/target.ts';
import { type ChangeResult, NO_CHANGE } from '../../documents/change-result.ts';
import { MongoError } from '../../errors.ts';
import { hintedOrder } from '../../indexes/hinted-order.ts';
import { type Filter, textOf } from '../../query/filter.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import type { Project } from '../../query/projection.ts';
import { parseProjection } from '../../query/projection-parser.ts';
import { parseSort, Sort } from '../../query/sort.ts';
import { documentOf, ok } from '../../reply.ts';
import { parseUpdate } from '../../update/update.ts';
import { changeWhereItIs } from './dropped-meanwhile.ts';
import { checkHint, contextOf } from './query-arguments.ts';

export const findAndModify: Command = {
  needs: 'write',
  fields: {
    query: 'object',
    fields: 'object',
    sort: 'object',
    hint: 'any',
    collation: 'object',
    arrayFilters: 'array',
    remove: 'flag',
    update: 'any',
    upsert: 'flag',
    new: 'flag',
    bypassDocumentValidation: 'flag',
    bypassEmptyTsReplacement: 'bool',
    let: 'object',
    stmtId: 'int',
    stmtIds: 'array',
    encryptionInformation: 'object',
  },
  async run(call) {
    const { args, context, body } = call;
    const { service } = context;
    const namespace = namespaceOf(call);
    const isRemove = args.flag('remove');
    const update = args.get('update');
    checkArguments(call, isRemove, update);
    const isUpsert = args.flag('upsert');
    const existing = findCollection(service, namespace);
    const query = contextOf(call, existing);
    const filter = args.optionalDocument('query') ?? new Map();
    const parsed: Filter = parseFilter(filter, query);
    const sorted = new Sort(
      parseSort(args.optionalDocument('sort') ?? new Map()),
      query.collation?.compare,
      textOf(parsed),
    );
    const fields =
      args.optionalDocument('fields') ?? args.optionalDocument('projection') ?? new Map();
    const project = parseProjection(fields, { context: query, filter: parsed, sort: sorted });
    const arrayFilters = args.optionalList('arrayFilters') ?? [];
    if (!isRemove) parseUpdate(update, arrayFilters, query);
    checkHint(existing, body.get('hint'), parsed, true);
    const scanned = existing && sorted.isEmpty && hintedOrder(existing, body.get('hint'));
    const sort = scanned || sorted;
    const collection =
      existing ?? (isUpsert ? await ensureCollection(service, namespace) : undefined);
    if (collection === undefined) return reply(call, NO_CHANGE, isRemove, project);
    const change = {
      filter,
      update: isRemove ? undefined : update,
      arrayFilters,
      isUpsert,
      isMulti: false,
      sort,
      image: args.flag('new') ? 'after' : 'before',
      context: query,
      bypassesValidation: args.flag('bypassDocumentValidation'),
    } as const;
    const result = await changeWhereItIs(call, collection, change, 0);
    return reply(call, result, isRemove, project);
  },
};

function checkArguments({ args }: Call, isRemove: boolean, update: Bson | undefined): void {
  if (!isRemove && update === undefined)
    throw new MongoError('FailedToParse', 'Either an update or remove=true must be specified');
  if (!isRemove && !isDocument(update) && !isArray(update))
    throw new MongoError('FailedToParse', 'Update argument must be either an object or an array');
  if (!isRemove) return;
  if (update !== undefined)
    throw new MongoError('FailedToParse', 'Cannot specify both an update and remove=true');
  if (args.flag('upsert'))
    throw new MongoError('FailedToParse', 'Cannot specify both upsert=true and remove=true');
  if (args.flag('new'))
    throw new MongoError(
      'FailedToParse',
      "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
    );
  if (args.optionalList('arrayFilters') !== undefined)
    throw new MongoError('FailedToParse', 'Cannot specify arrayFilters and remove=true');
}

function reply(
  { args, retryable }: Call,
  result: ChangeResult,
  isRemove: boolean,
  project: Project | undefined,
): BsonDocument {
  const found = args.flag('new') ? result.after : result.before;
  const value = found === undefined ? null : (project?.(found) ?? found);
  const last: Record<string, Bson> = { n: result.matched };
  if (!isRemove) last.updatedExisting = result.matched > 0;
  if (result.upsertedId !== undefined) {
    last.n = 1;
    last.upserted = result.upsertedId;
  }
  return ok({ lastErrorObject: documentOf(last), value, ...repeatedStatement(retryable) });
}

function repeatedStatement(retryable: Call['retryable']): Readonly<Record<string, Bson>> {
  const [first] = retryable?.repeated ?? [];
  return first === undefined ? {} : { retriedStmtId: first };
}
