/** Updates and deletes of the documents that a filter matches: the first one, or all. */
import type { Bytes } from '../../../base/index.ts';
import type { Effect, WriteNote } from '../../../partition/index.ts';
import type { ItemAddress, ItemWrite } from '../../../service/index.ts';
import { type Bson, type BsonDocument, readBson } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { namespaceText } from '../collections/namespace.ts';
import { MongoError } from '../errors.ts';
import { type Filter, scriptedParts } from '../query/filter.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { PLAIN_CONTEXT, type QueryContext } from '../query/query-context.ts';
import { Sort, type SortPart } from '../query/sort.ts';
import type { RetryableWrite } from '../sessions/retryable-write.ts';
import { parseUpdate } from '../update/update.ts';
import { addressIn, addressOf, partitionKeyIn } from './address.ts';
import {
  type ChangeResult,
  type KeptImage,
  NO_CHANGE,
  parseNote,
  parseReply,
  printChange,
} from './change-result.ts';
import { writeError } from './duplicate.ts';
import { type FindOptions, findDocuments, sortedDocuments } from './find-documents.ts';
import { insertOne } from './insert.ts';
import type { Row, Rows } from './rows.ts';
import { compileRules, rulesOf } from './rules.ts';
import type { DocumentStore } from './store.ts';
import { checkTimeseriesUpdate } from './timeseries-updates.ts';
import { DELETE, deleteArguments, UPDATE, updateArguments, upsertedDocument } from './updaters.ts';

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
/** Writes of a multi-document change in one sequence. */
const SEQUENCE_WRITES = 500;

export function changeDocuments(change: Change, context: ChangeContext): Promise<ChangeResult> {
  return new Changer(change, context).run();
}

class Changer {
  readonly #change: Change & { readonly context: QueryContext };
  readonly #context: ChangeContext;
  readonly #filter: Filter;
  readonly #args: Bytes;

  constructor(change: Change, context: ChangeContext) {
    this.#change = { ...change, context: change.context ?? PLAIN_CONTEXT };
    this.#context = context;
    checkTimeseriesUpdate(context.collection, change);
    this.#filter = parseFilter(change.filter, this.#change.context);
    this.#args = argumentsOf(this.#change, context);
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
      return this.#resultOf(await this.#run(this.#write(address, 0))) ?? NO_CHANGE;
    const earlier = await this.#earlierResult();
    if (earlier !== undefined) return earlier;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const found = await this.#firstRow();
      if (found === undefined) return isUpsert ? this.#insertNew(attempt) : NO_CHANGE;
      const write = this.#write(addressOf(collection, found.document), attempt);
      const result = this.#resultOf(await this.#run(write));
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
    try {
      return await store.write(collection, write);
    } catch (error) {
      throw writeError(collection, error);
    }
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
  #resultOf(effect: Effect): ChangeResult | undefined {
    if (effect.isRepeated === true) return this.#repeated(effect.reply as Bytes);
    const { matched, modified, upsertedId } = parseReply(effect.reply as Bytes, effect.item?.body);
    if (matched === 0 && upsertedId === undefined) return undefined;
    const isWanted = this.#change.image !== 'none';
    return {
      matched,
      modified,
      upsertedId,
      before: isWanted && effect.previous ? readBson(effect.previous.body) : undefined,
      after: isWanted && effect.item ? readBson(effect.item.body) : undefined,
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

  /** Every document that matches, once. */
  async #changeAll(): Promise<ChangeResult> {
    const { store, collection } = this.#context;
    let matched = 0;
    let modified = 0;
    for await (const batch of this.#rows())
      for (let at = 0; at < batch.length; at += SEQUENCE_WRITES) {
        const writes = batch
          .slice(at, at + SEQUENCE_WRITES)
          .map((row) => this.#write(addressOf(collection, row.document), 0));
        for (const step of await store.sequence(collection, writes, 'untilRefused')) {
          if ('error' in step) throw writeError(collection, step.error);
          const result = 'effect' in step ? this.#resultOf(step.effect as Effect) : undefined;
          matched += result?.matched ?? 0;
          modified += result?.modified ?? 0;
        }
      }
    if (matched === 0 && this.#change.isUpsert) return this.#insertNew(0);
    return { ...NO_CHANGE, matched, modified };
  }

  /** The document of an upsert whose filter names no `_id`. */
  async #insertNew(attempt: number): Promise<ChangeResult> {
    const { store, collection } = this.#context;
    const { update, arrayFilters, image, context, bypassesValidation } = this.#change;
    const parsedUpdate = parseUpdate(update, arrayFilters, context);
    const made = upsertedDocument({ parsed: this.#filter, parsedUpdate, context }, store.nowMs());
    compileRules(rulesOf(collection, bypassesValidation))(made.document);
    const result = {
      ...NO_CHANGE,
      upsertedId: made.document.get('_id'),
      after: made.document,
    };
    await insertOne(store, collection, made, this.#note(attempt, printChange(result, image)));
    return result;
  }
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
