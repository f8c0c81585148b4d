/** Inserts documents, in order until one is refused, or all of them. */
import type { Command } from '../../call.ts';
import { ensureCollection } from '../../collections/collection.ts';
import { namespaceOf } from '../../collections/target.ts';
import { insertDocuments } from '../../documents/insert.ts';
import { statementsOf } from './statements.ts';
import { writeReply } from './write-reply.ts';

export const insert: Command = {
  needs: 'write',
  fields: {
    documents: 'any',
    ordered: 'bool',
    bypassDocumentValidation: 'flag',
    stmtId: 'int',
    stmtIds: 'array',
    encryptionInformation: 'object',
  },
  async run(call) {
    const { args, context, store, retryable } = call;
    const namespace = namespaceOf(call);
    const bodies = statementsOf(call, 'documents');
    const collection = await ensureCollection(context.service, namespace);
    const { inserted, failures } = await insertDocuments({
      store,
      collection,
      bodies,
      isOrdered: args.flag('ordered', true),
      bypassesValidation: args.flag('bypassDocumentValidation'),
      retryable,
    });
    return writeReply({ n: inserted }, failures, retryable);
  },
};
