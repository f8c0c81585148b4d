/** An index as `createIndexes` describes it, as the container declares it, and as `listIndexes` shows it. */
import type { IndexDefinition, NewIndex } from '../../../catalog/index.ts';
import {
  type Bson,
  type BsonDocument,
  isDocument,
  parsePath,
  printPath,
  readBson,
  writeBson,
} from '../../../value/index.ts';
import { doubleOf } from '../bson/arithmetic.ts';
import { printDocument } from '../bson/print.ts';
import type { Collection } from '../collections/collection.ts';
import { isExpiryIndex } from '../collections/expiry.ts';
import type { TextFields } from '../query/text/text-query.ts';
import { ENTRY_RULES } from './computed/kind.ts';
import { kindOf } from './computed/kinds.ts';
import { cannot, defaultName } from './index-key.ts';
import { type ParsedIndex, parseIndexSpec } from './index-options-parser.ts';
import { partialTests } from './partial-filter.ts';
import { textFieldsOf } from './text-fields.ts';

export type DeclaredIndex = Omit<NewIndex, 'origin'>;

/** An index of a collection. */
export interface MongoIndex {
  readonly id: number;
  readonly name: string;
  /** As `listIndexes` shows it. */
  readonly spec: BsonDocument;
  readonly key: BsonDocument;
  readonly definition: IndexDefinition;
}

export const ID_INDEX: BsonDocument = new Map<string, Bson>([
  ['v', 2],
  ['key', new Map([['_id', 1]])],
  ['name', '_id_'],
]);

/** The index of `_id`, with the collation of the collection. */
export function idIndex(collection: Collection): BsonDocument {
  const clustered = collection.options.get('clusteredIndex');
  if (isDocument(clustered)) return new Map([...clustered, ['clustered', true]]);
  const collation = collection.options.get('collation');
  return collation === undefined ? ID_INDEX : new Map([...ID_INDEX, ['collation', collation]]);
}

export interface NewMongoIndex extends ParsedIndex {
  readonly declared: DeclaredIndex;
}

/** Throws CannotCreateIndex and its kind. */
export function parseIndex(
  sent: BsonDocument,
  collection: Pick<Collection, 'shardKey' | 'options'>,
): NewMongoIndex {
  const inherited = collection.options.get('collation');
  const parsed = parseIndexSpec(sent, isDocument(inherited) ? inherited : undefined);
  const { spec, key } = parsed;
  const isUnique = spec.get('unique') === true;
  const shardField = collection.shardKey?.join('.');
  if (isUnique && shardField !== undefined && !key.has(shardField))
    throw cannot(
      `cannot create unique index over ${printDocument(key)} with shard key pattern { ${shardField}: 1 }`,
    );
  return { ...parsed, declared: declaredOf(parsed, isUnique) };
}

/** Whether the entries are computed: the layers below know neither the kind nor the collation nor the filter. */
function isComputed({ kind, key, spec }: ParsedIndex, filter: DeclaredIndex['filter']): boolean {
  const isUnique = spec.get('unique') === true;
  if (kind !== 'plain' && !(kind === 'hashed' && key.size === 1)) return !isUnique;
  const isPartial = spec.has('partialFilterExpression');
  if (!spec.has('collation') && (!isPartial || filter !== undefined)) return false;
  return !isUnique || kindOf({ key, spec }) !== undefined;
}

