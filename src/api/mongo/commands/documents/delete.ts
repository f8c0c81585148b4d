/** Deletes documents, statement by statement. */
import type { BsonDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { namespaceOf } from '../../collections/target.ts';
import type { WriteFailure } from '../../documents/insert.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { type ChangeStatement, deleteStatement, runChange } from './change-statements.ts';
import { contextOf } from './query-arguments.ts';
import { checkStatement } from './statement-fields.ts';
import { readStatements, statementError, statementsOf } from './statements.ts';
import { writeReply } from './write-reply.ts';

const FIELDS = {
  q: 'object',
  limit: 'number',
  collation: 'object',
  hint: 'hint',
  sampleId: 'any',
} as const;

export const deleteDocuments: Command = {
  needs: 'write',
  fields: {
    deletes: 'any',
    ordered: 'bool',
    bypassDocumentValidation: 'flag',
    let: 'object',
    stmtId: 'int',
    stmtIds: 'array',
    encryptionInformation: 'object',
  },
  async run(call) {
    const { args, context, retryable } = call;
    const collection = findCollection(context.service, namespaceOf(call));
    const statements = await readStatements(statementsOf(call, 'deletes'), parseStatement);
    const isOrdered = args.flag('ordered', true);
    const failures: WriteFailure[] = [];
    let n = 0;
    for (const [index, statement] of statements.entries()) {
      try {
        if (collection === undefined)
          parseFilter(statement.filter, contextOf(call, undefined, statement.sent));
        else n += (await runChange(call, collection, statement, index)).matched;
      } catch (error) {
        failures.push({ index, error: statementError(call, error) });
        if (isOrdered) break;
      }
    }
    return writeReply({ n }, failures, retryable);
  },
};

function parseStatement(document: BsonDocument): ChangeStatement {
  checkStatement('delete.deletes', document, FIELDS, ['q', 'limit']);
  return deleteStatement(document, 'q');
}
