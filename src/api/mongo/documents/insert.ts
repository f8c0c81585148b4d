/** Inserts documents, until one is refused or all of them, as one command for each partition that they reach. */
import { type Bytes, DomainError } from '../../../base/index.ts';
import type { WriteNote } from '../../../partition/index.ts';
import { inSlices, yieldToEventLoop } from '../../../query/index.ts';
import type { ItemWrite } from '../../../service/index.ts';
import { type Bson, type BsonDocument, readBsonSteps } from '../../../value/index.ts';
import type { Collection } from '../collections/collection.ts';
import { namespaceText } from '../collections/namespace.ts';
import { type MongoError, mongoErrorOf } from '../errors.ts';
import { LARGE_DOCUMENT_BYTES } from '../limits.ts';
import type { RetryableWrite } from '../sessions/retryable-write.ts';
import { addressOf } from './address.ts';
import { printChange } from './change-result.ts';
import { duplicateId, writeError } from './duplicate.ts';
import { type NewDocument, readNewDocument } from './new-document.ts';
import { compileRules, rulesOf } from './rules.ts';
import type { DocumentStore } from './store.ts';

export interface WriteFailure {
  readonly index: number;
  readonly error: MongoError;
}

interface InsertRequest {
  readonly store: DocumentStore;
  readonly collection: Collection;
  readonly bodies: readonly Bytes[];
  readonly isOrdered: boolean;
  readonly retryable: RetryableWrite | undefined;
  readonly bypassesValidation?: boolean;
  readonly keepsEmptyTimestamps?: boolean;
  /** The place of the first document in the command. */
  readonly place?: number;
}

/** The number of documents that were inserted, and the refusals in order. */
interface InsertResult {
  readonly inserted: number;
  readonly failures: readonly WriteFailure[];
}

/** A document that is ready to be written, with its place in the command. */
interface Prepared {
  readonly index: number;
  readonly document: BsonDocument;
  readonly write: ItemWrite;
}

/** The note of an insert: it needs no more than to be there. */
const INSERTED = printChange({});

/** Documents that are prepared and written in one go: others are served between. */
const SLICE_DOCUMENTS = 2000;
const SLICE_BYTES = 4 * 1024 * 1024;

export async function insertDocuments(request: InsertRequest): Promise<InsertResult> {
  const { bodies, isOrdered, place = 0 } = request;
  let inserted = 0;
  const failures: WriteFailure[] = [];
  for (let from = 0, end = 0; from < bodies.length; from = end) {
    end = endOfSlice(bodies, from);
    if (from === 0 && end === bodies.length) return insertSlice(request);
    const slice = bodies.slice(from, end);
    const part = await insertSlice({ ...request, bodies: slice, place: place + from });
    inserted += part.inserted;
    for (const { index, error } of part.failures) failures.push({ index: from + index, error });
    if (isOrdered && failures.length > 0) break;
    await yieldToEventLoop();
  }
  return { inserted, failures };
}

function endOfSlice(bodies: readonly Bytes[], from: number): number {
  const last = Math.min(bodies.length, from + SLICE_DOCUMENTS);
  let bytes = 0;
  for (let at = from; at < last; at++) {
    const { length } = bodies[at] as Bytes;
    bytes += length;
    if (bytes > SLICE_BYTES || length > LARGE_DOCUMENT_BYTES) return Math.max(at, from + 1);
  }
  return last;
}

async function insertSlice(request: InsertRequest): Promise<InsertResult> {
  const [first] = request.bodies;
  const isLarge = first !== undefined && first.length > LARGE_DOCUMENT_BYTES;
  // What is no document is refused where all are prepared.
  const large = isLarge ? await inSlices(readBsonSteps(first)).catch(() => undefined) : undefined;
  const { ready, failures } = prepare(request, large);
  const inserted = ready.length === 0 ? 0 : await run(request, ready, failures);
  failures.sort((a, b) => a.index - b.index);
  return { inserted, failures: request.isOrdered ? failures.slice(0, 1) : failures };
}

/** @param large - the first document, where it is so large that it was decoded in slices. */
function prepare(
  request: InsertRequest,
  large: BsonDocument | undefined,
): {
  readonly ready: readonly Prepared[];
  readonly failures: WriteFailure[];
} {
  const { store, collection, bodies, isOrdered, retryable, place = 0 } = request;
  const ready: Prepared[] = [];
  const failures: WriteFailure[] = [];
  const check = compileRules(rulesOf(collection, request.bypassesValidation));
  const nowMs = request.keepsEmptyTimestamps === true ? undefined : store.nowMs();
  for (const [index, sent] of bodies.entries()) {
    try {
      const decoded = index === 0 ? large : undefined;
      const made = readNewDocument(sent, nowMs, decoded);
      check(made.document);
      const note = retryable?.note(place + index, 0, INSERTED);
      ready.push({ index, document: made.document, write: creation(collection, made, note) });
    } catch (error) {
      failures.push({ index, error: mongoErrorOf(error) });
      if (isOrdered) break;
    }
  }
  return { ready, failures };
}

function creation(
  collection: Collection,
  { document, body }: NewDocument,
  note?: WriteNote,
): ItemWrite {
  return { kind: 'create', ...addressOf(collection, document), body, ttlSec: 0, note };
}

/** Adds to `failures` and returns the number of documents inserted. */
async function run(
  { store, collection, isOrdered, retryable, place = 0 }: InsertRequest,
  ready: readonly Prepared[],
  failures: WriteFailure[],
): Promise<number> {
  const writes = ready.map(({ write }) => write);
  const mode = isOrdered ? 'untilRefused' : 'each';
  const results = await store.sequence(collection, writes, mode);
  let inserted = 0;
  for (const [at, result] of results.entries()) {
    const { index, document } = ready[at] as Prepared;
    if ('effect' in result) {
      inserted += 1;
      if (result.effect.isRepeated === true)
        retryable?.repeated.push(retryable.statementId(place + index));
    } else if ('error' in result) {
      const refusal = insertError(collection, document, result.error);
      // What ends the transaction is no matter of one document.
      if (store.isTransaction && refusal.labels.length > 0) throw refusal;
      failures.push({ index, error: refusal });
    }
  }
  return inserted;
}

/** Throws DuplicateKey. */
export async function insertOne(
  store: DocumentStore,
  collection: Collection,
  made: NewDocument,
  note?: WriteNote,
): Promise<void> {
  try {
    await store.write(collection, creation(collection, made, note));
  } catch (error) {
    throw insertError(collection, made.document, error);
  }
}

function insertError(collection: Collection, document: BsonDocument, error: unknown): MongoError {
  if (error instanceof DomainError && error.code === 'itemExists')
    return duplicateId(namespaceText(collection.namespace), document.get('_id') as Bson);
  return writeError(collection, error);
}
