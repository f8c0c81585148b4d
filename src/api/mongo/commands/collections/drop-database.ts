/** Drops the collections of a database, and the database where no other API has containers in it. */
import { isNumber } from '../../bson/arithmetic.ts';
import type { Command } from '../../call.ts';
import { collectionsOf } from '../../collections/collection.ts';
import { checkDatabase } from '../../collections/namespace.ts';
import { MongoError } from '../../errors.ts';
import { missingField, wrongType } from '../../fields/field-table.ts';
import { wholeOf } from '../../fields/numbers.ts';
import { ok } from '../../reply.ts';

const SYSTEM: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

export const dropDatabase: Command = {
  needs: 'write',
  fields: {},
  async run({ context, body, name, database }) {
    const { service, changes } = context;
    checkDatabase(database);
    const sent = body.get(name) ?? null;
    if (sent === null) throw missingField('dropDatabase', 'dropDatabase');
    if (!isNumber(sent)) throw wrongType('dropDatabase.dropDatabase', sent, 'int');
    if (wholeOf(sent) !== 1)
      throw new MongoError('Location5255100', "Have to pass 1 as 'dropDatabase' parameter");
    if (SYSTEM.has(database))
      throw new MongoError(
        'IllegalOperation',
        `Dropping the '${database}' database is prohibited.`,
      );
    const record = service.databases.find(database);
    if (record === undefined) return ok();
    const collections = collectionsOf(service, database);
    await changes.drain(database);
    if (
      service.containers.list(record).length === collections.length &&
      record.policies === undefined
    )
      await service.databases.delete(record.rid);
    else for (const { container } of collections) await service.containers.delete(container);
    for (const { namespace } of collections) changes.dropped(namespace);
    if (collections.length > 0) changes.databaseDropped(database);
    return ok();
  },
};
