/** The databases that have collections. */
import { type Bson, isArray, isDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { collectionsOf } from '../../collections/collection.ts';
import { databaseSizes } from '../../diagnostics/sizes.ts';
import { MongoError } from '../../errors.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { compileFilter } from '../../query/filter-test.ts';
import { documentOf, ok } from '../../reply.ts';

/** Databases that every server has, whether or not anything is stored in them. */
const SERVER_DATABASES: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

export const listDatabases: Command = {
  needs: 'read',
  isAdminOnly: true,
  fields: { filter: 'object', nameOnly: 'flag', authorizedDatabases: 'bool' },
  async run({ context: { service }, args, body }) {
    const filter = body.get('filter');
    if (isDocument(filter)) refusePlaceOrText(filter);
    const test = compileFilter(parseFilter(isDocument(filter) ? filter : new Map()));
    const isShort = args.flag('nameOnly');
    const found = [];
    let total = 0;
    const ids = new Set([...SERVER_DATABASES, ...service.databases.list().map(({ id }) => id)]);
    for (const id of ids) {
      const collections = collectionsOf(service, id);
      if (collections.length === 0 && !SERVER_DATABASES.has(id)) continue;
      const { dataSize } = isShort ? { dataSize: 0 } : await databaseSizes(service, collections);
      const entry: Record<string, Bson> = { name: id };
      if (!isShort)
        Object.assign(entry, { sizeOnDisk: BigInt(dataSize), empty: collections.length === 0 });
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

const RESTRICTED: Readonly<Record<string, 'BadValue' | 'Location5626500'>> = {
  $geoNear: 'Location5626500',
  $near: 'Location5626500',
  $nearSphere: 'Location5626500',
  $text: 'BadValue',
  $where: 'BadValue',
};

/** Entries have no places, no text index and no functions to run. */
function refusePlaceOrText(value: Bson): void {
  if (isArray(value)) for (const each of value) refusePlaceOrText(each);
  if (!isDocument(value)) return;
  for (const [name, inner] of value) {
    const code = RESTRICTED[name];
    if (code !== undefined) throw new MongoError(code, `${name} is not allowed in this context`);
    refusePlaceOrText(inner);
  }
}
