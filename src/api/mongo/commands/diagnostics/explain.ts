/** How a command would run: the access path of its filter, and what it read where it is asked to run. */
import {
  type Bson,
  type BsonDocument,
  isArray,
  isDocument,
  readBson,
} from '../../../../value/index.ts';
import { GROUP_MAPPINGS } from '../../aggregate/pipeline/leading-group.ts';
import { isCountingGroup } from '../../aggregate/stages/group.ts';
import { Arguments } from '../../bson/arguments.ts';
import type { Call, Command, Reply } from '../../call.ts';
import { type Collection, findCollection, isView } from '../../collections/collection.ts';
import { type ExplainedQuery, explainedPlan } from '../../diagnostics/plan.ts';
import { wouldChange, wouldFigures } from '../../diagnostics/would-change.ts';
import { MongoError } from '../../errors.ts';
import { missingField, wrongType } from '../../fields/field-table.ts';
import { laterStages } from '../../query-shapes/plan-shape.ts';
import { commandShape, isShaped } from '../../query-shapes/shape.ts';
import { documentOf, ok } from '../../reply.ts';
import { addressText } from '../connection/hello.ts';
import { SERVER_VERSION } from '../connection/server-version.ts';
import { checkPipeline } from '../documents/aggregate.ts';
import { contextOf } from '../documents/query-arguments.ts';
import { isTrue } from '../documents/statement-fields.ts';

const VERBOSITIES = ['queryPlanner', 'executionStats', 'allPlansExecution'];
/** Commands that have plans, with the name of their filter. */
const FILTERS: Readonly<Record<string, string>> = {
  aggregate: '',
  count: 'query',
  delete: 'deletes',
  distinct: 'query',
  find: 'filter',
  findAndModify: 'query',
  findandmodify: 'query',
  update: 'updates',
};

/** @param commandNamed - finds the command that is explained. */
export function explainOf(commandNamed: (name: string) => Command | undefined): Command {
  return {
    needs: 'read',
    fields: { verbosity: 'string' },
    run: (call) => explain(call, commandNamed),
  };
}

async function explain(
  call: Call,
  commandNamed: (name: string) => Command | undefined,
): Promise<Reply> {
  const sent = call.body.get(call.name);
  if (sent === undefined || sent === null) throw missingField('explain', 'explain');
  if (!isDocument(sent)) throw wrongType('explain.explain', sent, 'object');
  const verbosity = call.body.get('verbosity') ?? 'allPlansExecution';
  if (!VERBOSITIES.includes(verbosity as string))
    throw new MongoError(
      'BadValue',
      `Enumeration value '${String(verbosity)}' for field 'explain.verbosity' is not a valid value.`,
    );
  return ok(await explainCommand(call, sent, String(verbosity), commandNamed));
}

/** The command with its own option `explain`, which needs no cursor and writes nothing. */
export function explaining(
  command: Command,
  commandNamed: (name: string) => Command | undefined,
): Command {
  return {
    ...command,
    async run(call) {
      if (call.body.get('explain') !== true) return await command.run(call);
      const body = new Map(call.body);
      body.delete('explain');
      return ok(await explainCommand(call, body, 'queryPlanner', commandNamed));
    },
  };
}

