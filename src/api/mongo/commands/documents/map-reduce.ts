/** Runs two functions of a client over documents: pairs of each document, and one value for each key. */
import {
  type Bson,
  type BsonDocument,
  bsonTypeOf,
  compareBson,
  Double,
  isDocument,
} from '../../../../value/index.ts';
import { pipelineHost } from '../../aggregate/pipeline/host.ts';
import { parsePipeline } from '../../aggregate/pipeline/parse.ts';
import { rowsOf } from '../../aggregate/stages/simple.ts';
import { nested, type StageContext } from '../../aggregate/stages/stage.ts';
import { wholeNumber } from '../../bson/arithmetic.ts';
import type { Call, Command } from '../../call.ts';
import { type Collection, findCollection } from '../../collections/collection.ts';
import { type Namespace, parseNamespace } from '../../collections/namespace.ts';
import { namespaceOf } from '../../collections/target.ts';
import { findDocuments } from '../../documents/find-documents.ts';
import { limited, Row, type Rows, sorted } from '../../documents/rows.ts';
import { MongoError } from '../../errors.ts';
import { wrongType } from '../../fields/field-table.ts';
import { DOCUMENT_BYTES_MAX } from '../../limits.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import type { QueryContext } from '../../query/query-context.ts';
import { parseSort, Sort } from '../../query/sort.ts';
import { ok } from '../../reply.ts';
import { MapReduce, scriptIn } from '../../scripts/map-reduce.ts';
import type { ScriptCalls } from '../../scripts/script-calls.ts';
import { contextOf, refuseView } from './query-arguments.ts';

export const mapReduce: Command = {
  needs: 'read',
  fields: {
    map: 'any!',
    reduce: 'any!',
    finalize: 'any',
    out: 'any!',
    query: 'object',
    sort: 'object',
    limit: 'count',
    collation: 'object',
    scope: 'object',
    verbose: 'flag',
    jsMode: 'flag',
    bypassDocumentValidation: 'flag',
  },
  async run(call) {
    const namespace = namespaceOf(call);
    const collection = findCollection(call.context.service, namespace);
    if (collection !== undefined) refuseView(collection);
    const query = contextOf(call, collection);
    const { expression: expressions } = query;
    const output = outputOf(call);
    const functions = new MapReduce(expressions.scripts as ScriptCalls, {
      map: functionIn(call, 'map'),
      reduce: functionIn(call, 'reduce'),
      finalize:
        (call.body.get('finalize') ?? null) === null ? undefined : functionIn(call, 'finalize'),
      scope: call.args.optionalDocument('scope'),
    });
    const context: StageContext = {
      expressions,
      namespace,
      depth: 0,
      host: pipelineHost(call),
      parse: parsePipeline,
    };
    const results = functions.run(inputOf(call, collection, query));
    if (output.kind === 'inline') return inline(results);
    await written(results, output, functions, context);
    return ok({ result: shownResult(output, call) });
  },
};

/** The documents that the client chose, in its order. */
function inputOf(call: Call, collection: Collection | undefined, context: QueryContext): Rows {
  const { args, store } = call;
  const filter = parseFilter(args.optionalDocument('query') ?? new Map(), context);
  const sort = new Sort(
    parseSort(args.optionalDocument('sort') ?? new Map()),
    context.collation?.compare,
  );
  const limit = args.optionalCount('limit') ?? 0;
  if (collection === undefined) return rowsOf([]);
  const { compare } = context.expression;
  let rows = findDocuments(store, collection, filter, { compare });
  if (!sort.isEmpty) rows = sorted(rows, sort, limit === 0 ? {} : { wanted: limit });
  if (limit > 0) rows = limited(rows, limit);
  return rows;
}

function functionIn({ body }: Call, name: string): string {
  const value = body.get(name) as Bson;
  const source = scriptIn(value);
  if (source === undefined) throw wrongType(`mapReduce.${name}`, value, 'string');
  return source;
}

type OutputKind = 'inline' | 'replace' | 'merge' | 'reduce';

