/** The reference service's own commands: throughput and shard keys of databases and collections. */
import type { ThroughputSetting } from '../../../../catalog/index.ts';
import { printChangePosition } from '../../../../service/index.ts';
import { type Bson, isArray, isDocument } from '../../../../value/index.ts';
import { Arguments } from '../../bson/arguments.ts';
import { wholeNumber } from '../../bson/arithmetic.ts';
import type { Call, Command } from '../../call.ts';
import { printToken } from '../../change-streams/token.ts';
import {
  type Collection,
  createCollection,
  ensureDatabase,
  findCollection,
  keepVersions,
} from '../../collections/collection.ts';
import { namespaceText, parseNamespace } from '../../collections/namespace.ts';
import { errorReply, MongoError, mongoErrorOf } from '../../errors.ts';
import { splitPath } from '../../query/path.ts';
import { documentOf, ok } from '../../reply.ts';
import { createIndexes } from '../indexes/create-indexes.ts';
import { dropIndexes } from '../indexes/drop-indexes.ts';

type Action = (call: Call) => Promise<Readonly<Record<string, Bson>>>;

const ACTIONS: Readonly<Record<string, Action>> = {
  CreateCollection: makeCollection,
  CreateDatabase: makeDatabase,
  GetChangeStreamTokens: changeStreamTokens,
  GetCollection: describeCollection,
  GetDatabase: describeDatabase,
  UpdateCollection: changeCollection,
  UpdateDatabase: changeDatabase,
};

export const customAction: Command = {
  needs: 'write',
  async run(call) {
    const name = call.args.text(call.name);
    const action = Object.entries(ACTIONS).find(
      ([known]) => known.toLowerCase() === name.toLowerCase(),
    );
    try {
      if (action === undefined) throw new MongoError('BadValue', `Unknown customAction ${name}`);
      return ok(await action[1](call));
    } catch (error) {
      // The text of a refusal has a name of its own here.
      const refusal = mongoErrorOf(error);
      if (refusal.mongoCode === 'InternalError') throw error;
      const reply = new Map(errorReply(refusal));
      return reply.set('errMsg', refusal.message);
    }
  },
};

/** Undefined where the command says nothing about throughput. */
function settingOf({ body }: Call): ThroughputSetting | undefined {
  const fixed = body.get('offerThroughput') ?? null;
  const auto = body.get('autoScaleSettings') ?? null;
  if (fixed !== null && auto !== null)
    throw new MongoError('BadValue', 'offerThroughput and autoScaleSettings exclude each other');
  if (isDocument(auto)) {
    const most = wholeNumber(auto.get('maxThroughput'));
    if (most === undefined)
      throw new MongoError('BadValue', 'autoScaleSettings needs maxThroughput');
    return { kind: 'autoscale', requestUnitsMax: most };
  }
  if (fixed === null) return undefined;
  const requestUnits = wholeNumber(fixed);
  if (requestUnits === undefined)
    throw new MongoError('BadValue', 'offerThroughput must be a number');
  return { kind: 'manual', requestUnits };
}

async function makeDatabase(call: Call): Promise<Readonly<Record<string, Bson>>> {
  const { context, database } = call;
  if (context.service.databases.find(database) !== undefined)
    throw new MongoError('NamespaceExists', `Database ${database} already exists.`);
  await context.service.databases.create(database, settingOf(call));
  return {};
}

async function changeDatabase(call: Call): Promise<Readonly<Record<string, Bson>>> {
  const record = databaseOf(call);
  const setting = settingOf(call);
  if (setting === undefined) throw new MongoError('BadValue', 'UpdateDatabase needs throughput');
  if (record.throughput === undefined)
    throw new MongoError('BadValue', 'The database has no throughput of its own');
  await changeOffer(call, record.throughput, setting);
  return {};
}

async function describeDatabase(call: Call): Promise<Readonly<Record<string, Bson>>> {
  const { throughput } = databaseOf(call);
  return { database: call.database, ...throughputReply(throughput?.setting) };
}

function databaseOf({ context, database }: Call) {
  const record = context.service.databases.find(database);
  if (record === undefined)
    throw new MongoError('NamespaceNotFound', `Database ${database} does not exist`);
  return record;
}