function declaredOf(parsed: ParsedIndex, isUnique: boolean): DeclaredIndex {
  const { kind, key, spec, name } = parsed;
  const partial = spec.get('partialFilterExpression');
  const filter = isDocument(partial) ? partialTests(partial) : undefined;
  const isPartial = isDocument(partial);
  const expiry = spec.get('expireAfterSeconds');
  return {
    name,
    parts: [...key].map(([field, value]) => ({
      path: printPath(field.split('.')),
      isDescending: typeof value !== 'string' && doubleOf(value) < 0,
    })),
    collation: 'bson',
    isMultikey: true,
    isSparse: spec.get('sparse') === true,
    ...(spec.get('hidden') === true ? { isHidden: true } : {}),
    details: Buffer.from(writeBson(spec)).toString('base64'),
    ...(isPartial && filter !== undefined ? { filter } : {}),
    ...(isComputed(parsed, filter) ? { isVirtual: true as const, entryRules: ENTRY_RULES } : {}),
    ...(isUnique ? { unique: 'partitionKey' as const, isUniqueByHome: true as const } : {}),
    ...(typeof expiry === 'number' && kind === 'plain' ? { expireAfterSec: expiry } : {}),
  };
}

/** Definitions never change in place, so that each is read once. */
const KNOWN = new WeakMap<IndexDefinition, MongoIndex>();

/** The indexes that were declared by this API. */
export function declaredIndexes({
  container,
}: Pick<Collection, 'container'>): readonly MongoIndex[] {
  return (container.indexes ?? [])
    .filter((index) => index.origin === 'declared' && !isExpiryIndex(index))
    .map(indexOf);
}

/** An index that this API has declared. */
export function indexOf(definition: IndexDefinition): MongoIndex {
  const known = KNOWN.get(definition);
  if (known !== undefined) return known;
  const { id, details } = definition;
  const spec =
    details === undefined ? specOf(definition) : readBson(Buffer.from(details, 'base64'));
  const index = {
    id,
    name: spec.get('name') as string,
    spec,
    key: spec.get('key') as BsonDocument,
    definition,
  };
  KNOWN.set(definition, index);
  return index;
}

/** The description of an index that was declared before descriptions were kept. */
function specOf({ parts, name, unique, isSparse }: IndexDefinition): BsonDocument {
  const key = new Map(
    parts.map(({ path, isDescending }) => [parsePath(path).join('.'), isDescending ? -1 : 1]),
  );
  const spec = new Map<string, Bson>([
    ['v', 2],
    ['key', key],
    ['name', name ?? defaultName(key)],
  ]);
  if (unique !== undefined) spec.set('unique', true);
  if (isSparse) spec.set('sparse', true);
  return spec;
}

export function hasTextIndex(collection: Pick<Collection, 'container'>): boolean {
  return declaredIndexes(collection).some(({ key }) => key.has('_fts'));
}

/** The text index of a collection, as searches need it, with the fields in front of the texts. */
export function textFields(
  collection: Pick<Collection, 'container'>,
): (TextFields & { readonly leading: readonly string[] }) | undefined {
  const index = declaredIndexes(collection).find(
    ({ key, spec }) => key.has('_fts') && spec.get('hidden') !== true,
  );
  if (index === undefined) return undefined;
  const names = [...index.key.keys()];
  return { ...textFieldsOf(index.spec), leading: names.slice(0, names.indexOf('_fts')) };
}

/** Whether a field has an index of places. */
export function hasGeoIndex(
  collection: Pick<Collection, 'container'>,
  field: string,
  kinds: readonly string[],
): boolean {
  return declaredIndexes(collection).some(({ key, spec }) => {
    const kind = key.get(field);
    return typeof kind === 'string' && kinds.includes(kind) && spec.get('hidden') !== true;
  });
}

/** The definition of an index whose description changes. A flag that is off is not shown. */
export function changedSpec(
  { spec }: MongoIndex,
  changes: BsonDocument,
): Pick<IndexDefinition, 'details' | 'expireAfterSec' | 'isHidden'> & {
  readonly spec: BsonDocument;
} {
  const changed = new Map(spec);
  for (const [name, value] of changes)
    if (value === false) changed.delete(name);
    else changed.set(name, value);
  const expiry = changed.get('expireAfterSeconds');
  return {
    spec: changed,
    details: Buffer.from(writeBson(changed)).toString('base64'),
    isHidden: changed.get('hidden') === true,
    ...(typeof expiry === 'number' ? { expireAfterSec: expiry } : {}),
  };
}