interface Output {
  readonly kind: OutputKind;
  readonly into: Namespace;
  /** True where the client named the database. */
  readonly hasDatabase: boolean;
}

const KINDS: readonly OutputKind[] = ['inline', 'replace', 'merge', 'reduce'];

function outputOf({ body, database }: Call): Output {
  const sent = body.get('out') as Bson;
  const into = (name: string, own = database): Namespace => parseNamespace(own, name);
  if (typeof sent === 'string') return { kind: 'replace', into: into(sent), hasDatabase: false };
  if (!isDocument(sent))
    throw new MongoError('BadValue', "'out' must be either a string or an object");
  const kinds = KINDS.filter((kind) => sent.has(kind));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw new MongoError(
      'BadValue',
      "'out' requires exactly one of 'replace', 'merge', 'reduce' or 'inline'",
    );
  for (const name of sent.keys())
    if (name !== kind && !['db', 'sharded', 'nonAtomic'].includes(name))
      throw new MongoError('BadValue', `Unrecognized option '${name}' of 'out'`);
  const own = sent.get('db');
  if (own !== undefined && typeof own !== 'string')
    throw wrongType('mapReduce.out.db', own, 'string');
  const name = sent.get(kind) as Bson;
  if (kind === 'inline') {
    if (wholeNumber(name) !== 1)
      throw new MongoError('BadValue', "'inline' takes only numeric '1'");
    return { kind, into: { database, collection: '' }, hasDatabase: false };
  }
  if (typeof name !== 'string')
    throw new MongoError('BadValue', `'${kind}' supports only a string, found ${bsonTypeOf(name)}`);
  return { kind, into: into(name, own), hasDatabase: own !== undefined };
}

async function inline(rows: Rows): Promise<BsonDocument> {
  const results: BsonDocument[] = [];
  let bytes = 0;
  for await (const batch of rows)
    for (const row of batch) {
      bytes += row.body.length;
      if (bytes > DOCUMENT_BYTES_MAX)
        throw new MongoError('BSONObjectTooLarge', 'The results of mapReduce exceed 16 MB');
      results.push(row.document);
    }
  return new Map<string, Bson>([
    ['results', results],
    ['ok', new Double(1)],
  ]);
}

function shownResult({ into, hasDatabase }: Output, { database }: Call): Bson {
  if (!hasDatabase && into.database === database) return into.collection;
  return new Map([
    ['db', into.database],
    ['collection', into.collection],
  ]);
}

async function written(
  rows: Rows,
  { kind, into }: Output,
  functions: MapReduce,
  context: StageContext,
): Promise<void> {
  const target = new Map<string, Bson>([
    ['db', into.database],
    ['coll', into.collection],
  ]);
  const stage =
    kind === 'replace'
      ? new Map<string, Bson>([['$out', target]])
      : new Map<string, Bson>([
          [
            '$merge',
            new Map<string, Bson>([
              ['into', target],
              ['whenMatched', 'replace'],
            ]),
          ],
        ]);
  const write = parsePipeline([stage], nested(context));
  const source = kind === 'reduce' ? combined(rows, into, functions, context) : rows;
  for await (const batch of write(source)) void batch;
}

/** The results, each reduced with what the target has for its key. */
async function* combined(
  rows: Rows,
  into: Namespace,
  functions: MapReduce,
  { host }: StageContext,
): Rows {
  for await (const batch of rows) {
    const made: Row[] = [];
    for (const row of batch) made.push(await combinedRow(row, into, functions, host));
    yield made;
  }
}

async function combinedRow(
  row: Row,
  into: Namespace,
  functions: MapReduce,
  { writer }: StageContext['host'],
): Promise<Row> {
  const id = row.document.get('_id') as Bson;
  const existing = await writer.find(into, new Map([['_id', id]]), compareBson);
  if (existing === undefined) return row;
  const values = [existing.get('value') ?? null, row.document.get('value') as Bson];
  return Row.of(
    new Map<string, Bson>([
      ['_id', id],
      ['value', await functions.reduced(id, values)],
    ]),
  );
}