async function makeCollection(call: Call): Promise<Readonly<Record<string, Bson>>> {
  const { context, args, database, body } = call;
  const namespace = parseNamespace(database, args.text('collection'));
  const shardKey = args.optionalText('shardKey');
  const record = await ensureDatabase(context.service, database);
  if (findCollection(context.service, namespace) !== undefined)
    throw new MongoError(
      'NamespaceExists',
      `Collection ${namespaceText(namespace)} already exists.`,
    );
  const setting = settingOf(call);
  const isShared = record.throughput !== undefined && setting === undefined;
  await createCollection(context.service, namespace, {
    shardKey: shardKey === undefined ? undefined : splitPath(shardKey),
    throughput: isShared ? undefined : setting,
  });
  const indexes = body.get('indexes');
  if (isArray(indexes)) await replaceIndexes(call, namespace.collection, indexes, false);
  return {};
}

async function changeCollection(call: Call): Promise<Readonly<Record<string, Bson>>> {
  const { body } = call;
  const collection = collectionIn(call);
  const setting = settingOf(call);
  const { throughput } = collection.container;
  if (setting !== undefined) {
    if (throughput === undefined)
      throw new MongoError('BadValue', 'The collection shares the throughput of its database');
    await changeOffer(call, throughput, setting);
  }
  const indexes = body.get('indexes');
  if (isArray(indexes)) await replaceIndexes(call, collection.namespace.collection, indexes, true);
  return {};
}

async function describeCollection(call: Call): Promise<Readonly<Record<string, Bson>>> {
  const { namespace, container, shardKey } = collectionIn(call);
  return {
    database: namespace.database,
    collection: namespace.collection,
    ...(shardKey === undefined
      ? {}
      : { shardKeyDefinition: documentOf({ [shardKey.join('.')]: 'hashed' }) }),
    ...throughputReply(container.throughput?.setting),
  };
}

function collectionIn({ context, args, database }: Call): Collection {
  const namespace = parseNamespace(database, args.text('collection'));
  const found = findCollection(context.service, namespace);
  if (found === undefined)
    throw new MongoError(
      'NamespaceNotFound',
      `Collection ${namespaceText(namespace)} does not exist`,
    );
  return found;
}

function throughputReply(setting: ThroughputSetting | undefined): Readonly<Record<string, Bson>> {
  if (setting === undefined) return {};
  return setting.kind === 'manual'
    ? { provisionedThroughput: setting.requestUnits }
    : { autoScaleSettings: documentOf({ maxThroughput: setting.requestUnitsMax }) };
}

async function changeOffer(
  { context }: Call,
  { offerRid, setting: old }: { readonly offerRid: number; readonly setting: ThroughputSetting },
  setting: ThroughputSetting,
): Promise<void> {
  const { offers } = context.service;
  if (old.kind !== setting.kind)
    await offers.replace(offerRid, {
      setting: undefined,
      migration: setting.kind === 'manual' ? 'toManual' : 'toAutoscale',
    });
  await offers.replace(offerRid, { setting, migration: undefined });
}

/** All indexes of the list, and where it is a change, no others. */
async function replaceIndexes(
  call: Call,
  collection: string,
  indexes: readonly Bson[],
  dropsOthers: boolean,
): Promise<void> {
  const run = async (command: Command, name: string, fields: Readonly<Record<string, Bson>>) => {
    const body = new Map<string, Bson>([[name, collection], ...Object.entries(fields)]);
    await command.run({ ...call, name, body, args: new Arguments(name, body) });
  };
  if (dropsOthers) await run(dropIndexes, 'dropIndexes', { index: '*' });
  if (indexes.length > 0) await run(createIndexes, 'createIndexes', { indexes });
}

/** One resume token for each physical partition. */
async function changeStreamTokens(call: Call): Promise<Readonly<Record<string, Bson>>> {
  const { context } = call;
  const { container } = await keepVersions(context.service, collectionIn(call));
  const tokens = context.service.containers.routes(container).map(({ min, max }) => {
    const position = [{ min, max, start: { kind: 'after', lsn: 0 } as const }];
    const parts = [[container.databaseRid, container.rid, printChangePosition(position)] as const];
    return printToken({ parts }, context.clusterClock.time);
  });
  return { resumeAfterTokens: tokens };
}
