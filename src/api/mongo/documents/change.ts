/** Updates and deletes of the documents that a filter matches: the first one, or all. */
import type { Bytes, MaybePromise } from '../../../base/index.ts';
import type { Effect, Item, WriteNote } from '../../../partition/index.ts';
import type { ItemAddress, ItemWrite } from '../../../service/index.ts';
import type { Bson, BsonDocument } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { namespaceText } from '../collections/namespace.ts';
import { MongoError } from '../errors.ts';
import { type Filter, scriptedParts } from '../query/filter.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { PLAIN_CONTEXT, type QueryContext } from '../query/query-context.ts';
import { Sort, type SortPart } from '../query/sort.ts';
import type { RetryableWrite } from '../sessions/retryable-write.ts';
import { parseUpdate } from '../update/update.ts';
import { addressFields, addressIn, addressOf, partitionKeyIn } from './address.ts';
import {
  type ChangeResult,
  type KeptImage,
  NO_CHANGE,
  parseNote,
  parseReply,
  printChange,
} from './change-result.ts';
import { isFoundByFilter, writeError } from './duplicate.ts';
import { type FindOptions, findDocuments, sortedDocuments } from './find-documents.ts';
import { insertOne } from './insert.ts';
import type { NewDocument } from './new-document.ts';
import { type ReadFields, Row, type Rows, readerOf } from './rows.ts';
import { compileRules, rulesOf } from './rules.ts';
import type { DocumentStore } from './store.ts';
import { checkTimeseriesUpdate } from './timeseries-updates.ts';
import {
  DELETE,
  decodeAhead,
  decodesAhead,
  decodesAtOnce,
  deleteArguments,
  LargeDocumentFound,
  UPDATE,
  updateArguments,
  upsertedDocument,
} from './updaters.ts';

export interface Change {
  readonly filter: BsonDocument;
  /** Undefined: delete. */
  readonly update: Bson | undefined;
  readonly arrayFilters: readonly Bson[];
  readonly isUpsert: boolean;
  readonly isMulti: boolean;
  /** Which of several documents is changed. */
  readonly sort: Sort | readonly SortPart[];
  /** The document that the command returns. */
  readonly image: KeptImage;
  readonly context?: QueryContext;
  readonly bypassesValidation?: boolean;
}

interface ChangeContext {
  readonly store: DocumentStore;
  readonly collection: Collection;
  readonly retryable: RetryableWrite | undefined;
  /** The place of the statement in its command. */
  readonly place: number;
}

/** Times that a change of one document looks again, because others changed what it had found. */
const ATTEMPTS_MAX = 100;
/** Times that a large document is decoded before its change, because others changed it meanwhile. */
const LARGE_ATTEMPTS_MAX = 3;
/** Writes of a multi-document change in one sequence, and bytes of their documents. */
const SEQUENCE_WRITES = 500;
const SEQUENCE_BYTES = 4 * 1024 * 1024;

export function changeDocuments(change: Change, context: ChangeContext): Promise<ChangeResult> {
  return new Changer(change, context).run();
}

class Changer {
  readonly #change: Change & { readonly context: QueryContext };
  readonly #context: ChangeContext;
  readonly #filter: Filter;
  readonly #args: Bytes;
  readonly #readAddress: ReadFields;

