/** Settings of queries by their shape: which indexes they may use, and whether they are refused. */
import { type Bson, type BsonDocument, isArray, isDocument } from '../../../../value/index.ts';
import type { Command } from '../../call.ts';
import { checkDatabase } from '../../collections/namespace.ts';
import { MongoError } from '../../errors.ts';
import { checkFields, missingField, wrongType } from '../../fields/field-table.ts';
import { commandShape, isShaped } from '../../query-shapes/shape.ts';
import { documentOf, ok } from '../../reply.ts';

interface Shape {
  readonly hash: string;
  readonly query: BsonDocument | undefined;
}

export const setQuerySettings: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: { settings: 'object!' },
  run({ context, body, name }) {
    const shape = shapeOf(body.get(name), name, true);
    const settings = checkSettings(body.get('settings') as BsonDocument);
    const made = context.querySettings.set(shape.hash, shape.query, settings);
    return ok({
      queryShapeHash: made.hash,
      ...(made.query === undefined ? {} : { representativeQuery: made.query }),
      settings: made.settings,
    });
  },
};

export const removeQuerySettings: Command = {
  needs: 'write',
  isAdminOnly: true,
  fields: {},
  run({ context, body, name }) {
    context.querySettings.remove(shapeOf(body.get(name), name, false).hash);
    return ok();
  },
};

function shapeOf(sent: Bson | undefined, command: string, isSet: boolean): Shape {
  if (typeof sent === 'string') return { hash: checkHash(sent), query: undefined };
  if (!isDocument(sent)) throw wrongType(`${command}.${command}`, sent ?? null, '[string, object]');
  const [name = ''] = sent.keys();
  if (!isShaped(name))
    throw new MongoError('Location7746402', `QueryShape can not be computed for command: ${name}`);
  const database = sent.get('$db') ?? null;
  if (database === null) throw missingField(name, '$db');
  if (typeof database !== 'string') throw wrongType(`${name}.$db`, database, 'string');
  checkDatabase(database);
  if (isSet) checkQuery(name, database, sent);
  if (name === 'distinct' && !sent.has('key')) throw missingField('distinct', 'key');
  if (name === 'aggregate' && !sent.has('pipeline')) throw missingField('aggregate', 'pipeline');
  return { hash: commandShape(name, database, sent), query: sent };
}

function checkQuery(name: string, database: string, query: BsonDocument): void {
  if (['admin', 'config', 'local'].includes(database))
    throw new MongoError(
      'Location8584900',
      'setQuerySettings is not supported on internal databases',
    );
  const filter = query.get('filter');
  const isById =
    name === 'find' &&
    isDocument(filter) &&
    filter.size === 1 &&
    !isDocument(filter.get('_id') ?? new Map());
  if (isById)
    throw new MongoError('Location7746606', 'setQuerySettings is not allowed on queries by _id');
}

const HASH_DIGITS = 64;

function checkHash(text: string): string {
  const isHex = /^[0-9A-Fa-f]*$/.test(text);
  if (!isHex) throw new MongoError('BadValue', `'${text}' is not a hexadecimal hash`);
  if (text.length !== HASH_DIGITS)
    throw new MongoError('InvalidLength', `A hash of a query shape has ${HASH_DIGITS} digits`);
  return text.toUpperCase();
}

const FRAMEWORKS = ['classic', 'sbe'];

function checkSettings(settings: BsonDocument): BsonDocument {
  checkFields(
    'setQuerySettings.settings',
    settings,
    { indexHints: 'any', queryFramework: 'string', reject: 'bool', comment: 'any' },
    false,
  );
  const framework = settings.get('queryFramework') ?? undefined;
  if (framework !== undefined && !FRAMEWORKS.includes(framework as string))
    throw new MongoError(
      'BadValue',
      `Enumeration value '${String(framework)}' for field 'queryFramework' is not a valid value.`,
    );
  const hints = settings.get('indexHints') ?? undefined;
  if (hints !== undefined) for (const hint of isArray(hints) ? hints : [hints]) checkHint(hint);
  const isEmpty = [...settings.values()].every((value) => value === null);
  if (isEmpty)
    throw new MongoError('Location8727502', 'Query settings must have at least one setting');
  if (settings.size === 1 && settings.get('reject') === false)
    throw new MongoError(
      'Location7746604',
      'Query settings with reject: false alone change nothing',
    );
  return settings;
}

function checkHint(hint: Bson): void {
  const path = 'setQuerySettings.settings.indexHints';
  if (!isDocument(hint)) throw wrongType(path, hint, 'object');
  checkFields(path, hint, { ns: 'object!', allowedIndexes: 'array!' }, false);
  const ns = hint.get('ns') as BsonDocument;
  checkFields(`${path}.ns`, ns, { db: 'string', coll: 'string' }, false);
  if ((ns.get('db') ?? null) === null)
    throw new MongoError('Location8727500', "'db' of a namespace of an index hint is missing");
  if ((ns.get('coll') ?? null) === null)
    throw new MongoError('Location8727501', "'coll' of a namespace of an index hint is missing");
  if ((hint.get('allowedIndexes') as readonly Bson[]).length === 0)
    throw new MongoError('Location7746604', "'allowedIndexes' must not be empty");
}

/** The documents of `$querySettings`. */
export function describeSettings(made: {
  readonly hash: string;
  readonly query: BsonDocument | undefined;
  readonly settings: BsonDocument;
}): BsonDocument {
  return documentOf({
    queryShapeHash: made.hash,
    settings: made.settings,
    ...(made.query === undefined ? {} : { representativeQuery: made.query }),
  });
}
