/** Bounds of this API, each with its reason. */

import { type EvaluationLimits, FIXED_EVALUATION } from '../../base/index.ts';

const MIB = 1024 * 1024;

/** An expression of one document: documents are larger than those of other APIs, and others wait meanwhile. */
export const EXPRESSION_EVALUATION: EvaluationLimits = {
  ...FIXED_EVALUATION,
  bytes: 64 * MIB,
  stepsAtOnce: 10_000_000,
  ms: 50,
  totalMs: Number.POSITIVE_INFINITY,
  regexTimeoutMs: 20,
};

/** A filter or an update of one document: others wait meanwhile. */
export const DOCUMENT_EVALUATION: EvaluationLimits = {
  ...EXPRESSION_EVALUATION,
  stepsAtOnce: Number.POSITIVE_INFINITY,
  ms: 250,
};

/** What MongoDB announces in `hello`; drivers split batches by these. */
export const MESSAGE_BYTES_MAX = 48_000_000;
export const DOCUMENT_BYTES_MAX = 16 * MIB;
/** The size of an event of a change stream, which has a document and more; what is larger may be split. */
export const EVENT_BYTES_MAX = DOCUMENT_BYTES_MAX + 8 * 1024;
export const WRITE_BATCH_MAX = 100_000;

/** Entries of the arrays of one document in the indexes of its collection: others wait while it is written. */
export const INDEX_ENTRIES_MAX = 50_000;

/** Larger documents are decoded in slices: with very many fields, these take some ten milliseconds. */
export const LARGE_DOCUMENT_BYTES = 256 * 1024;

/** Bytes of a command that was not authenticated: a hello, or a round of SCRAM. */
export const UNAUTHENTICATED_BYTES_MAX = 64 * 1024;

/** Documents in the first batch of a cursor, where the client leaves it to the server (documented). */
export const FIRST_BATCH_DOCUMENTS = 101;

/** Bytes of the documents of one reply. */
export const BATCH_BYTES_MAX = 16 * MIB;

/** Cursors of one connection, and of the process. Drivers close theirs. */
export const CURSORS_PER_CONNECTION_MAX = 1000;
export const CURSORS_MAX = 10_000;

/** A cursor that nobody asked for this long is closed (documented). */
export const CURSOR_IDLE_MS = 10 * 60_000;

/** Documents that a sort keeps, by their bytes (documented). */
export const SORT_BYTES_MAX = 100 * MIB;

/**
 * Bytes of documents that wait in cursors of the whole process: all of a sort, and up to half a megabyte that others
 * have read ahead.
 */
export const CURSOR_BYTES_MAX = 256 * MIB;

/** Nesting of `$and`, `$or`, `$elemMatch` and their kind. */
export const FILTER_DEPTH_MAX = 100;

/** Groups that `$group` and `distinct` keep: some hundred bytes each. */
export const GROUPS_MAX = 250_000;

/** Stages of one pipeline (documented). */
export const PIPELINE_STAGES_MAX = 1000;

/** Sessions whose last transaction is remembered: some hundred bytes each. */
export const SESSIONS_MAX = 100_000;

/** Life of a transaction (documented). */
export const TRANSACTION_MS_MAX = 60_000;

/** How long a session lives without use (documented). */
export const SESSION_MINUTES = 30;

/** Bytes of the name of a database, and of a namespace (documented). */
export const DATABASE_NAME_BYTES_MAX = 63;
export const NAMESPACE_BYTES_MAX = 255;

/** How long the result of a retryable write is kept: as long as its session. */
export const RETRY_NOTE_SEC = SESSION_MINUTES * 60;

/** Bytes of a document that the result of a retryable findAndModify keeps; a note has 64 KiB. */
export const NOTED_DOCUMENT_BYTES_MAX = 60 * 1024;

/** How long change streams find every version: a day, as a replica set's log usually lasts. */
export const VERSION_RETENTION_SEC = 24 * 3600;