  constructor(change: Change, context: ChangeContext) {
    this.#change = { ...change, context: change.context ?? PLAIN_CONTEXT };
    this.#context = context;
    checkTimeseriesUpdate(context.collection, change);
    this.#filter = parseFilter(change.filter, this.#change.context);
    this.#args = argumentsOf(this.#change, context);
    this.#readAddress = readerOf(addressFields(context.collection));
    if (!context.store.isTransaction && !change.isMulti) decodesAhead(this.#args);
  }

  async run(): Promise<ChangeResult> {
    const { isMulti, isUpsert } = this.#change;
    const { collection, retryable } = this.#context;
    if (isMulti) {
      if (retryable !== undefined)
        throw new MongoError('InvalidOptions', 'Cannot use retryable writes with multi=true');
      return this.#changeAll();
    }
    const isCollated = this.#change.context.collation !== undefined;
    const address = isCollated ? undefined : addressIn(collection, this.#filter);
    if (address !== undefined && scriptedParts(this.#filter).length === 0)
      return (await this.#resultOf(await this.#run(this.#write(address, 0)))) ?? NO_CHANGE;
    const earlier = await this.#earlierResult();
    if (earlier !== undefined) return earlier;
    // Those that have left a note: a refused insert has none.
    let attempt = 0;
    for (let round = 0; round < ATTEMPTS_MAX; round++) {
      const found = await this.#firstRow();
      if (found === undefined && !isUpsert) return NO_CHANGE;
      const result =
        found === undefined
          ? await this.#insertOrLookAgain(attempt)
          : await this.#resultOf(await this.#run(this.#write(this.#addressOf(found), attempt++)));
      if (result !== undefined) return result;
    }
    throw new MongoError('WriteConflict', 'The document changed each time it was found.');
  }

  /** What this very statement did before, where the filter says in which partition to look. */
  async #earlierResult(): Promise<ChangeResult | undefined> {
    const { store, collection, retryable, place } = this.#context;
    const partitionKey = partitionKeyIn(collection, this.#filter);
    if (retryable === undefined || partitionKey === undefined) return undefined;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const owner = retryable.owner(place, attempt);
      const note = await store.note(collection, partitionKey, owner);
      const result = note && this.#repeated(note);
      if (note === undefined || result !== undefined) return result;
    }
    return undefined;
  }

  /** Undefined where that attempt matched nothing. */
  #repeated(note: Bytes): ChangeResult | undefined {
    const { retryable, place } = this.#context;
    const result = parseNote(note);
    if (result.matched === 0 && result.upsertedId === undefined) return undefined;
    retryable?.repeated.push(retryable.statementId(place));
    return result;
  }

  async #run(write: ItemWrite): Promise<Effect> {
    const { store, collection } = this.#context;
    for (let attempt = 0; ; attempt++)
      try {
        return await store.write(collection, write);
      } catch (error) {
        if (!(error instanceof LargeDocumentFound)) throw writeError(collection, error);
        if (attempt >= LARGE_ATTEMPTS_MAX) decodesAtOnce(this.#args);
        else await this.#decodeAhead(write);
      }
  }

  async #decodeAhead(address: ItemAddress): Promise<void> {
    const { store, collection } = this.#context;
    const item = await store.read(collection, address);
    if (item !== undefined) await decodeAhead(this.#args, item.body);
  }

  #write(address: ItemAddress, attempt: number): ItemWrite {
    return {
      kind: 'update',
      ...address,
      updater: this.#change.update === undefined ? DELETE : UPDATE,
      args: this.#args,
      createsAbsent: true,
      note: this.#note(attempt),
    };
  }

  #note(attempt: number, bytes?: Bytes): WriteNote | undefined {
    const { retryable, place } = this.#context;
    return retryable?.note(place, attempt, bytes);
  }

  /** Undefined where the document no longer matched. */
  async #resultOf(effect: Effect): Promise<ChangeResult | undefined> {
    if (effect.isRepeated === true) return this.#repeated(effect.reply as Bytes);
    const { matched, modified, upsertedId } = parseReply(effect.reply as Bytes, effect.item?.body);
    if (matched === 0 && upsertedId === undefined) return undefined;
    const { image } = this.#change;
    return {
      matched,
      modified,
      upsertedId,
      before: image === 'none' ? undefined : await documentOf(effect.previous),
      after: image === 'none' ? undefined : await documentOf(effect.item),
    };
  }

  async #firstRow(): Promise<Row | undefined> {
    const { sort: sent } = this.#change;
    const sort = sent instanceof Sort ? sent : new Sort(sent);
    const { store, collection } = this.#context;
    const rows = sort.isEmpty
      ? this.#rows()
      : sortedDocuments(store, collection, this.#filter, { ...this.#options(), sort, wanted: 1 });
    for await (const [row] of rows) return row;
    return undefined;
  }

  #rows(): Rows {
    const { store, collection } = this.#context;
    return findDocuments(store, collection, this.#filter, this.#options());
  }

  #options(): FindOptions {
    return { compare: this.#change.context.expression.compare };
  }

  #addressOf(row: Row): ItemAddress {
    return addressOf(this.#context.collection, this.#readAddress(row));
  }

