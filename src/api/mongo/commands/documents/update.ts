/** Updates documents, statement by statement. */
import { type BsonDocument, isArray } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { ensureCollection, findCollection } from '../../collections/collection.ts';
import { namespaceOf } from '../../collections/target.ts';
import { NO_CHANGE } from '../../documents/change-result.ts';
import type { WriteFailure } from '../../documents/insert.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { parseSort } from '../../query/sort.ts';
import { documentOf } from '../../reply.ts';
import { checkStages } from '../../update/pipeline.ts';
import { parseUpdate } from '../../update/update.ts';
import { type ChangeStatement, runChange, updateStatement } from './change-statements.ts';
import { contextOf } from './query-arguments.ts';
import { checkStatement } from './statement-fields.ts';
import { readStatements, statementError, statementsOf } from './statements.ts';
import { writeReply } from './write-reply.ts';

const FIELDS = {
  q: 'object',
  u: 'update',
  c: 'object',
  multi: 'bool',
  upsert: 'bool',
  arrayFilters: 'array',
  collation: 'object',
  hint: 'hint',
  sort: 'object',
  upsertSupplied: 'bool',
  sampleId: 'any',
  allowShardKeyUpdatesWithoutFullShardKeyInQuery: 'bool',
} as const;

export const update: Command = {
  needs: 'write',
  fields: {
    updates: 'any',
    ordered: 'bool',
    bypassDocumentValidation: 'flag',
    bypassEmptyTsReplacement: 'bool',
    let: 'object',
    stmtId: 'int',
    stmtIds: 'array',
    encryptionInformation: 'object',
  },
  async run(call) {
    const { args, context } = call;
    const namespace = namespaceOf(call);
    const statements = await readStatements(statementsOf(call, 'updates'), parseStatement);
    const isOrdered = args.flag('ordered', true);
    let collection = findCollection(context.service, namespace);
    const failures: WriteFailure[] = [];
    const upserted: BsonDocument[] = [];
    let n = 0;
    let nModified = 0;
    for (const [index, statement] of statements.entries()) {
      try {
        if (collection === undefined) {
          const query = contextOf(call, undefined, statement.sent);
          parseFilter(statement.filter, query);
          parseUpdate(statement.update, statement.arrayFilters, query);
          parseSort(statement.sort ?? new Map());
        }
        if (collection === undefined && statement.isUpsert)
          collection = await ensureCollection(context.service, namespace);
        const result =
          collection === undefined
            ? NO_CHANGE
            : await runChange(call, collection, statement, index);
        n += result.matched + (result.upsertedId === undefined ? 0 : 1);
        nModified += result.modified;
        if (result.upsertedId !== undefined)
          upserted.push(documentOf({ index, _id: result.upsertedId }));
      } catch (error) {
        failures.push({ index, error: statementError(call, error) });
        if (isOrdered) break;
      }
    }
    return writeReply(
      { n, ...(upserted.length > 0 ? { upserted } : {}), nModified },
      failures,
      call.retryable,
    );
  },
};

function parseStatement(document: BsonDocument): ChangeStatement {
  checkStatement('update.updates', document, FIELDS, ['q', 'u']);
  const statement = updateStatement(document, { filter: 'q', update: 'u' });
  if (isArray(statement.update)) checkStages(statement.update);
  return statement;
}
