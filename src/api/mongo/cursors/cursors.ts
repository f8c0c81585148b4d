/** The open cursors of the process. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../base/index.ts';
import { MongoError } from '../errors.ts';
import {
  CURSOR_BYTES_MAX,
  CURSOR_IDLE_MS,
  CURSORS_MAX,
  CURSORS_PER_CONNECTION_MAX,
} from '../limits.ts';
import type { OpenCursor } from './cursor.ts';

interface Opened {
  readonly cursor: OpenCursor;
  /** The ids of the connection that opened it. */
  readonly owner: Set<bigint>;
  /** Bytes that waited when it was kept; fewer wait later. */
  readonly bytes: number;
}

export class Cursors {
  readonly #byId = new Map<bigint, Opened>();
  readonly #clock: Clock;
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Keeps a cursor for later batches and returns its id. */
  keep(cursor: OpenCursor, owner: Set<bigint>): bigint {
    this.#expire();
    if (owner.size >= CURSORS_PER_CONNECTION_MAX || this.#byId.size >= CURSORS_MAX)
      throw new MongoError('OperationFailed', 'Too many open cursors.');
    const bytes = cursor.waitingBytes;
    if (this.#bytes + bytes > CURSOR_BYTES_MAX)
      throw new MongoError(
        'ExceededMemoryLimit',
        'The open cursors keep too many documents in memory: read them to their ends, or close some.',
      );
    this.#bytes += bytes;
    const id = this.#newId();
    cursor.usedMs = this.#clock.nowMs();
    this.#byId.set(id, { cursor, owner, bytes });
    owner.add(id);
    return id;
  }

  /** The cursor; it must be given back with `release`. */
  acquire(id: bigint, namespace: string, from: CursorReader): OpenCursor {
    this.#expire();
    const cursor = this.#byId.get(id)?.cursor;
    if (cursor === undefined) throw notFound(id);
    checkReader(id, cursor, from);
    if (cursor.namespace !== namespace)
      throw new MongoError(
        'Unauthorized',
        `Requested getMore on namespace '${namespace}', but cursor belongs to a different namespace ${cursor.namespace}`,
      );
    if (cursor.isBusy) throw new MongoError('CursorInUse', `cursor id ${id} is already in use`);
    cursor.isBusy = true;
    return cursor;
  }

  /** @returns the id that the client asks with next time; 0 at the end. */
  async release(id: bigint, cursor: OpenCursor): Promise<bigint> {
    cursor.isBusy = false;
    cursor.usedMs = this.#clock.nowMs();
    if (!this.#byId.has(id)) await cursor.close();
    if (!cursor.isDone && this.#byId.has(id)) return id;
    await this.kill(id);
    return 0n;
  }

  /** Undefined where there is none, for commands that say so. */
  namespaceOf(id: bigint): string | undefined {
    return this.#byId.get(id)?.cursor.namespace;
  }

  /** False where there is no such cursor. */
  async kill(id: bigint): Promise<boolean> {
    const opened = this.#byId.get(id);
    if (opened === undefined) return false;
    this.#byId.delete(id);
    opened.owner.delete(id);
    this.#bytes -= opened.bytes;
    // A batch under way ends first; `release` closes the cursor then.
    if (!opened.cursor.isBusy) await opened.cursor.close();
    return true;
  }

  /** Closes the cursors that were opened in a session. */
  async killOfSession(session: string): Promise<void> {
    for (const [id, { cursor }] of this.#byId) if (cursor.session === session) await this.kill(id);
  }

  #expire(): void {
    const deadlineMs = this.#clock.nowMs() - CURSOR_IDLE_MS;
    for (const [id, { cursor }] of this.#byId)
      if (!cursor.isBusy && cursor.hasTimeout !== false && cursor.usedMs < deadlineMs)
        void this.kill(id);
  }

  #newId(): bigint {
    for (;;) {
      const id = randomBytes(8).readBigInt64LE() & 0x7fff_ffff_ffff_ffffn;
      if (id !== 0n && !this.#byId.has(id)) return id;
    }
  }
}

/** A cursor is read in the session and in the transaction that it was opened in. */
interface CursorReader {
  readonly session: string | undefined;
  readonly transaction: bigint | undefined;
}

function checkReader(id: bigint, { session, transaction }: OpenCursor, from: CursorReader): void {
  if (session === undefined && from.session !== undefined)
    throw new MongoError(
      'Location50736',
      `Cannot run getMore on cursor ${id}, which was not created in a session, in session ${from.session}`,
    );
  if (session !== undefined && from.session !== session)
    throw new MongoError(
      from.session === undefined ? 'Location50737' : 'Location50738',
      `Cannot run getMore on cursor ${id}, which was created in session ${session}, ` +
        (from.session === undefined ? 'without an lsid' : `in session ${from.session}`),
    );
  if (transaction === from.transaction) return;
  throw new MongoError(
    transaction === undefined
      ? 'Location50739'
      : from.transaction === undefined
        ? 'Location50740'
        : 'Location50741',
    `Cannot run getMore on cursor ${id}, which was created in transaction ${transaction ?? 'none'}, in transaction ${from.transaction ?? 'none'}`,
  );
}

function notFound(id: bigint): MongoError {
  return new MongoError('CursorNotFound', `cursor id ${id} not found`);
}
