/** Tells which indexes clients of the Stable API may not rely on. */
import type { BsonDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { type Collection, collectionsOf, isView } from '../../collections/collection.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { MongoError } from '../../errors.ts';
import { checkFields, wrongType } from '../../fields/field-table.ts';
import { declaredIndexes } from '../../indexes/index-spec.ts';
import { DATABASE_NAME_BYTES_MAX } from '../../limits.ts';
import { documentOf, ok } from '../../reply.ts';

export const validateDBMetadata: Command = {
  needs: 'read',
  fields: { apiParameters: 'object!', db: 'string', collection: 'string' },
  run(call) {
    const { args, context } = call;
    const parameters = args.document('apiParameters');
    checkFields(
      'validateDBMetadata.apiParameters',
      parameters,
      { version: 'string!', strict: 'bool', deprecationErrors: 'bool' },
      false,
    );
    for (const field of ['strict', 'deprecationErrors'])
      if (parameters.get(field) === null)
        throw wrongType(`validateDBMetadata.apiParameters.${field}`, null, 'bool');
    const [database, collection] = [args.optionalText('db'), args.optionalText('collection')];
    checkDatabaseName(database);
    checkCollectionName(collection);
    const isStrict = parameters.get('strict') === true && parameters.get('version') === '1';
    const names =
      database === undefined ? context.service.databases.list().map(({ id }) => id) : [database];
    const errors = !isStrict
      ? []
      : names
          .flatMap((name) => collectionsOf(context.service, name))
          .filter(
            (each) =>
              !isView(each) &&
              (collection === undefined || each.namespace.collection === collection),
          )
          .flatMap(violations);
    return ok({ apiVersionErrors: errors });
  },
};

function violations(collection: Collection): readonly BsonDocument[] {
  return declaredIndexes(collection)
    .filter(({ spec, key }) => spec.get('sparse') === true || [...key.values()].includes('text'))
    .map(({ name }) =>
      documentOf({
        ns: namespaceText(collection.namespace),
        code: 323,
        codeName: 'APIStrictError',
        errmsg: `The index with name ${name} is not allowed in API version 1.`,
      }),
    );
}

function checkDatabaseName(name: string | undefined): void {
  if (name === undefined) return;
  if (name === '') throw new MongoError('Location28539', 'db name is empty');
  if (
    name.includes('.') ||
    name.includes('\0') ||
    Buffer.byteLength(name) > DATABASE_NAME_BYTES_MAX
  )
    throw new MongoError('InvalidNamespace', `Invalid database name: '${name}'`);
  if (/[/\\ "]/.test(name)) throw new MongoError('Location13280', `bad db name: '${name}'`);
}

function checkCollectionName(name: string | undefined): void {
  if (name === undefined) return;
  if (name === '' || name.startsWith('.') || name.includes('\0'))
    throw new MongoError('InvalidNamespace', `Invalid collection name: '${name}'`);
}
