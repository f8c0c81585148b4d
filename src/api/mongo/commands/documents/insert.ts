/** Inserts documents, in order until one is refused, or all of them. */
import type { Bytes } from '../../../../base/index.ts';
import type { Call, Command, Reply } from '../../call.ts';
import { bucketsOf, takeApart } from '../../collections/buckets.ts';
import { type Collection, ensureCollection } from '../../collections/collection.ts';
import { namespaceOf } from '../../collections/target.ts';
import { insertDocuments, type WriteFailure } from '../../documents/insert.ts';
import { insertWhereItIs } from './dropped-meanwhile.ts';
import { keepsEmptyTimestamps } from './query-arguments.ts';
import { statementsOf } from './statements.ts';
import { writeReply } from './write-reply.ts';

export const insert: Command = {
  needs: 'write',
  fields: {
    documents: 'any',
    ordered: 'bool',
    bypassDocumentValidation: 'flag',
    bypassEmptyTsReplacement: 'bool',
    stmtId: 'int',
    stmtIds: 'array',
    encryptionInformation: 'object',
  },
  async run(call) {
    const { context, retryable } = call;
    const namespace = namespaceOf(call);
    const bodies = statementsOf(call, 'documents');
    const series = bucketsOf(context.service, namespace);
    if (series !== undefined) return insertBuckets(call, series, bodies);
    const collection = await ensureCollection(context.service, namespace);
    const { inserted, failures } = await insertWhereItIs(call, collection, (current) =>
      insertDocuments(requestOf(call, current, bodies)),
    );
    return writeReply({ n: inserted }, failures, retryable);
  },
};

function requestOf(
  { args, body, store, retryable }: Call,
  collection: Collection,
  bodies: readonly Bytes[],
): Parameters<typeof insertDocuments>[0] {
  return {
    store,
    collection,
    bodies,
    isOrdered: args.flag('ordered', true),
    bypassesValidation: args.flag('bypassDocumentValidation'),
    keepsEmptyTimestamps: keepsEmptyTimestamps(body),
    retryable,
  };
}

/** A bucket of which one document is refused is refused; what it has beside it is written. */
async function insertBuckets(
  call: Call,
  series: Collection,
  buckets: readonly Bytes[],
): Promise<Reply> {
  const { bodies, places } = takeApart(series, buckets);
  const { inserted, failures } = await insertDocuments(requestOf(call, series, bodies));
  const refused = new Map<number, WriteFailure>();
  for (const failure of failures) {
    const index = places[failure.index] as number;
    if (!refused.has(index)) refused.set(index, { ...failure, index });
  }
  const isWhole = failures.length === 0;
  const n = isWhole ? buckets.length : new Set(places.slice(0, inserted)).size;
  return writeReply({ n }, [...refused.values()], call.retryable);
}
