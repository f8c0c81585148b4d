/** Whether an index is there already, or contradicts one that is. */
import { type Bson, type BsonDocument, equalBson } from '../../../value/index.ts';
import { printDocument } from '../bson/print.ts';
import { MongoError } from '../errors.ts';
import type { MongoIndex } from './index-spec.ts';

type Compared = Pick<MongoIndex, 'name' | 'spec'>;

/** Options that make two indexes of one key different ones. */
const IDENTITY = [
  'collation',
  'partialFilterExpression',
  'wildcardProjection',
  'unique',
  'sparse',
] as const;
/** Further options of which both must be the same. */
const OPTIONS = [
  'expireAfterSeconds',
  'weights',
  'default_language',
  'language_override',
  'textIndexVersion',
  '2dsphereIndexVersion',
  'bits',
  'hidden',
  'min',
  'max',
] as const;

/** True where the same index is there; throws where one of that name or key differs. */
export function isDeclared(
  declared: readonly (Compared & { readonly id: number })[],
  index: Compared,
  isOneCommand = false,
): boolean {
  for (const old of declared) {
    const isSameIndex = sameKey(old, index) && IDENTITY.every((name) => same(old, index, name));
    const isSameOptions = OPTIONS.every((name) => same(old, index, name));
    if (old.name === index.name) {
      if (isSameIndex && isSameOptions) {
        if (isOneCommand)
          throw new MongoError('IndexAlreadyExists', `Identical index already exists: ${old.name}`);
        return true;
      }
      if (isSameIndex && !same(old, index, 'hidden')) throw optionsDiffer(old, index);
      if (isText(old) && isText(index)) throw optionsDiffer(old, index);
      throw isSameIndex && !sameKey(old, index) ? optionsDiffer(old, index) : nameTaken(old, index);
    }
    if (isSameIndex)
      throw isSameOptions
        ? new MongoError(
            'IndexOptionsConflict',
            `Index already exists with a different name: ${old.name}`,
          )
        : optionsDiffer(old, index);
    if (isText(old) && isText(index))
      throw new MongoError(
        'IndexOptionsConflict',
        `An equivalent index already exists with a different name and options. Requested index: ${printDocument(index.spec)}, existing index: ${printDocument(old.spec)}`,
      );
  }
  return false;
}

function isText({ spec }: Compared): boolean {
  return (spec.get('key') as BsonDocument).has('_fts');
}

function sameKey(a: Compared, b: Compared): boolean {
  const [left, right] = [a.spec.get('key') as BsonDocument, b.spec.get('key') as BsonDocument];
  if (left.size !== right.size || !equalBson([...left.keys()], [...right.keys()])) return false;
  if (isText(a)) return equalBson(a.spec.get('weights'), b.spec.get('weights'));
  return equalBson(left, right);
}

function same(a: Compared, b: Compared, name: string): boolean {
  return equalBson(normal(a.spec.get(name)), normal(b.spec.get(name)));
}

function normal(value: Bson | undefined): Bson | undefined {
  return value === false ? undefined : value;
}

function nameTaken(old: Compared, index: Compared): MongoError {
  return new MongoError(
    'IndexKeySpecsConflict',
    'An existing index has the same name as the requested index. When index names are not specified, they are auto ' +
      'generated and can cause conflicts. Please refer to our documentation. ' +
      `Requested index: ${printDocument(index.spec)}, existing index: ${printDocument(old.spec)}`,
  );
}

function optionsDiffer(old: Compared, index: Compared): MongoError {
  return new MongoError(
    'IndexOptionsConflict',
    old.name === index.name
      ? 'An equivalent index already exists with the same name but different options. ' +
          `Requested index: ${printDocument(index.spec)}, existing index: ${printDocument(old.spec)}`
      : 'An equivalent index already exists with a different name and options. ' +
          `Requested index: ${printDocument(index.spec)}, existing index: ${printDocument(old.spec)}`,
  );
}
