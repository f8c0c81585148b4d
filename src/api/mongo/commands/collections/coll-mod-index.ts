/** The part of `collMod` that changes one index. */
import { DomainError } from '../../../../base/index.ts';
import { type Bson, type BsonDocument, compareBson, isDocument } from '../../../../value/index.ts';
import { doubleOf, isNumber } from '../../bson/arithmetic.ts';
import type { Call } from '../../call.ts';
import type { Collection } from '../../collections/collection.ts';
import { MongoError } from '../../errors.ts';
import { checkFields } from '../../fields/field-table.ts';
import { wholeOf } from '../../fields/numbers.ts';
import {
  changedSpec,
  declaredIndexes,
  type MongoIndex,
  parseIndex,
} from '../../indexes/index-spec.ts';

/** What the reply says about the change. */
export async function modifyIndex(
  call: Call,
  collection: Collection,
  sent: BsonDocument,
  isDryRun: boolean,
): Promise<Readonly<Record<string, Bson>>> {
  checkFields(
    'collMod.index',
    sent,
    {
      name: 'string',
      keyPattern: 'object',
      expireAfterSeconds: 'long',
      hidden: 'flag',
      unique: 'flag',
      prepareUnique: 'flag',
    },
    false,
  );
  const [name, key] = [sent.get('name') ?? undefined, sent.get('keyPattern') ?? undefined];
  if (name === undefined && key === undefined)
    throw invalid('must specify either index name or key pattern');
  if (name !== undefined && key !== undefined)
    throw invalid('Cannot specify both key pattern and name.');
  const changes = ['expireAfterSeconds', 'hidden', 'unique', 'prepareUnique'].filter(
    (field) => (sent.get(field) ?? null) !== null,
  );
  if (changes.length === 0)
    throw invalid('no expireAfterSeconds, hidden, unique, or prepareUnique field');
  const isIdIndex =
    name === '_id_' || (isDocument(key) && compareBson(key, new Map([['_id', 1]])) === 0);
  const clustered = collection.options.get('clusteredIndex');
  if (isDocument(clustered) && (isIdIndex || name === clustered.get('name'))) {
    if ((sent.get('hidden') ?? null) !== null)
      throw new MongoError('Location6011800', 'The clusteredIndex cannot be hidden or unhidden');
    throw new MongoError('IndexNotFound', 'The clusteredIndex is no index that could be changed');
  }
  if (isIdIndex) {
    if (isOn(sent.get('hidden'))) throw new MongoError('BadValue', "can't hide _id index");
    throw invalid('the index of _id cannot be changed');
  }
  const found = declaredIndexes(collection).find((index) =>
    isDocument(key) ? compareBson(index.key, key) === 0 : index.name === name,
  );
  if (found === undefined)
    throw new MongoError(
      'IndexNotFound',
      `cannot find index ${String(name ?? 'by key pattern')} for ns ${collection.namespace.database}.${collection.namespace.collection}`,
    );
  checkCombination(found, sent);
  if (becomesUnique(found, sent)) {
    await convertToUnique(call, collection, found, isDryRun);
    return { unique_new: true };
  }
  if (isDryRun) return {};
  const { reply, changes: changed } = changesOf(found, sent);
  if (changed.size > 0) {
    const { spec, ...change } = changedSpec(found, changed);
    const { service, indexUse } = call.context;
    const { container } = collection;
    if (hasOtherEntries(found, spec, collection)) {
      await replaceIndex(call, collection, found.id, spec);
      return reply;
    }
    await service.indexes.change(container, found.id, change);
    if (changed.has('hidden')) indexUse.begin(container, found.id, call.store.nowMs());
  }
  return reply;
}

/** A change of `prepareUnique` stands alone. */
function checkCombination({ spec }: MongoIndex, sent: BsonDocument): void {
  const prepare = sent.get('prepareUnique') ?? undefined;
  if (prepare === undefined || isOn(prepare) === (spec.get('prepareUnique') === true)) return;
  for (const other of ['hidden', 'expireAfterSeconds', 'unique'])
    if ((sent.get(other) ?? null) !== null)
      throw invalid(`prepareUnique cannot be combined with any other modification: ${other}`);
}

