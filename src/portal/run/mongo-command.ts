/** From the calls of the shell to the command that a driver would send. */
import type { Document } from 'bson';
import { type MongoStatement, parseMongoText } from './mongo-text-parser.ts';
import { RunError } from './run-error.ts';

interface MongoCommand {
  readonly command: Document;
  /** True where the reply has a cursor. */
  readonly hasCursor: boolean;
  /** True for commands that change nothing. */
  readonly isRead: boolean;
}

/** A chained call and the argument of `find` that it sets. */
const FIND_OPTIONS: Readonly<Record<string, string>> = {
  sort: 'sort',
  limit: 'limit',
  skip: 'skip',
  project: 'projection',
  projection: 'projection',
  hint: 'hint',
  collation: 'collation',
  maxTimeMS: 'maxTimeMS',
  batchSize: 'batchSize',
};

/** Commands of `runCommand` that a read-only portal lets through. */
const READS: ReadonlySet<string> = new Set([
  'find',
  'aggregate',
  'count',
  'distinct',
  'explain',
  'listCollections',
  'listIndexes',
  'ping',
  'hello',
  'buildInfo',
  'collStats',
  'dbStats',
  'getMore',
  'connectionStatus',
  'serverStatus',
]);

export function mongoCommandOf(text: string, batchSize: number): MongoCommand {
  const { collection, calls } = parseMongoText(text);
  const [first, ...chained] = calls as [
    MongoStatement['calls'][number],
    ...MongoStatement['calls'],
  ];
  if (collection === undefined) return databaseCommand(first.name, first.arguments);
  const given = first.arguments as Parameters<Method>[1];
  const make = Object.hasOwn(METHODS, first.name) ? METHODS[first.name] : undefined;
  if (make === undefined)
    throw new RunError(
      'SyntaxError',
      `${first.name} is not known here. Known are ${Object.keys(METHODS).join(', ')}.`,
    );
  const made = make(collection, given, batchSize);
  if (chained.length === 0) return made;
  if (first.name !== 'find')
    throw new RunError('SyntaxError', `Nothing can be chained to ${first.name} here.`);
  return { ...made, command: withOptions(made.command, chained) };
}

function withOptions(find: Document, chained: MongoStatement['calls']): Document {
  const command = { ...find };
  for (const { name, arguments: given } of chained) {
    if (name === 'toArray' || name === 'pretty') continue;
    const option = FIND_OPTIONS[name];
    if (option === undefined)
      throw new RunError(
        'SyntaxError',
        `${name} is not known here. Known are ${Object.keys(FIND_OPTIONS).join(', ')}.`,
      );
    command[option] = given[0];
  }
  return command;
}

function databaseCommand(name: string, given: readonly unknown[]): MongoCommand {
  const [command] = given as [Document?];
  if (name === 'runCommand' && typeof command === 'object' && command !== null) {
    const [verb = ''] = Object.keys(command);
    const hasCursor = verb === 'find' || verb === 'aggregate' || verb.startsWith('list');
    return { command, hasCursor, isRead: READS.has(verb) && !writesOut(command) };
  }
  if (name === 'getCollectionNames')
    return { command: { listCollections: 1, nameOnly: true }, hasCursor: true, isRead: true };
  throw new RunError(
    'SyntaxError',
    `db.${name} is not known here. Known are runCommand and getCollectionNames.`,
  );
}

/** Pipelines may end by writing their results. */
function writesOut({ pipeline }: Document): boolean {
  return (
    Array.isArray(pipeline) &&
    pipeline.some((stage) => stage?.$out !== undefined || stage?.$merge !== undefined)
  );
}

type Method = (
  collection: string,
  given: readonly [Document?, Document?, Document?],
  batchSize: number,
) => MongoCommand;

function write(command: Document): MongoCommand {
  return { command, hasCursor: false, isRead: false };
}

function update(
  collection: string,
  [q = {}, u = {}, options]: Parameters<Method>[1],
  multi: boolean,
): MongoCommand {
  return write({ update: collection, updates: [{ q, u, multi, ...options }] });
}

function remove(collection: string, q: Document | undefined, limit: number): MongoCommand {
  return write({ delete: collection, deletes: [{ q: q ?? {}, limit }] });
}

const METHODS: Readonly<Record<string, Method>> = {
  find: (collection, [filter = {}, projection], batchSize) => ({
    command: { find: collection, filter, ...(projection && { projection }), batchSize },
    hasCursor: true,
    isRead: true,
  }),
  findOne: (collection, [filter = {}, projection]) => ({
    command: {
      find: collection,
      filter,
      ...(projection && { projection }),
      limit: 1,
      singleBatch: true,
    },
    hasCursor: true,
    isRead: true,
  }),
  aggregate: (collection, [pipeline, options], batchSize) => {
    const command = {
      aggregate: collection,
      pipeline: pipeline ?? [],
      cursor: { batchSize },
      ...options,
    };
    return { command, hasCursor: true, isRead: !writesOut(command) };
  },
  countDocuments: (collection, [query = {}]) => ({
    command: {
      aggregate: collection,
      pipeline: [{ $match: query }, { $group: { _id: null, n: { $sum: 1 } } }],
      cursor: {},
    },
    hasCursor: true,
    isRead: true,
  }),
  distinct: (collection, [key, query = {}]) => ({
    command: { distinct: collection, key, query },
    hasCursor: false,
    isRead: true,
  }),
  getIndexes: (collection) => ({
    command: { listIndexes: collection },
    hasCursor: true,
    isRead: true,
  }),
  insertOne: (collection, [document]) => write({ insert: collection, documents: [document] }),
  insertMany: (collection, [documents]) => write({ insert: collection, documents }),
  updateOne: (collection, given) => update(collection, given, false),
  updateMany: (collection, given) => update(collection, given, true),
  replaceOne: (collection, given) => update(collection, given, false),
  deleteOne: (collection, [filter]) => remove(collection, filter, 1),
  deleteMany: (collection, [filter]) => remove(collection, filter, 0),
  createIndex: (collection, [key, options]) =>
    write({
      createIndexes: collection,
      indexes: [
        {
          key,
          name:
            options?.name ??
            Object.entries(key ?? {})
              .flat()
              .map(String)
              .join('_'),
          ...options,
        },
      ],
    }),
  dropIndex: (collection, [index]) => write({ dropIndexes: collection, index }),
};
