/** Streams of documents in batches, and what finds and pipelines do with them. No promise is made per document. */
import type { Bytes } from '../../../base/index.ts';
import { inSlices, type Pause, sortInSlices, yieldToEventLoop } from '../../../query/index.ts';
import {
  type BsonDocument,
  fieldReader,
  readBson,
  readBsonSteps,
  writeBson,
} from '../../../value/index.ts';
import { roughBytes } from '../bson/rough-bytes.ts';
import { MongoError } from '../errors.ts';
import { LARGE_DOCUMENT_BYTES, SORT_BYTES_MAX } from '../limits.ts';
import type { DocumentTest } from '../query/filter-test.ts';
import type { Project } from '../query/projection.ts';
import { Sort, type SortKey, type SortPart } from '../query/sort.ts';
import type { DocumentFold } from './folds.ts';
import { type Holding, inPieces } from './pieces.ts';

/** A document, as stored bytes, decoded, or both. */
export class Row {
  #body: Bytes | undefined;
  #document: BsonDocument | undefined;
  /** Names the stored document in its collection; undefined where it is not known, or not stored. */
  readonly rid: number | undefined;

  private constructor(
    body: Bytes | undefined,
    document: BsonDocument | undefined,
    rid: number | undefined,
  ) {
    this.#body = body;
    this.#document = document;
    this.rid = rid;
  }

  static ofBody(body: Bytes, rid?: number): Row {
    return new Row(body, undefined, rid);
  }