  /** Decoded in slices before its change; other rows of the command are small. */
  async #changeLarge(row: Row): Promise<Effect> {
    try {
      if (!this.#context.store.isTransaction) await decodeAhead(this.#args, row.body);
      return await this.#run(this.#write(this.#addressOf(row), 0));
    } finally {
      decodesAtOnce(this.#args);
    }
  }

  /** Every document that matches, once. */
  async #changeAll(): Promise<ChangeResult> {
    const { store, collection } = this.#context;
    let matched = 0;
    let modified = 0;
    const count = ({ reply }: Effect): void => {
      const result = parseReply(reply as Bytes, undefined);
      matched += result.matched;
      modified += result.modified;
    };
    for await (const batch of sequences(this.#rows())) {
      const [first] = batch;
      if (first?.isLarge === true) {
        count(await this.#changeLarge(first));
        continue;
      }
      const writes = batch.map((row) => this.#write(this.#addressOf(row), 0));
      for (const step of await store.sequence(collection, writes, 'untilRefused')) {
        if ('error' in step) throw writeError(collection, step.error);
        if ('effect' in step) count(step.effect as Effect);
      }
    }
    if (matched === 0 && this.#change.isUpsert) return this.#insertNew(this.#newDocument(), 0);
    return { ...NO_CHANGE, matched, modified };
  }

  /** Undefined where somebody has inserted the document meanwhile: it is what the filter asks for. */
  async #insertOrLookAgain(attempt: number): Promise<ChangeResult | undefined> {
    const made = this.#newDocument();
    try {
      return await this.#insertNew(made, attempt);
    } catch (error) {
      const { isTransaction } = this.#context.store;
      if (isTransaction || !isFoundByFilter(error, this.#filter, made.document)) throw error;
      return undefined;
    }
  }

  #newDocument(): NewDocument {
    const { store, collection } = this.#context;
    const { update, arrayFilters, context, bypassesValidation } = this.#change;
    const parsedUpdate = parseUpdate(update, arrayFilters, context);
    const made = upsertedDocument({ parsed: this.#filter, parsedUpdate, context }, store.nowMs());
    compileRules(rulesOf(collection, bypassesValidation))(made.document);
    return made;
  }

  /** The document of an upsert whose filter names no `_id`. */
  async #insertNew(made: NewDocument, attempt: number): Promise<ChangeResult> {
    const { store, collection } = this.#context;
    const { image } = this.#change;
    const result = {
      ...NO_CHANGE,
      upsertedId: made.document.get('_id'),
      after: made.document,
    };
    await insertOne(store, collection, made, this.#note(attempt, printChange(result, image)));
    return result;
  }
}

function documentOf(item: Item | undefined): MaybePromise<BsonDocument | undefined> {
  if (item === undefined) return undefined;
  const row = Row.ofBody(item.body);
  return row.isLarge ? row.decodeInSlices().then(() => row.document) : row.document;
}

/** Rows that are changed by one command: a large one by its own. */
async function* sequences(rows: Rows): Rows {
  let batch: Row[] = [];
  let bytes = 0;
  for await (const found of rows)
    for (const row of found) {
      const isFull = batch.length >= SEQUENCE_WRITES || bytes > SEQUENCE_BYTES || row.isLarge;
      if (isFull && batch.length > 0) {
        yield batch;
        batch = [];
        bytes = 0;
      }
      if (row.isLarge) yield [row];
      else batch.push(row);
      bytes += row.storedBytes;
    }
  if (batch.length > 0) yield batch;
}

function argumentsOf(
  change: Change & { readonly context: QueryContext },
  { collection, retryable }: ChangeContext,
): Bytes {
  const { filter, update, arrayFilters, isUpsert, context } = change;
  // Only a note needs the document; otherwise the effect has it.
  const image = retryable === undefined ? 'none' : change.image;
  if (update === undefined) return deleteArguments(filter, image, context);
  return updateArguments({
    filter,
    update,
    arrayFilters,
    isUpsert: isUpsert && !change.isMulti,
    shardKey: collection.shardKey?.join('.') ?? '',
    namespace: namespaceText(collection.namespace),
    image,
    context,
    rules: rulesOf(collection, change.bypassesValidation),
  });
}