/** The reply of `explain`, also for `aggregate` with its own option. */
async function explainCommand(
  call: Call,
  body: BsonDocument,
  verbosity: string,
  commandNamed: (name: string) => Command | undefined,
): Promise<Readonly<Record<string, Bson>>> {
  const [name = ''] = body.keys();
  if (!Object.hasOwn(FILTERS, name)) throw unexplained(name, commandNamed(name));
  if (name === 'aggregate' && body.has('writeConcern'))
    throw new MongoError(
      'FailedToParse',
      "Aggregation explain does not support the'writeConcern' option",
    );
  const database = call.database;
  const query = queryOf(name, body);
  const target = body.get(name);
  const collection = typeof target === 'string' ? target : '';
  const namespace = { database, collection };
  const found = collection === '' ? undefined : findCollection(call.context.service, namespace);
  const known = found !== undefined && !isView(found) ? found : undefined;
  if (name === 'aggregate') checkPipeline({ ...call, name, body, args: new Arguments(name, body) });
  const filter =
    known && call.context.indexFilters.find(known, { ...shapedParts(query), query: query.filter });
  const settings = call.context.querySettings.find(name, database, body)?.settings;
  const allowed = filter?.indexes ?? allowedIn(settings, namespace);
  const plan = await explainedPlan(call, known, { ...query, allowed });
  const reply: Record<string, Bson> = {
    explainVersion: '1',
    queryPlanner: documentOf({
      namespace: `${database}.${collection}`,
      parsedQuery: query.filter,
      indexFilterSet: filter !== undefined,
      ...(settings === undefined ? {} : { querySettings: settings }),
      queryHash: plan.hash,
      planCacheShapeHash: plan.hash,
      planCacheKey: plan.hash,
      optimizationTimeMillis: 0,
      maxIndexedOrSolutionsReached: false,
      maxIndexedAndSolutionsReached: false,
      maxScansToExplodeReached: false,
      prunedSimilarIndexes: false,
      winningPlan: plan.winning,
      rejectedPlans: [],
    }),
  };
  if (verbosity !== 'queryPlanner') {
    const command = commandNamed(name);
    const isRead = command?.needs === 'read';
    const stats =
      isRead && command !== undefined
        ? await execute(call, command, name, body)
        : { ...NOT_RUN, would: await changeFigures(call, known, name, body) };
    reply.executionStats = documentOf({
      executionSuccess: true,
      nReturned: stats.returned,
      executionTimeMillis: stats.ms,
      totalKeysExamined: stats.keys,
      totalDocsExamined: isRead || plan.usesIndex ? stats.documents : plan.documents,
      executionStages: new Map([
        ...plan.winning,
        ['nReturned', stats.returned],
        ['executionTimeMillisEstimate', stats.ms],
        ['works', stats.returned + 1],
        ['advanced', stats.returned],
        ['needTime', 0],
        ['needYield', 0],
        ['isEOF', 1],
        ...Object.entries(stats.would ?? {}),
      ]),
      ...(verbosity === 'allPlansExecution' ? { allPlansExecution: [] } : {}),
    });
  }
  return { ...reply, ...environment(call, body) };
}

const NOT_RUN: Executed = { returned: 0, ms: 0, keys: 0, documents: 0 };

/** What a command returned, and what it read for that. */
interface Executed {
  readonly returned: number;
  readonly ms: number;
  readonly keys: number;
  readonly documents: number;
  /** What a write would do. */
  readonly would?: Readonly<Record<string, Bson>>;
}

function unexplained(name: string, known: Command | undefined): MongoError {
  if (known === undefined)
    return new MongoError('CommandNotFound', `Explain failed due to unknown command: ${name}`);
  return new MongoError('IllegalOperation', `Cannot explain cmd: ${name}`);
}

/** The figures of the first statement of an update or a delete. */
async function changeFigures(
  call: Call,
  known: Collection | undefined,
  name: string,
  body: BsonDocument,
): Promise<Readonly<Record<string, Bson>>> {
  const statements = body.get(FILTERS[name] as string);
  const first = isArray(statements) ? statements[0] : undefined;
  if (!isDocument(first) || (name !== 'delete' && name !== 'update')) return {};
  const isOne = name === 'delete' ? isTrue(first.get('limit')) : !isTrue(first.get('multi'));
  const context = contextOf({ ...call, name, body }, known, first);
  return wouldFigures(name, await wouldChange(call, known, { sent: first, isOne, context }));
}

function environment(
  { connection, context, database }: Call,
  command: BsonDocument,
): Readonly<Record<string, Bson>> {
  const [name = ''] = command.keys();
  return {
    queryShapeHash: isShaped(name) ? commandShape(name, database, command) : '',
    command: new Map([...command].filter(([name]) => !name.startsWith('$') || name === '$db')),
    serverInfo: documentOf({
      host: connection.info.host,
      port: connection.info.port,
      version: SERVER_VERSION,
      gitVersion: `mesocosm ${context.version} ${addressText(connection.info)}`,
    }),
    serverParameters: documentOf({ internalQueryMaxBlockingSortMemoryUsageBytes: 104_857_600 }),
  };
}

/** Runs the command and counts what comes back; its cursor is closed. */
async function execute(
  call: Call,
  command: Command,
  name: string,
  sent: BsonDocument,
): Promise<Executed> {
  const startedMs = performance.now();
  const { meter } = call;
  const { keysExamined, documentsExamined } = meter;
  const body = new Map(sent).set('$db', call.database);
  body.delete('explain');
  if (name === 'aggregate') {
    body.set('cursor', new Map());
    body.set('pipeline', withoutWrites(body.get('pipeline')));
  }
  const inner = { ...call, name, body, args: new Arguments(name, body) };
  const reply = await command.run(inner);
  const document = reply instanceof Uint8Array ? readBson(reply) : reply;
  let returned = countIn(document);
  const cursor = document.get('cursor');
  const id = isDocument(cursor) ? cursor.get('id') : 0n;
  if (typeof id === 'bigint' && id !== 0n && isDocument(cursor)) {
    const { cursors } = call.context;
    const open = cursors.acquire(id, String(cursor.get('ns')), {
      session: call.session,
      transaction: undefined,
    });
    while (!open.isDone) returned += (await open.next(1000, 0)).length;
    await cursors.release(id, open);
  }
  return {
    returned,
    ms: Math.round(performance.now() - startedMs),
    keys: meter.keysExamined - keysExamined,
    documents: meter.documentsExamined - documentsExamined,
  };
}

