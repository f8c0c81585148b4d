/** Streams of documents in batches, and what finds and pipelines do with them. No promise is made per document. */
import type { Bytes } from '../../../base/index.ts';
import { type BsonDocument, fieldReader, readBson, writeBson } from '../../../value/index.ts';
import { MongoError } from '../errors.ts';
import { SORT_BYTES_MAX } from '../limits.ts';
import type { DocumentTest } from '../query/filter-test.ts';
import type { Project } from '../query/projection.ts';
import { Sort, type SortKey, type SortPart } from '../query/sort.ts';
import type { DocumentFold } from './folds.ts';

/** A document, as stored bytes, decoded, or both. */
export class Row {
  #body: Bytes | undefined;
  #document: BsonDocument | undefined;

  private constructor(body: Bytes | undefined, document: BsonDocument | undefined) {
    this.#body = body;
    this.#document = document;
  }

  static ofBody(body: Bytes): Row {
    return new Row(body, undefined);
  }

  static of(document: BsonDocument): Row {
    return new Row(undefined, document);
  }

  get body(): Bytes {
    this.#body ??= writeBson(this.#document as BsonDocument);
    return this.#body;
  }

  /** Some fields, and maybe more where the document is decoded already. */
  fields(read: (body: Bytes) => BsonDocument): BsonDocument {
    return this.#document ?? read(this.#body as Bytes);
  }

  get document(): BsonDocument {
    this.#document ??= readBson(this.#body as Bytes);
    return this.#document;
  }
}

/** Reads a document as far as somebody needs it. */
export type ReadFields = (row: Row) => BsonDocument;

/** Rows with these fields at least; all fields where the names are not known. */
export function readerOf(names: ReadonlySet<string> | undefined): ReadFields {
  if (names === undefined) return (row) => row.document;
  const read = fieldReader(names);
  return (row) => row.fields(read);
}

export type Rows = AsyncGenerator<readonly Row[], void, undefined>;

/** @param read - as much of a document as the test looks at. */
export async function* matching(
  rows: Rows,
  test: DocumentTest,
  read: ReadFields = (row) => row.document,
): Rows {
  for await (const batch of rows) {
    const found = batch.filter((row) => test(read(row)));
    if (found.length > 0) yield found;
  }
}

export async function* skipping(rows: Rows, count: number): Rows {
  let left = count;
  for await (const batch of rows) {
    if (left >= batch.length) left -= batch.length;
    else {
      yield left === 0 ? batch : batch.slice(left);
      left = 0;
    }
  }
}

export async function* limited(rows: Rows, count: number): Rows {
  let left = count;
  if (left === 0) return;
  for await (const batch of rows) {
    if (batch.length >= left) {
      yield batch.slice(0, left);
      return;
    }
    yield batch;
    left -= batch.length;
  }
}

export async function* projected(rows: Rows, project: Project): Rows {
  for await (const batch of rows) yield batch.map((row) => Row.of(project(row.document)));
}

/**
 * All rows in order; rows with equal keys stay in the order they came in.
 * @param wanted - how many of the first rows are needed; others are dropped early.
 */
export function sorted(
  rows: Rows,
  by: Sort | readonly SortPart[],
  wanted = Number.POSITIVE_INFINITY,
): Rows {
  const sort = by instanceof Sort ? by : new Sort(by);
  const { keyOf, compare, read } = sortOptions(sort);
  return sortedBy(rows, keyOf, compare, { wanted, read });
}

/** @param wanted - how many of the first documents are needed. */
export function newSortFold(sort: Sort, wanted: number): SortFold<SortKey> {
  const { keyOf, compare, read } = sortOptions(sort);
  return new SortFold(keyOf, compare, { wanted, read });
}

function sortOptions(sort: Sort) {
  return {
    keyOf: (document: BsonDocument): SortKey => sort.keyOf(document),
    compare: (a: SortKey, b: SortKey): number => sort.compare(a, b),
    read: readerOf(sort.fields),
  };
}

interface SortOptions {
  /** How many of the first rows are needed. */
  readonly wanted?: number;
  /** As much of a document as its key needs. */
  readonly read?: ReadFields;
}

export async function* sortedBy<Key>(
  rows: Rows,
  keyOf: (document: BsonDocument) => Key,
  compare: (a: Key, b: Key) => number,
  options: SortOptions = {},
): Rows {
  const fold = new SortFold(keyOf, compare, options);
  for await (const batch of rows) for (const row of batch) fold.add(row);
  yield* fold.rows();
}

/** The first rows in an order; rows with equal keys stay in the order they came in. */
class SortFold<Key> implements DocumentFold {
  readonly #keyOf: (document: BsonDocument) => Key;
  readonly #compare: (a: Key, b: Key) => number;
  readonly #wanted: number;
  readonly #read: ReadFields;
  #kept: { readonly key: Key; readonly body: Bytes }[] = [];
  #bytes = 0;
  /** Set once as many rows as wanted come before all that are dropped. */
  #last: { readonly key: Key } | undefined;

  constructor(
    keyOf: (document: BsonDocument) => Key,
    compare: (a: Key, b: Key) => number,
    { wanted = Number.POSITIVE_INFINITY, read = (row) => row.document }: SortOptions,
  ) {
    this.#keyOf = keyOf;
    this.#compare = compare;
    this.#wanted = wanted;
    this.#read = read;
  }

  add(row: Row): boolean {
    const key = this.#keyOf(this.#read(row));
    if (this.#last !== undefined && this.#compare(key, this.#last.key) >= 0) return true;
    const { body } = row;
    this.#kept.push({ key, body });
    this.#bytes += body.length;
    const isFull = this.#kept.length > 2 * this.#wanted + SLACK;
    if (isFull || this.#bytes > SORT_BYTES_MAX + SLACK_BYTES) this.#arrange();
    return true;
  }

  #arrange(): void {
    this.#kept.sort((a, b) => this.#compare(a.key, b.key));
    if (this.#kept.length > this.#wanted) this.#kept.length = this.#wanted;
    if (this.#kept.length === this.#wanted) this.#last = this.#kept.at(-1);
    this.#bytes = this.#kept.reduce((sum, { body }) => sum + body.length, 0);
    if (this.#bytes > SORT_BYTES_MAX) throw tooMuchToSort();
  }

  async *rows(): Rows {
    this.#arrange();
    if (this.#kept.length > 0) yield this.#kept.map(({ body }) => Row.ofBody(body));
  }
}

function tooMuchToSort(): MongoError {
  return new MongoError(
    'QueryExceededMemoryLimitNoDiskUseAllowed',
    `Executor error during find command :: caused by :: Sort exceeded memory limit of ${SORT_BYTES_MAX} bytes, ` +
      'but did not opt in to external sorting.',
  );
}

/** Rows beyond the wanted ones that may wait for the next arrangement. */
const SLACK = 1000;
const SLACK_BYTES = 4 * 1024 * 1024;
