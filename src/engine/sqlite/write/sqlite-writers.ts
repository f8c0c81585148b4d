/**
 * The threads of an engine: a few writers, to which stores are assigned round-robin, and one checkpointer. Started at
 * first use.
 */
import type {
  FromCheckpointer,
  FromWriter,
  StoreSettings,
  ToCheckpointer,
  ToWriter,
} from './sqlite-protocol.ts';
import { StoreWriter } from './sqlite-store-writer.ts';
import { Thread, threadScript } from './sqlite-thread.ts';

interface WritersOptions {
  readonly threads: number;
  /** Another script instead of the writer's, for tests of failures. */
  readonly writerScript?: URL;
}

interface WriterThread {
  readonly thread: Thread<ToWriter, FromWriter>;
  readonly stores: Map<number, StoreWriter>;
}

export class SqliteWriters {
  readonly #script: URL;
  readonly #writers: (WriterThread | undefined)[];
  readonly #checkpoints = new Map<number, () => void>();
  #checkpointer: Thread<ToCheckpointer, FromCheckpointer> | undefined;
  #storesOpened = 0;

  constructor({ threads, writerScript }: WritersOptions) {
    this.#script = writerScript ?? threadScript('sqlite-writer', import.meta.url);
    this.#writers = Array.from({ length: threads }, () => undefined);
  }

  /** The store is open in its writer when the promise resolves. */
  async open(name: string, settings: StoreSettings): Promise<StoreWriter> {
    const id = this.#storesOpened++;
    const { thread, stores } = this.#writer(id % this.#writers.length);
    const store = new StoreWriter(id, name, {
      send: (message, replies, transfer) => thread.post(message, replies, transfer),
      checkpoint: (descriptor) => this.#checkpoint({ store: id, path: settings.path, descriptor }),
    });
    stores.set(id, store);
    const opened = store.opened();
    thread.post({ kind: 'open', store: id, settings }, 1);
    await opened;
    return store;
  }

  /** Ends the threads. The stores must be closed before. */
  async close(): Promise<void> {
    const ending = this.#writers.map((writer) => writer?.thread.end());
    this.#writers.fill(undefined);
    ending.push(this.#checkpointer?.end());
    this.#checkpointer = undefined;
    await Promise.all(ending);
  }

  #writer(at: number): WriterThread {
    const running = this.#writers[at];
    if (running?.thread.isAlive) return running;
    const stores = new Map<number, StoreWriter>();
    const thread = new Thread<ToWriter, FromWriter>(this.#script, {
      onResponse: (message) => {
        thread.repliesReceived(repliesIn(message));
        const store = stores.get(message.store);
        if (message.kind === 'closed' || (message.kind === 'opened' && message.failure))
          stores.delete(message.store);
        store?.receive(message);
      },
      onEnd: (reason) => {
        for (const store of stores.values()) store.threadEnded(reason);
        stores.clear();
      },
    });
    const writer = { thread, stores };
    this.#writers[at] = writer;
    return writer;
  }

  #checkpoint(request: ToCheckpointer): Promise<void> {
    return new Promise((resolve) => {
      this.#checkpoints.set(request.store, resolve);
      this.#runningCheckpointer().post(request, 1);
    });
  }

  #runningCheckpointer(): Thread<ToCheckpointer, FromCheckpointer> {
    if (this.#checkpointer?.isAlive) return this.#checkpointer;
    const thread = new Thread<ToCheckpointer, FromCheckpointer>(
      threadScript('sqlite-checkpointer', import.meta.url),
      {
        onResponse: ({ store }) => {
          thread.repliesReceived(1);
          this.#checkpointEnded(store);
        },
        // Nothing is lost: the writers ask again when their logs have grown.
        onEnd: () => {
          for (const store of [...this.#checkpoints.keys()]) this.#checkpointEnded(store);
        },
      },
    );
    this.#checkpointer = thread;
    return thread;
  }

  #checkpointEnded(store: number): void {
    const resolve = this.#checkpoints.get(store);
    this.#checkpoints.delete(store);
    resolve?.();
  }
}

/** How many pending replies a message completes. */
function repliesIn(message: FromWriter): number {
  switch (message.kind) {
    case 'logGrew':
      return 0;
    case 'committed':
      return message.count;
    default:
      return 1;
  }
}