function shapedParts({ sort, projection, collation }: ExplainedQuery): {
  readonly sort: BsonDocument;
  readonly projection: BsonDocument;
  readonly collation: BsonDocument | undefined;
} {
  const part = (value: Bson | undefined): BsonDocument => (isDocument(value) ? value : new Map());
  return {
    sort: part(sort),
    projection: part(projection),
    collation: isDocument(collation) ? collation : undefined,
  };
}

/** The indexes that settings of the query allow in a collection. */
function allowedIn(
  settings: BsonDocument | undefined,
  { database, collection }: { readonly database: string; readonly collection: string },
): readonly Bson[] | undefined {
  const hints = settings?.get('indexHints') ?? [];
  for (const hint of isArray(hints) ? hints : [hints]) {
    const ns = isDocument(hint) ? hint.get('ns') : undefined;
    const allowed = isDocument(hint) ? hint.get('allowedIndexes') : undefined;
    if (isDocument(ns) && ns.get('db') === database && ns.get('coll') === collection)
      return isArray(allowed) ? allowed : undefined;
  }
  return undefined;
}

/** What is explained is not written. */
function withoutWrites(pipeline: Bson | undefined): Bson {
  if (!isArray(pipeline)) return [];
  return pipeline.filter(
    (stage) => !isDocument(stage) || !(stage.has('$out') || stage.has('$merge')),
  );
}

function countIn(reply: BsonDocument): number {
  const cursor = reply.get('cursor');
  const batch = isDocument(cursor) ? cursor.get('firstBatch') : undefined;
  if (isArray(batch)) return batch.length;
  const values = reply.get('values');
  return isArray(values) ? values.length : 1;
}

/** The group that a pipeline begins with, behind stages that map documents. */
function leadingGroupIn(pipeline: readonly Bson[]): ExplainedQuery['group'] {
  for (const [at, stage] of pipeline.entries()) {
    if (!isDocument(stage)) return undefined;
    const [[name, argument] = ['', null]] = stage;
    const isFirst = at === 0 || (at === 1 && (pipeline[0] as BsonDocument).has('$match'));
    if (name === '$group') return { isCount: isFirst && isCountingGroup(argument) };
    if (name === '$count') return { isCount: isFirst };
    if (name === '$sortByCount') return { isCount: false };
    if (!GROUP_MAPPINGS.has(name)) return undefined;
  }
  return undefined;
}

/** Filter, sort and projection of the command, whatever it is. */
function queryOf(name: string, body: BsonDocument): ExplainedQuery {
  const parts = {
    sort: body.get('sort'),
    projection: body.get('projection'),
    limit: body.get('limit'),
    skip: body.get('skip'),
    hint: body.get('hint'),
    collation: body.get('collation'),
    stages: name === 'aggregate' ? laterStages(body.get('pipeline')) : [],
    kind: name,
    key: name === 'distinct' ? String(body.get('key')) : undefined,
  };
  if (name === 'aggregate') {
    const pipeline = body.get('pipeline');
    const [first, second] = isArray(pipeline) ? pipeline : [];
    const match = isDocument(first) ? first.get('$match') : undefined;
    const next = match === undefined ? first : second;
    const sort = isDocument(next) ? next.get('$sort') : undefined;
    const group = isArray(pipeline) ? leadingGroupIn(pipeline) : undefined;
    return { ...parts, sort, group, filter: isDocument(match) ? match : new Map() };
  }
  let source = body;
  if (name === 'update' || name === 'delete') {
    const statements = body.get(FILTERS[name] as string);
    const first = isArray(statements) ? statements[0] : undefined;
    source = isDocument(first) ? first : new Map();
  }
  const filter = source.get(
    name === 'update' || name === 'delete' ? 'q' : (FILTERS[name] as string),
  );
  return { ...parts, filter: isDocument(filter) ? filter : new Map() };
}
