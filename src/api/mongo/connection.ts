/** One connection: messages in, replies out, one command at a time. */
import { EMPTY_BYTES, isPromise } from '../../base/index.ts';
import {
  type ByteConnection,
  type ByteSocket,
  type ConnectionInfo,
  FrameError,
  FrameReader,
} from '../../net/index.ts';
import { writeBson } from '../../value/index.ts';
import { ConnectionState } from './connection-state.ts';
import { type Dispatched, type DispatchOptions, dispatch } from './dispatch.ts';
import { errorReply, MongoError } from './errors.ts';
import { MONGO_FRAMES, STRANGER_FRAMES } from './wire/frames.ts';
import { type Message, readMessage, writeReply } from './wire/message.ts';
import { WireError } from './wire/wire-error.ts';

export class MongoConnection implements ByteConnection {
  readonly #socket: ByteSocket;
  readonly #options: DispatchOptions;
  readonly #state: ConnectionState;
  readonly #frames: FrameReader;
  /** The message that gets one more reply, and the id of the reply before. */
  #repeated: { readonly message: Message; readonly replyId: number } | undefined;
  #lastRequestId = 0;
  #isBusy = false;
  #isBlocked = false;
  /** True where the client has sent more than the command that is under way. */
  #isHeld = false;
  #isStopping = false;
  #isEnded = false;

  constructor(socket: ByteSocket, info: ConnectionInfo, options: DispatchOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#state = new ConnectionState(info, options.context.isOpen);
    this.#frames = new FrameReader(options.context.isOpen ? MONGO_FRAMES : STRANGER_FRAMES);
  }

  get isIdle(): boolean {
    if (this.#isBusy || this.#isBlocked) return false;
    return this.#isStopping || (!this.#frames.hasMore && this.partialSinceMs === undefined);
  }

  get partialSinceMs(): number | undefined {
    return this.#frames.partialSinceMs;
  }

  onData(chunk: Buffer): void {
    this.#frames.push(chunk);
    if (!this.#isBusy) {
      this.#serve();
      return;
    }
    // Most clients send the next command after the reply: to stop reading for each of them would cost more.
    this.#isHeld = true;
    this.#socket.pause();
  }

  onDrain(): void {
    this.#isBlocked = false;
    this.#serve();
  }

  /** Cursors stay: a driver reads on through another connection. What is under way ends, but for what it is committing. */
  onEnd(): void {
    this.#isEnded = true;
    this.#state.isGone = true;
    if (this.#state.operation !== undefined) this.#state.operation.isKilled = true;
    this.#wakeWaiting();
  }

  stop(): void {
    this.#isStopping = true;
    this.#wakeWaiting();
  }

  #wakeWaiting(): void {
    this.#state.isEnding = true;
    if (!this.#isBusy) return;
    this.#options.context.activity.notify();
    this.#options.context.states.notify();
  }

  /** Runs commands until one needs time, the socket is full or there are no more. */
  #serve(): void {
    while (!this.#isBusy && !this.#isBlocked && !this.#isStopping && !this.#isEnded) {
      const message = this.#repeated?.message ?? this.#next();
      if (message === undefined) return;
      const reply = this.#run(message);
      if (!isPromise(reply)) this.#answer(message, reply);
      else {
        this.#isBusy = true;
        reply.then(
          (done) => this.#resume(message, done),
          (error) => {
            if (error instanceof WireError || error instanceof MongoError)
              this.#resume(message, this.#refusal(error));
            else this.#fail(error);
          },
        );
      }
    }
  }

  #next(): Message | undefined {
    try {
      const frame = this.#frames.next();
      const shape = this.#state.isAdmitted ? MONGO_FRAMES : STRANGER_FRAMES;
      return frame === undefined ? undefined : readMessage(frame, shape.frameBytesMax);
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #run(message: Message) {
    try {
      return dispatch(message, this.#state, this.#options);
    } catch (error) {
      if (error instanceof WireError || error instanceof MongoError) return this.#refusal(error);
      throw error;
    }
  }

  /** Bytes that are no message end the connection. */
  #refusal(error: WireError | MongoError): Dispatched {
    this.#isStopping = error instanceof WireError;
    const refusal =
      error instanceof MongoError ? error : new MongoError('ProtocolError', error.message);
    const document = writeBson(errorReply(refusal));
    return { document, suffix: EMPTY_BYTES, hasMore: false, isCut: false };
  }

  #resume(message: Message, reply: Dispatched): void {
    this.#isBusy = false;
    this.#answer(message, reply);
    if (this.#isHeld) {
      this.#isHeld = false;
      this.#socket.resume();
    }
    this.#serve();
  }

  #answer(message: Message, reply: Dispatched): void {
    if (this.#state.isAdmitted && this.#frames.partialSinceMs === undefined)
      this.#frames.switchTo(MONGO_FRAMES);
    if (reply.isCut) {
      this.#isStopping = true;
      this.#socket.destroy();
      return;
    }
    const responseTo = this.#repeated?.replyId ?? message.requestId;
    this.#repeated = undefined;
    if (!message.wantsReply) return;
    this.#lastRequestId = (this.#lastRequestId + 1) | 0;
    const ids = { requestId: this.#lastRequestId, responseTo };
    if (reply.hasMore && !this.#isStopping)
      this.#repeated = { message, replyId: this.#lastRequestId };
    const hasMore = this.#repeated !== undefined;
    const bytes = writeReply(message, ids, { ...reply, hasMore });
    if (this.#isStopping) this.#socket.end(bytes);
    else this.#isBlocked = !this.#socket.write(bytes);
  }

  /** Bytes that are no message: the client cannot be understood from here on. */
  #fail(error: unknown): void {
    this.#isStopping = true;
    this.#isBusy = false;
    if (!(error instanceof WireError) && !(error instanceof FrameError))
      this.#options.onFailure({ operation: 'none', error });
    this.#socket.end();
  }
}
