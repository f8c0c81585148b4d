/**
 * The writing half of a store on the main thread: collects the commits of an event loop turn, sends them, completes
 * them in order.
 */
import { append, assert, DomainError, PENDING_WRITES_MAX } from '../../../base/index.ts';
import { type Batch, ConflictError, FormatError } from '../../engine.ts';
import { packBatches } from './sqlite-frames.ts';
import type { Failure, FromWriter, ToWriter } from './sqlite-protocol.ts';

/** The connection to the threads; `sqlite-writers.ts` provides it. */
interface WriterLink {
  /** `replies`: how many replies the message will have. A commit message has one for each of its batches. */
  send(message: ToWriter, replies: number, transfer?: readonly ArrayBuffer[]): void;
  /** Copies the log of this store into its file in the background. */
  checkpoint(descriptor: number): Promise<void>;
}

/** Smaller buffers are copied, because a transfer costs the sender 40 us. */
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
  /** Commits since the last message was sent. */
  #queued: PendingCommit[] = [];
  /** Commits that were sent and have no reply yet, oldest first. */
  #sent: PendingCommit[] = [];
  #checkpoint: Promise<void> | undefined;
  #isClosing = false;
  #threadEndReason: string | undefined;
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
    if (this.#threadEndReason !== undefined)
      return Promise.reject(this.#threadEndedError(this.#threadEndReason));
    if (this.#queued.length + this.#sent.length >= PENDING_WRITES_MAX)
      return Promise.reject(
        new DomainError('unavailable', `store ${this.#name}: too many commits wait`),
      );
    return new Promise((resolve, reject) => {
      // All commits of one event loop turn are sent in one message.
      if (this.#queued.push({ batch, resolve, reject }) === 1) queueMicrotask(() => this.#flush());
    });
  }

  /** Earlier commits are completed first. The file is closed and complete afterwards. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#threadEndReason === undefined) this.#flush();
    await this.#checkpoint;
    if (this.#threadEndReason !== undefined) return;
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

  /** The thread has ended, and its connection with it: pending and later commits are refused. */
  threadEnded(reason: string): void {
    this.#threadEndReason = reason;
    // Commits that were sent may be in the file.
    for (const { reject } of this.#sent.splice(0))
      reject(this.#threadEndedError(reason, 'outcomeUnknown'));
    for (const { reject } of this.#queued.splice(0)) reject(this.#threadEndedError(reason));
    this.#onOpened?.({ kind: 'unavailable', message: reason });
    this.#onClosed?.(undefined);
  }

  #flush(): void {
    if (this.#queued.length === 0) return;
    const frames = packBatches(this.#queued.map(({ batch }) => batch));
    const replies = this.#queued.length;
    if (this.#sent.length === 0) this.#sent = this.#queued;
    else append(this.#sent, this.#queued);
    this.#queued = [];
    const transfer = frames.byteLength < TRANSFER_FROM_BYTES ? [] : [frames];
    this.#link.send({ kind: 'commit', store: this.#id, frames }, replies, transfer);
  }

  #complete({ count, failures }: Extract<FromWriter, { kind: 'committed' }>): void {
    const completed = this.#sent.splice(0, count);
    assert(completed.length === count, 'the writer replies to commits that were sent');
    // Failures are rejected first. A promise settles once, so resolving all of them afterwards is safe.
    for (const { at, failure } of failures) completed[at]?.reject(this.#errorOf(failure));
    for (const { resolve } of completed) resolve();
  }

  #checkpointLog(descriptor: number): void {
    // Closing copies the whole log and closes the descriptor.
    if (this.#isClosing) return;
    this.#checkpoint = this.#link.checkpoint(descriptor).then(() => {
      this.#checkpoint = undefined;
      if (this.#threadEndReason === undefined)
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

  #threadEndedError(reason: string, code: 'unavailable' | 'outcomeUnknown' = 'unavailable'): Error {
    return new DomainError(code, `store ${this.#name}: its writer thread ended: ${reason}`);
  }
}
