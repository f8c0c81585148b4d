/** The databases that have collections. */
import { type Bson, isDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { collectionsOf } from '../../collections/collection.ts';
import { databaseSizes } from '../../diagnostics/sizes.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { compileFilter } from '../../query/filter-test.ts';
import { documentOf, ok } from '../../reply.ts';

export const listDatabases: Command = {
  needs: 'read',
  isAdminOnly: true,
  fields: { filter: 'object', nameOnly: 'flag', authorizedDatabases: 'flag' },
  async run({ context: { service }, args, body }) {
    const filter = body.get('filter');
    const test = compileFilter(parseFilter(isDocument(filter) ? filter : new Map()));
    const isShort = args.flag('nameOnly');
    const found = [];
    let total = 0;
    for (const { id } of service.databases.list()) {
      const collections = collectionsOf(service, id);
      if (collections.length === 0) continue;
      const { dataSize } = isShort ? { dataSize: 0 } : await databaseSizes(service, collections);
      const entry: Record<string, Bson> = { name: id };
      if (!isShort) Object.assign(entry, { sizeOnDisk: BigInt(dataSize), empty: dataSize === 0 });
      const document = documentOf(entry);
      if (!test(document)) continue;
      total += dataSize;
      found.push(document);
    }
    found.sort((a, b) => (String(a.get('name')) < String(b.get('name')) ? -1 : 1));
    if (isShort) return ok({ databases: found });
    return ok({
      databases: found,
      totalSize: BigInt(total),
      totalSizeMb: BigInt(Math.floor(total / 2 ** 20)),
    });
  },
};
