/** The digest of a file of GridFS: of its chunks in their order. */
import { createHash } from 'node:crypto';
import { type Bson, Extended } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { findCollection } from '../../collections/collection.ts';
import { findDocuments } from '../../documents/find-documents.ts';
import { sorted } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { missingField } from '../../fields/field-table.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { parseSort, Sort } from '../../query/sort.ts';
import { ok } from '../../reply.ts';

export const filemd5: Command = {
  needs: 'read',
  fields: { root: 'string', partialOk: 'flag', md5state: 'any' },
  async run({ body, name, args, context, database, store }) {
    const id = body.get(name);
    if (id === undefined) throw missingField(name, name);
    const root = args.optionalText('root') ?? 'fs';
    const chunks = findCollection(context.service, { database, collection: `${root}.chunks` });
    const digest = createHash('md5');
    let numChunks = 0;
    if (chunks !== undefined) {
      const filter = parseFilter(new Map([['files_id', new Map([['$eq', id]])]]));
      const order = new Sort(parseSort(new Map([['n', 1]])));
      const rows = findDocuments(store, chunks, filter);
      for await (const batch of sorted(rows, order))
        for (const { document } of batch) {
          digest.update(chunkBytes(document.get('data')));
          numChunks += 1;
        }
    }
    return ok({ numChunks, md5: digest.digest('hex') });
  },
};

function chunkBytes(data: Bson | undefined): Uint8Array {
  if (data instanceof Extended && data.payload.kind === 'binary') return data.payload.bytes;
  throw new MongoError('BadValue', 'A chunk of the file has no binary data');
}
