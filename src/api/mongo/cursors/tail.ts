/** Tailable cursors: finds on capped collections that go on when documents are added. */

import type { ChangeFeedPosition, Service } from '../../../service/index.ts';
import { type BsonDocument, EPK_MAX, EPK_MIN } from '../../../value/index.ts';
import type { Call, Reply } from '../call.ts';
import { isCapped } from '../collections/capped.ts';
import {
  type Collection,
  findCollection,
  isTimeSeries,
  isView,
} from '../collections/collection.ts';
import { namespaceText, parseNamespace } from '../collections/namespace.ts';
import { Row } from '../documents/rows.ts';
import { MongoError } from '../errors.ts';
import { FIRST_BATCH_DOCUMENTS } from '../limits.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { compileFilter } from '../query/filter-test.ts';
import { parseProjection } from '../query/projection-parser.ts';
import { batchReply } from './cursor.ts';
import { LiveCursor, type LiveRow, type LiveSource } from './live-cursor.ts';
import { firstBatch, originOf } from './open-cursor.ts';

const PAGE_ITEMS = 500;
const PAGE_BYTES = 4 * 1024 * 1024;

/** The collection of a tailable find; undefined for other commands. */
export function tailOf({
  context,
  name,
  args,
  body,
  database,
}: Call): Collection | undefined | 'none' {
  if (name !== 'find') return undefined;
  const isTailable = args.flag('tailable');
  if (args.flag('awaitData') && !isTailable)
    throw new MongoError('FailedToParse', 'Cannot set awaitData without tailable');
  if (!isTailable) return undefined;
  if (args.flag('singleBatch'))
    throw new MongoError('BadValue', 'Cannot use tailable option with the singleBatch option');
  const sort = args.optionalDocument('sort');
  if (sort !== undefined && sort.size > 0 && !isNatural(sort))
    throw new MongoError(
      'BadValue',
      'Cannot use tailable option with a sort other than {$natural: 1}',
    );
  const namespace = parseNamespace(database, String(body.get(name)));
  const found = findCollection(context.service, namespace);
  if (found === undefined) return 'none';
  if (isView(found) || isTimeSeries(found))
    throw new MongoError(
      'InvalidPipelineOperator',
      'Tailable cursors are not supported on views and time-series collections',
    );
  if (!isCapped(found))
    throw new MongoError(
      'BadValue',
      `error processing query: ns=${namespaceText(namespace)} tailable cursor requested on non capped collection`,
    );
  return found;
}

function isNatural(sort: BsonDocument): boolean {
  return sort.size === 1 && Number(sort.get('$natural')) === 1;
}

export function openTail(call: Call, collection: Collection | 'none'): Promise<Reply> | Reply {
  const { args, context, body, name, database } = call;
  if (collection === 'none') {
    const namespace = `${database}.${String(body.get(name))}`;
    return batchReply({ name: 'firstBatch', id: 0n, namespace, bodies: [] });
  }
  const source = new Tail(context.service, collection, {
    filter: args.optionalDocument('filter') ?? new Map(),
    projection: args.optionalDocument('projection') ?? new Map(),
    skip: args.optionalCount('skip') ?? 0,
    limit: args.optionalCount('limit') ?? 0,
  });
  const shown = namespaceText(collection.namespace);
  const cursor = new LiveCursor(source, {
    ...originOf(call, shown),
    activity: context.activity,
    isPatient: args.flag('awaitData'),
  });
  const batchSize = args.optionalCount('batchSize') ?? FIRST_BATCH_DOCUMENTS;
  return firstBatch(call, cursor, { batchSize, isSingleBatch: false });
}

interface TailOptions {
  readonly filter: BsonDocument;
  readonly projection: BsonDocument;
  readonly skip: number;
  readonly limit: number;
}

/** The documents in the order of their writes, and then those that come. */
class Tail implements LiveSource {
  readonly #service: Service;
  readonly #collection: Collection;
  readonly #test: (document: BsonDocument) => boolean;
  readonly #project: ((document: BsonDocument) => BsonDocument) | undefined;
  readonly resumeToken = undefined;
  #position: ChangeFeedPosition = [
    { min: EPK_MIN, max: EPK_MAX, start: { kind: 'after', lsn: 0 } },
  ];
  #skip: number;
  #left: number;
  #hasDocuments = false;
  isEnded = false;

  constructor(service: Service, collection: Collection, options: TailOptions) {
    this.#service = service;
    this.#collection = collection;
    this.#test = compileFilter(parseFilter(options.filter));
    this.#project = parseProjection(options.projection);
    this.#skip = options.skip;
    this.#left = options.limit === 0 ? Number.POSITIVE_INFINITY : options.limit;
  }

  async poll(): Promise<readonly LiveRow[]> {
    const { container } = this.#collection;
    const { databaseRid, rid, id } = container;
    const current = this.#service.containers.findByRid(databaseRid, rid);
    if (current?.id !== id) {
      this.isEnded = true;
      const what = current === undefined ? 'dropped' : 'renamed';
      throw new MongoError('QueryPlanKilled', `collection ${what} between getMore calls`);
    }
    const rows: LiveRow[] = [];
    for (;;) {
      const page = await this.#service.changeFeed.read(container, {
        scope: { kind: 'container' },
        mode: 'latest',
        start: { kind: 'position', position: this.#position },
        limit: PAGE_ITEMS,
        bytesMax: PAGE_BYTES,
      });
      this.#position = page.position;
      for (const change of page.changes) {
        const row = change.kind === 'write' ? this.#rowOf(change.item.body) : undefined;
        if (row !== undefined) rows.push(row);
      }
      if (page.changes.length > 0) this.#hasDocuments = true;
      if (rows.length > 0 || !page.more) break;
    }
    // A cursor on an empty collection is dead (documented): there is no place to wait at.
    if (!this.#hasDocuments) this.isEnded = true;
    return rows;
  }

  #rowOf(body: Uint8Array): LiveRow | undefined {
    const row = Row.ofBody(body);
    if (this.#left <= 0 || !this.#test(row.document)) return undefined;
    if (this.#skip > 0) {
      this.#skip -= 1;
      return undefined;
    }
    // Behind the limit the cursor stays open, as in MongoDB, and finds nothing more.
    this.#left -= 1;
    return { body: this.#project === undefined ? body : Row.of(this.#project(row.document)).body };
  }
}
