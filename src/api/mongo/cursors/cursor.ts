/** A stream of rows with the namespace that replies name, read in batches. */
import type { Bytes } from '../../../base/index.ts';
import { type BsonDocument, BsonWriter, Double } from '../../../value/index.ts';
import type { Meter } from '../documents/meter.ts';
import type { Row, Rows } from '../documents/rows.ts';
import { BATCH_BYTES_MAX } from '../limits.ts';

/** Where a cursor comes from. */
export interface CursorOrigin {
  /** `database.collection`, or the name of a list. */
  readonly namespace: string;
  /** The command that opened it. */
  readonly origin: string;
  readonly meter: Meter;
  /** In hexadecimal; undefined where the command named none. */
  readonly session?: string | undefined;
  /** The transaction that it reads in. */
  readonly transaction?: bigint | undefined;
  /** The collection that it reads, while there is one; a drop or another name ends it. */
  readonly isAlive?: (() => boolean) | undefined;
  /** False where nobody but the client closes it. */
  readonly hasTimeout?: boolean | undefined;
}

/** An open cursor, as batches are read from it. */
export interface OpenCursor extends CursorOrigin {
  /** True while a batch is being read: a second reader is refused. */
  isBusy: boolean;
  usedMs: number;
  readonly isDone: boolean;
  /** True where it may wait for documents that are not there yet. */
  readonly isLive: boolean;
  /** True where a reader may say how long it waits. */
  readonly awaitsData: boolean;
  /** Bytes of the documents that wait in memory. */
  readonly waitingBytes: number;
  /** The place behind the last batch, where the cursor can be opened again. */
  readonly resumeToken: BsonDocument | undefined;
  /**
   * Up to so many documents, at least one where there is one, within the bytes of a reply.
   * @param waitMs - how long a live cursor waits for the first one.
   */
  next(documentsMax: number, waitMs: number): Promise<readonly Bytes[]>;
  close(): Promise<void>;
}

export class Cursor implements OpenCursor {
  readonly namespace: string;
  readonly origin: string;
  readonly meter: Meter;
  readonly session: string | undefined;
  readonly transaction: bigint | undefined;
  readonly hasTimeout: boolean;
  readonly isAlive: (() => boolean) | undefined;
  readonly isLive = false;
  readonly awaitsData = false;
  readonly resumeToken = undefined;
  readonly #rows: Rows;
  #waiting: readonly Row[] = [];
  #at = 0;
  #isEnded = false;
  isBusy = false;
  usedMs = 0;

  constructor(rows: Rows, from: CursorOrigin) {
    this.#rows = rows;
    this.namespace = from.namespace;
    this.origin = from.origin;
    this.meter = from.meter;
    this.session = from.session;
    this.transaction = from.transaction;
    this.hasTimeout = from.hasTimeout ?? true;
    this.isAlive = from.isAlive;
  }

  get isDone(): boolean {
    return this.#isEnded && this.#at === this.#waiting.length;
  }

  /** Bytes of the documents that wait in memory: many behind a sort. */
  get waitingBytes(): number {
    let bytes = this.meter.heldBytes;
    for (let at = this.#at; at < this.#waiting.length; at++)
      bytes += (this.#waiting[at] as Row).body.length;
    return bytes;
  }

  async next(documentsMax: number): Promise<readonly Bytes[]> {
    const bodies: Bytes[] = [];
    let bytes = 0;
    while (bodies.length < documentsMax) {
      if (this.#at === this.#waiting.length && !(await this.#refill())) break;
      const { body } = this.#waiting[this.#at] as Row;
      if (bodies.length > 0 && bytes + body.length > BATCH_BYTES_MAX) break;
      bodies.push(body);
      bytes += body.length;
      this.#at += 1;
    }
    return bodies;
  }

  async #refill(): Promise<boolean> {
    if (this.#isEnded) return false;
    const { done, value } = await this.#rows.next();
    this.#at = 0;
    this.#waiting = done === true ? [] : value;
    this.#isEnded = done === true;
    return done !== true;
  }

  async close(): Promise<void> {
    this.#waiting = [];
    this.#at = 0;
    this.#isEnded = true;
    await this.#rows.return();
  }
}

interface Batch {
  readonly name: 'firstBatch' | 'nextBatch';
  readonly id: bigint;
  readonly namespace: string;
  readonly bodies: readonly Bytes[];
  readonly resumeToken?: BsonDocument | undefined;
}

/** The reply of `find`, `aggregate` and `getMore`, with the documents as they are stored. */
export function batchReply({ name, id, namespace, bodies, resumeToken }: Batch): Bytes {
  const writer = new BsonWriter();
  const start = writer.begin();
  const cursor = writer.objectName('cursor').begin();
  writer.documents(name, bodies);
  if (resumeToken !== undefined) writer.element('postBatchResumeToken', resumeToken);
  writer.element('id', id).element('ns', namespace).end(cursor);
  return writer.element('ok', new Double(1)).end(start).take();
}

/** The same for a list that fits in one batch. */
export function listReply(namespace: string, documents: readonly BsonDocument[]): BsonDocument {
  return new Map<string, never>([
    [
      'cursor',
      new Map<string, unknown>([
        ['firstBatch', documents],
        ['id', 0n],
        ['ns', namespace],
      ]) as never,
    ],
    ['ok', new Double(1) as never],
  ]);
}