  static of(document: BsonDocument): Row {
    return new Row(undefined, document, undefined);
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

  /** 0 where there are no bytes of it. */
  get storedBytes(): number {
    return this.#body?.length ?? 0;
  }

  /** About the memory that it takes. */
  get roughBytes(): number {
    return this.#body?.length ?? roughBytes(this.#document as BsonDocument);
  }

  /** True where decoding it would hold up others. */
  get isLarge(): boolean {
    return this.#document === undefined && (this.#body as Bytes).length > LARGE_DOCUMENT_BYTES;
  }

  async decodeInSlices(): Promise<void> {
    this.#document = await inSlices(readBsonSteps(this.#body as Bytes));
  }
}

/** Resolves when no row of the batch takes long to decode; undefined where that is so already. */
function decodedRows(batch: readonly Row[]): Promise<void> | undefined {
  return batch.some(({ isLarge }) => isLarge) ? decodeLarge(batch) : undefined;
}

async function decodeLarge(batch: readonly Row[]): Promise<void> {
  for (const row of batch) if (row.isLarge) await row.decodeInSlices();
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

/** Rows of which all are decoded by whoever reads them: large ones arrive decoded. */
export async function* decoded(rows: Rows): Rows {
  for await (const batch of rows) {
    const large = decodedRows(batch);
    if (large !== undefined) await large;
    yield batch;
  }
}

/** @param read - as much of a document as the test looks at. */
export async function* matching(rows: Rows, test: DocumentTest, read?: ReadFields): Rows {
  for await (const batch of rows) {
    const large = read === undefined ? decodedRows(batch) : undefined;
    if (large !== undefined) await large;
    const found: Row[] = [];
    for (const row of batch) {
      if (test(read === undefined ? row.document : read(row))) found.push(row);
      const wait = yieldToEventLoop();
      if (wait !== undefined) await wait;
    }
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

/** @param carry - hands on what is known of a document. */
export async function* projected(
  rows: Rows,
  project: Project,
  carry?: (made: BsonDocument, from: BsonDocument) => BsonDocument,
): Rows {
  for await (const batch of rows) {
    const large = decodedRows(batch);
    if (large !== undefined) await large;
    const made: Row[] = [];
    for (const row of batch) {
      const { document } = row;
      const changed = project(document);
      made.push(Row.of(carry === undefined ? changed : carry(changed, document)));
      const wait = yieldToEventLoop();
      if (wait !== undefined) await wait;
    }
    yield made;
  }
}

/** All rows in order; rows with equal keys stay in the order they came in. */
export function sorted(
  rows: Rows,
  by: Sort | readonly SortPart[],
  options: Omit<SortOptions, 'read'> = {},
): Rows {
  const sort = by instanceof Sort ? by : new Sort(by);
  const { keyOf, compare, read } = sortOptions(sort);
  return sortedBy(rows, keyOf, compare, { ...options, read });
}

export function newSortFold(sort: Sort, options: Omit<SortOptions, 'read'>): SortFold<SortKey> {
  const { keyOf, compare, read } = sortOptions(sort);
  return new SortFold(keyOf, compare, { ...options, read });
}

function sortOptions(sort: Sort) {
  return {
    keyOf: (document: BsonDocument): SortKey => sort.keyOf(document),
    compare: (a: SortKey, b: SortKey): number => sort.compare(a, b),
    read: readerOf(sort.fields),
  };
}

interface SortOptions {
  /** How many of the first rows are needed; others are dropped early. */
  readonly wanted?: number | undefined;
  /** As much of a document as its key needs. */
  readonly read?: ReadFields;
  readonly pause?: Pause | undefined;
  readonly memory?: Holding | undefined;
  /** True where rows are kept as they are, and with what is known of their documents. */
  readonly keepsRows?: boolean | undefined;
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
  readonly #keepsRows: boolean;
  readonly #rest: Pick<SortOptions, 'pause' | 'memory'>;
  #kept: { readonly key: Key; readonly body: Bytes; readonly row: Row | undefined }[] = [];
  #bytes = 0;
  /** Set once as many rows as wanted come before all that are dropped. */
  #last: { readonly key: Key } | undefined;

  constructor(
    keyOf: (document: BsonDocument) => Key,
    compare: (a: Key, b: Key) => number,
    {
      wanted = Number.POSITIVE_INFINITY,
      read = (row) => row.document,
      keepsRows = false,
      ...rest
    }: SortOptions,
  ) {
    this.#rest = rest;
    this.#keepsRows = keepsRows;
    this.#keyOf = keyOf;
    this.#compare = compare;
    this.#wanted = wanted;
    this.#read = read;
  }

  add(row: Row): boolean {
    const key = this.#keyOf(this.#read(row));
    if (this.#last !== undefined && this.#compare(key, this.#last.key) >= 0) return true;
    const { body } = row;
    this.#kept.push({ key, body, row: this.#keepsRows ? row : undefined });
    this.#bytes += body.length;
    const isFull = this.#kept.length > 2 * this.#wanted + SLACK;
    const isTooMuch = this.#bytes > SORT_BYTES_MAX + SLACK_BYTES;
    if (isTooMuch && this.#kept.length <= this.#wanted) throw tooMuchToSort();
    if (isFull || isTooMuch) {
      this.#kept.sort((a, b) => this.#compare(a.key, b.key));
      this.#drop();
    }
    return true;
  }

  /** What comes behind the wanted rows, where they are in order. */
  #drop(): void {
    if (this.#kept.length > this.#wanted) this.#kept.length = this.#wanted;
    if (this.#kept.length === this.#wanted) this.#last = this.#kept.at(-1);
    this.#bytes = this.#kept.reduce((sum, { body }) => sum + body.length, 0);
    if (this.#bytes > SORT_BYTES_MAX) throw tooMuchToSort();
  }

  rows(): Rows {
    return inPieces(this.#ordered(), this.#rest);
  }

  async *#ordered(): Rows {
    const compare = this.#compare;
    const { pause } = this.#rest;
    this.#kept = await sortInSlices(this.#kept, (a, b) => compare(a.key, b.key), pause);
    this.#drop();
    if (this.#kept.length > 0) yield this.#kept.map(({ body, row }) => row ?? Row.ofBody(body));
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
