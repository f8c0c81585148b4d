/** A cursor that waits for documents to come: behind the end of a capped collection, or of a change stream. */
import type { Bytes } from '../../../base/index.ts';
import type { BsonDocument } from '../../../value/index.ts';
import type { Activity } from '../activity.ts';
import type { ConnectionState } from '../connection-state.ts';
import type { Meter } from '../documents/meter.ts';
import { BATCH_BYTES_MAX } from '../limits.ts';
import type { CursorOrigin, OpenCursor } from './cursor.ts';

/** One document, with the place behind it. */
export interface LiveRow {
  readonly body: Bytes;
  readonly resumeToken?: BsonDocument | undefined;
  /** True for the last one there will ever be. */
  readonly isLast?: boolean;
}

export interface LiveSource {
  /** What is new since the last call; nothing where nothing is. Throws where the stream cannot go on. */
  poll(): Promise<readonly LiveRow[]>;
  /** The place that the last poll reached. */
  readonly resumeToken: BsonDocument | undefined;
  /** True where no more documents will ever come. */
  readonly isEnded: boolean;
  /** Nobody reads any longer. */
  close?(): void;
}

/** Writes of other APIs wake nobody: then the cursor looks this often. */
const POLL_MS = 250;

interface LiveParts extends CursorOrigin {
  readonly activity: Activity;
  /** False where the client asks again by itself; true by default. */
  readonly isPatient?: boolean;
}

export class LiveCursor implements OpenCursor {
  readonly namespace: string;
  readonly origin: string;
  readonly meter: Meter;
  readonly session: string | undefined;
  readonly transaction: bigint | undefined;
  readonly hasTimeout: boolean;
  readonly isLive = true;
  readonly awaitsData: boolean;
  readonly #source: LiveSource;
  readonly #activity: Activity;
  #waiting: readonly LiveRow[] = [];
  #at = 0;
  #isClosed = false;
  #resumeToken: BsonDocument | undefined;
  isBusy = false;
  usedMs = 0;
  /** The connection that asks now; it may go away meanwhile. */
  reader: ConnectionState | undefined;

  constructor(source: LiveSource, from: LiveParts) {
    this.#source = source;
    this.#activity = from.activity;
    this.awaitsData = from.isPatient ?? true;
    this.namespace = from.namespace;
    this.origin = from.origin;
    this.meter = from.meter;
    this.session = from.session;
    this.transaction = from.transaction;
    this.hasTimeout = from.hasTimeout ?? true;
  }

  get isDone(): boolean {
    return this.#isClosed || (this.#source.isEnded && this.#at === this.#waiting.length);
  }

  get waitingBytes(): number {
    let bytes = 0;
    for (const { body } of this.#waiting.slice(this.#at)) bytes += body.length;
    return bytes;
  }

  get resumeToken(): BsonDocument | undefined {
    return this.#resumeToken ?? this.#source.resumeToken;
  }

  async next(documentsMax: number, waitMs: number): Promise<readonly Bytes[]> {
    if (documentsMax === 0) return [];
    const deadlineMs = performance.now() + waitMs;
    while (this.#at === this.#waiting.length && !this.isDone) {
      this.#waiting = await this.#source.poll();
      this.#at = 0;
      if (this.#waiting.length > 0) break;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0 || !this.awaitsData || this.reader?.isEnding === true) break;
      await this.#activity.wait(Math.min(leftMs, POLL_MS));
    }
    return this.#take(documentsMax);
  }

  #take(documentsMax: number): readonly Bytes[] {
    const bodies: Bytes[] = [];
    let bytes = 0;
    while (bodies.length < documentsMax && this.#at < this.#waiting.length) {
      const { body, resumeToken } = this.#waiting[this.#at] as LiveRow;
      if (bodies.length > 0 && bytes + body.length > BATCH_BYTES_MAX) break;
      bodies.push(body);
      bytes += body.length;
      this.#at += 1;
      this.#resumeToken = resumeToken;
    }
    if (this.#at === this.#waiting.length) this.#resumeToken = undefined;
    return bodies;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#source.close?.();
    this.#waiting = [];
    this.#at = 0;
  }
}
