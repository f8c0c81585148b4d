/** The writing half of a store on the main thread: gathers the commits of a turn, sends them, settles them in order. */
import { append, assert, DomainError, PENDING_WRITES_MAX } from '../../../base/index.ts';
import { type Batch, ConflictError, FormatError } from '../../engine.ts';
import { packBatches } from './sqlite-frames.ts';
import type { Failure, FromWriter, ToWriter } from './sqlite-protocol.ts';

/** The way to the threads; `sqlite-writers.ts` provides it. */
interface WriterLink {
  /** `owed`: how many answers the message asks for; a commit message, one for each of its batches. */
  send(message: ToWriter, owed: number, transfer?: readonly ArrayBuffer[]): void;
  /** Copies the log of this store into its file in the background. */
  checkpoint(descriptor: number): Promise<void>;
}

/** Below this a copy costs less than changing the owner: 40 us of the sender's. */
const TRANSFER_FROM_BYTES = 256 * 1024;

interface PendingCommit {
  readonly batch: Batch;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class StoreWriter {
  readonly #id: number;
  readonly #name: string;
  readonly #link: WriterLink;
  /** Called since the last message was sent. */
  #queued: PendingCommit[] = [];
  /** Sent and not yet answered, oldest first. */
  #sent: PendingCommit[] = [];
  #checkpoint: Promise<void> | undefined;
  #isClosing = false;
  #deathReason: string | undefined;
  #onOpened: ((failure: Failure | undefined) => void) | undefined;
  #onClosed: ((failure: Failure | undefined) => void) | undefined;

  constructor(id: number, name: string, link: WriterLink) {
    this.#id = id;
    this.#name = name;
    this.#link = link;
  }

  /** Resolves when the writer has the file open. */
  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onOpened = (failure) =>
        failure === undefined ? resolve() : reject(this.#errorOf(failure));
    });
  }

  commit(batch: Batch): Promise<void> {
    if (this.#deathReason !== undefined) return Promise.reject(this.#death(this.#deathReason));
    if (this.#queued.length + this.#sent.length >= PENDING_WRITES_MAX)
      return Promise.reject(
        new DomainError('unavailable', `store ${this.#name}: too many commits wait`),
      );
    return new Promise((resolve, reject) => {
      // What the same turn of the loop brings travels in one message.
      if (this.#queued.push({ batch, resolve, reject }) === 1) queueMicrotask(() => this.#flush());
    });
  }

  /** Commits called before are answered first. The file is closed and whole afterwards. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#deathReason === undefined) this.#flush();
    await this.#checkpoint;
    if (this.#deathReason !== undefined) return;
    const closed = new Promise<void>((resolve, reject) => {
      this.#onClosed = (failure) =>
        failure === undefined ? resolve() : reject(this.#errorOf(failure));
    });
    this.#link.send({ kind: 'close', store: this.#id }, 1);
    await closed;
  }

  receive(message: FromWriter): void {
    switch (message.kind) {
      case 'opened':
        this.#onOpened?.(message.failure);
        break;
      case 'committed':
        this.#complete(message);
        break;
      case 'logGrew':
        this.#checkpointLog(message.descriptor);
        break;
      case 'closed':
        this.#onClosed?.(message.failure);
        break;
    }
  }

  /** The thread is gone, and with it the connection: what it owed is refused, and all that comes later. */
  die(reason: string): void {
    this.#deathReason = reason;
    for (const { reject } of [...this.#sent.splice(0), ...this.#queued.splice(0)])
      reject(this.#death(reason));
    this.#onOpened?.({ kind: 'unavailable', message: reason });
    this.#onClosed?.(undefined);
  }

  #flush(): void {
    if (this.#queued.length === 0) return;
    const frames = packBatches(this.#queued.map(({ batch }) => batch));
    const owed = this.#queued.length;
    if (this.#sent.length === 0) this.#sent = this.#queued;
    else append(this.#sent, this.#queued);
    this.#queued = [];
    const transfer = frames.byteLength < TRANSFER_FROM_BYTES ? [] : [frames];
    this.#link.send({ kind: 'commit', store: this.#id, frames }, owed, transfer);
  }

  #complete({ count, failures }: Extract<FromWriter, { kind: 'committed' }>): void {
    const answered = this.#sent.splice(0, count);
    assert(answered.length === count, 'the writer answers what was sent');
    // The failed ones first: a promise is settled once, so the rest may then all be resolved.
    for (const { at, failure } of failures) answered[at]?.reject(this.#errorOf(failure));
    for (const { resolve } of answered) resolve();
  }

  #checkpointLog(descriptor: number): void {
    // Closing copies the whole log anyway, and the descriptor ends with it.
    if (this.#isClosing) return;
    this.#checkpoint = this.#link.checkpoint(descriptor).then(() => {
      this.#checkpoint = undefined;
      if (this.#deathReason === undefined)
        this.#link.send({ kind: 'checkpointed', store: this.#id }, 0);
    });
  }

  #errorOf({ kind, message }: Failure): Error {
    const text = `store ${this.#name}: ${message}`;
    switch (kind) {
      case 'conflict':
        return new ConflictError(text);
      case 'format':
        return new FormatError(text);
      case 'unavailable':
        return new DomainError('unavailable', text);
    }
  }

  #death(reason: string): Error {
    return new DomainError(
      'unavailable',
      `store ${this.#name}: its writer thread ended: ${reason}`,
    );
  }
}
