/** Changes options of a collection, of a view, or of one index. */
import { type Bson, type BsonDocument, isDocument } from '../../../../value/index.ts';
import type { Call, Command } from '../../call.ts';
import {
  type Collection,
  changeOptions,
  findCollection,
  isView,
} from '../../collections/collection.ts';
import { checkUuid } from '../../collections/collection-uuid.ts';
import {
  checkExpiry,
  checkImages,
  checkValidation,
  invalid,
  mayExpire,
} from '../../collections/create-options.ts';
import { namespaceText } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { changedTimeseries } from '../../collections/timeseries-options.ts';
import { MongoError } from '../../errors.ts';
import { wrongType } from '../../fields/field-table.ts';
import { wholeOf } from '../../fields/numbers.ts';
import { ok } from '../../reply.ts';
import { checkView } from '../../views/view.ts';
import { modifyIndex } from './coll-mod-index.ts';

export const collMod: Command = {
  needs: 'write',
  fields: {
    validator: 'object',
    validationLevel: 'string',
    validationAction: 'string',
    viewOn: 'string',
    pipeline: 'array',
    index: 'object',
    expireAfterSeconds: 'any',
    changeStreamPreAndPostImages: 'object',
    timeseries: 'object',
    cappedSize: 'long',
    cappedMax: 'long',
    dryRun: 'flag',
    collectionUUID: 'uuid',
  },
  async run(call) {
    const { context, args } = call;
    const namespace = namespaceOf(call);
    const collection = findCollection(context.service, namespace);
    checkUuid(call, namespace, collection);
    if (collection === undefined)
      throw new MongoError('NamespaceNotFound', `ns does not exist: ${namespaceText(namespace)}`);
    const sent = new Map([...call.body].filter(([, value]) => value !== null));
    if (call.body.get('expireAfterSeconds') === null)
      throw wrongType('collMod.expireAfterSeconds', null, '[string, long]');
    checkTarget(sent, collection);
    const options = changedOptions(call, sent, collection);
    const index = sent.get('index');
    const isDryRun = args.flag('dryRun');
    if (isDryRun && (!isDocument(index) || (index.get('unique') ?? null) === null))
      throw invalid('dryRun mode is only supported for unique index conversions');
    const reply = isDocument(index) ? await modifyIndex(call, collection, index, isDryRun) : {};
    if (isDryRun) return ok();
    if (options !== collection.options) {
      const current = findCollection(context.service, namespace) as Collection;
      await changeOptions(context.service, current, options);
    }
    context.changes.expanded('modify', namespace, {});
    return ok(reply);
  },
};

const SERVER_DATABASES: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

/** Options that are not for this kind of collection. */
function checkTarget(sent: BsonDocument, collection: Collection): void {
  const { options, namespace } = collection;
  const isServers = SERVER_DATABASES.has(namespace.database);
  if (sent.has('validator') && (isServers || namespace.collection.startsWith('system.')))
    throw invalid(
      `Document validators are not allowed on ${isServers ? 'collections in' : ''} ${namespaceText(namespace)}`,
    );
  const refuse = (names: readonly string[], why: string): void => {
    for (const name of names)
      if (sent.has(name)) throw invalid(`option not supported on ${why}: ${name}`);
  };
  if (isView(collection))
    refuse(
      [
        'validator',
        'validationLevel',
        'validationAction',
        'index',
        'expireAfterSeconds',
        'changeStreamPreAndPostImages',
        'timeseries',
        'cappedSize',
        'cappedMax',
      ],
      'a view',
    );
  else refuse(['viewOn', 'pipeline'], 'a collection');
  if (options.has('timeseries'))
    refuse(
      ['validator', 'validationLevel', 'validationAction', 'changeStreamPreAndPostImages'],
      'a time-series collection',
    );
  else refuse(['timeseries'], 'a collection that is no time-series collection');
  if (options.get('capped') !== true && !options.has('timeseries') && !isView(collection))
    refuse(['cappedSize', 'cappedMax'], 'a collection that is not capped');
}

const SIZE_MAX = 2 ** 50;
const INT32_MAX = 2 ** 31 - 1;

function changedOptions(call: Call, sent: BsonDocument, collection: Collection): BsonDocument {
  const changed = new Map(collection.options);
  const { clock } = call.context.service;
  checkValidation(sent);
  checkImages(sent);
  for (const name of ['validationLevel', 'validationAction', 'viewOn']) {
    const value = sent.get(name);
    if (value !== undefined) changed.set(name, value);
  }
  const validator = sent.get('validator');
  if (isDocument(validator)) {
    if (validator.size === 0) changed.delete('validator');
    else changed.set('validator', validator);
  }
  changeView(call, sent, changed, collection);
  const images = sent.get('changeStreamPreAndPostImages');
  if (isDocument(images)) {
    if (images.get('enabled') === true) changed.set('changeStreamPreAndPostImages', images);
    else changed.delete('changeStreamPreAndPostImages');
  }
  const timeseries = changed.get('timeseries');
  if (isDocument(timeseries) && sent.has('timeseries'))
    changed.set('timeseries', changedTimeseries(timeseries, sent.get('timeseries') as Bson));
  changeCap(sent, changed);
  const expire = sent.get('expireAfterSeconds');
  if (expire !== undefined) changeExpiry(expire, changed, clock.nowMs());
  return sent.size > 2 ? changed : collection.options;
}

function changeView(
  { context }: Call,
  sent: BsonDocument,
  changed: Map<string, Bson>,
  { namespace }: Collection,
): void {
  const pipeline = sent.get('pipeline');
  if (Array.isArray(pipeline))
    changed.set(
      'pipeline',
      pipeline.filter((stage: Bson) => stage !== null),
    );
  if (!sent.has('viewOn') && pipeline === undefined) return;
  if (sent.get('viewOn') === '') throw new MongoError('BadValue', "'viewOn' cannot be empty");
  checkView(context.service, namespace, changed);
}

function changeCap(sent: BsonDocument, changed: Map<string, Bson>): void {
  const [size, max] = [sent.get('cappedSize'), sent.get('cappedMax')];
  if (size !== undefined) {
    const bytes = wholeOf(size);
    if (bytes < 1 || bytes > SIZE_MAX)
      throw new MongoError(
        'BadValue',
        `BSON field 'cappedSize' value must be >= 1 and <= ${SIZE_MAX}, actual value '${bytes}'`,
      );
    if (changed.get('capped') === true)
      changed.set('size', bytes <= INT32_MAX ? bytes : BigInt(bytes));
  }
  if (max === undefined) return;
  const count = wholeOf(max);
  if (count > INT32_MAX)
    throw new MongoError(
      'BadValue',
      'cappedMax in a capped collection has to be < 2^31 or not set',
    );
  if (changed.get('capped') !== true) return;
  if (count > 0) changed.set('max', count);
  else changed.delete('max');
}

function changeExpiry(sent: Bson, changed: Map<string, Bson>, nowMs: number): void {
  if (typeof sent === 'string') {
    if (sent !== 'off')
      throw invalid(`Invalid value for 'expireAfterSeconds': '${sent}'. Only 'off' is supported`);
    if (!mayExpire(changed))
      throw invalid("'expireAfterSeconds' is not supported on this collection");
    changed.delete('expireAfterSeconds');
    return;
  }
  if (typeof sent === 'boolean' || sent instanceof Map || Array.isArray(sent))
    throw wrongType('collMod.expireAfterSeconds', sent, 'long');
  changed.set('expireAfterSeconds', checkExpiry(sent, { nowMs, isAllowed: mayExpire(changed) }));
}