function becomesUnique({ spec }: MongoIndex, sent: BsonDocument): boolean {
  const unique = sent.get('unique') ?? undefined;
  if (unique === undefined) return false;
  if (!isOn(unique))
    throw new MongoError('BadValue', "collMod does not support the 'unique' option with false");
  if (spec.get('unique') === true) return false;
  if (spec.get('prepareUnique') !== true)
    throw invalid('Cannot make index unique. The index must have prepareUnique set to true first.');
  return true;
}

/** Whether an index needs other entries to expire documents. */
function hasOtherEntries(
  { spec, definition }: MongoIndex,
  changed: BsonDocument,
  collection: Collection,
): boolean {
  if (spec.has('expireAfterSeconds') || !changed.has('expireAfterSeconds')) return false;
  const { declared } = parseIndex(changed, collection);
  return declared.isVirtual === true || definition.isVirtual === true;
}

/** Another index takes the place of one when it is built. */
async function replaceIndex(
  { context: { service }, meter }: Call,
  collection: Collection,
  id: number,
  spec: BsonDocument,
): Promise<void> {
  const { declared } = parseIndex(spec, collection);
  const made = await service.indexes.create(collection.container, declared);
  try {
    await service.indexes.whenBuilt(made.container, made.index.id, () => meter.check());
  } catch (error) {
    await service.indexes.drop(made.container, made.index.id);
    throw error;
  }
  await service.indexes.drop(made.container, id);
}

/** A unique index takes the place of the one that was prepared; a dry run only finds out whether it could. */
async function convertToUnique(
  { context: { service }, meter }: Call,
  collection: Collection,
  { id, spec }: MongoIndex,
  isDryRun: boolean,
): Promise<void> {
  const wanted = new Map(spec).set('unique', true);
  wanted.delete('prepareUnique');
  const { declared } = parseIndex(wanted, collection);
  const made = await service.indexes.create(collection.container, declared);
  try {
    await service.indexes.whenBuilt(made.container, made.index.id, () => meter.check());
  } catch (error) {
    await service.indexes.drop(made.container, made.index.id);
    if (error instanceof DomainError && error.code === 'uniqueKeyViolation')
      throw new MongoError(
        'CannotConvertIndexToUnique',
        'Cannot convert the index to unique. Please resolve conflicting documents before running collMod again.',
      );
    throw error;
  }
  await service.indexes.drop(made.container, isDryRun ? made.index.id : id);
}

/** What becomes different, and what the reply says about it. */
function changesOf(
  { spec, key }: MongoIndex,
  sent: BsonDocument,
): { readonly reply: Readonly<Record<string, Bson>>; readonly changes: BsonDocument } {
  const reply: Record<string, Bson> = {};
  const changes = new Map<string, Bson>();
  const expiry = sent.get('expireAfterSeconds') ?? undefined;
  if (expiry !== undefined) {
    const seconds = Math.min(wholeOf(expiry), EXPIRY_MAX);
    if (seconds < 0)
      throw invalid(
        "TTL index 'expireAfterSeconds' option must be within an acceptable range, try a different number",
      );
    if (key.size > 1)
      throw invalid('TTL indexes are single-field indexes, compound indexes do not support TTL.');
    const old = spec.get('expireAfterSeconds');
    if (old !== undefined) reply.expireAfterSeconds_old = BigInt(doubleOf(old));
    reply.expireAfterSeconds_new = BigInt(seconds);
    changes.set('expireAfterSeconds', seconds);
  }
  for (const name of ['hidden', 'prepareUnique'] as const) {
    const value = sent.get(name) ?? undefined;
    if (value === undefined) continue;
    const [before, after] = [spec.get(name) === true, isOn(value)];
    if (before === after) continue;
    reply[`${name}_old`] = before;
    reply[`${name}_new`] = after;
    changes.set(name, after);
  }
  return { reply, changes };
}

const EXPIRY_MAX = 2 ** 31 - 1;

function isOn(value: Bson | undefined): boolean {
  return value === true || (value !== undefined && isNumber(value) && doubleOf(value) !== 0);
}

function invalid(message: string): MongoError {
  return new MongoError('InvalidOptions', message);
}
