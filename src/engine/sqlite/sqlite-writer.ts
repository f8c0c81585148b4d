/**
 * A writer thread. It holds the write connections of its stores and commits in groups: whatever has come in for a
 * store by the time the thread gets to it becomes one transaction with one sync.
 */
import { parentPort } from 'node:worker_threads';
import { assert, COMMIT_BYTES_MAX } from '../../base/index.ts';
import { type Batch, FormatError } from '../engine.ts';
import { packedBytes, unpackBatches } from './sqlite-frames.ts';
import type { Failure, FromWriter, OutcomeFailure, ToWriter } from './sqlite-protocol.ts';
import { WriteConnection } from './sqlite-write-connection.ts';

/** The checkpointer is called when this much of the log waits: small steps, short syncs. */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;
/** From here on the log is started anew as soon as the checkpointer has nearly caught up. */
const LOG_BYTES_AIM = 48 * 1024 * 1024;
/** How much of the log the writer copies itself to come to that point: a few milliseconds. */
const FINISH_BYTES_MAX = 4 * 1024 * 1024;
/** Beyond this the writer waits for readers of old moments and starts the log anew, whatever it takes. */
const LOG_BYTES_MAX = 64 * 1024 * 1024;

interface OpenStore {
  readonly id: number;
  readonly connection: WriteConnection;
  readonly waiting: Required<Batch>[];
  isCheckpointing: boolean;
  /** The size of the log at which the writer starts it anew itself. */
  restartAtBytes: number;
}

assert(parentPort !== null, 'the writer runs in a thread of its own');
const port = parentPort;
const stores = new Map<number, OpenStore>();
/** Stores with batches waiting, in the order in which they came. */
const ready = new Set<OpenStore>();
let isScheduled = false;

port.on('message', (message: ToWriter) => {
  switch (message.kind) {
    case 'open':
      return answer({ kind: 'opened', store: message.store, failure: open(message) });
    case 'commit': {
      const store = storeOf(message.store);
      for (const batch of unpackBatches(message.frames)) store.waiting.push(batch);
      ready.add(store);
      return schedule();
    }
    case 'checkpointed': {
      const store = stores.get(message.store);
      if (store === undefined) return;
      store.isCheckpointing = false;
      return careForLog(store);
    }
    case 'close':
      return answer({ kind: 'closed', store: message.store, failure: close(message.store) });
  }
});

function answer(message: FromWriter): void {
  port.postMessage(message);
}

function storeOf(id: number): OpenStore {
  const store = stores.get(id);
  assert(store !== undefined, 'the store is open');
  return store;
}

function open({ store: id, settings }: Extract<ToWriter, { kind: 'open' }>): Failure | undefined {
  try {
    const connection = new WriteConnection(settings);
    stores.set(id, {
      id,
      connection,
      waiting: [],
      isCheckpointing: false,
      restartAtBytes: LOG_BYTES_MAX,
    });
    return undefined;
  } catch (error) {
    return failureOf(error);
  }
}

function close(id: number): Failure | undefined {
  const store = storeOf(id);
  while (store.waiting.length > 0) commitGroup(store);
  ready.delete(store);
  stores.delete(id);
  try {
    store.connection.close();
    return undefined;
  } catch (error) {
    return failureOf(error);
  }
}

/** After the messages that are already here: they may belong to the same group. */
function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    for (const store of ready) {
      commitGroup(store);
      if (store.waiting.length === 0) ready.delete(store);
    }
    if (ready.size > 0) schedule();
  });
}

function commitGroup(store: OpenStore): void {
  const group = takeGroup(store.waiting);
  const failures: OutcomeFailure[] = [];
  try {
    for (const [at, outcome] of store.connection.commitGroup(group).entries())
      if (outcome === 'conflict')
        failures.push({
          at,
          failure: { kind: 'conflict', message: 'an expectation does not hold' },
        });
  } catch (error) {
    const failure = failureOf(error);
    for (const at of group.keys()) failures.push({ at, failure });
  }
  answer({ kind: 'committed', store: store.id, count: group.length, failures });
  careForLog(store);
}

/** From the front of the queue, one at least, together not much more than one commit may be. */
function takeGroup(waiting: Required<Batch>[]): readonly Required<Batch>[] {
  let bytes = 0;
  let count = 0;
  while (count < waiting.length && bytes < COMMIT_BYTES_MAX)
    bytes += packedBytes(waiting[count++] as Batch);
  return waiting.splice(0, count);
}

function careForLog(store: OpenStore): void {
  if (store.isCheckpointing) return;
  const { connection } = store;
  try {
    const { bytes, pendingBytes } = connection.log();
    if (bytes >= store.restartAtBytes) {
      // A reader that stays would make every commit wait: after a failure the log may grow before the next try.
      const isRestarted = connection.restartLog();
      store.restartAtBytes = isRestarted ? LOG_BYTES_MAX : bytes + LOG_BYTES_AIM;
    } else if (bytes >= LOG_BYTES_AIM && pendingBytes <= FINISH_BYTES_MAX) connection.finishLog();
    else if (pendingBytes >= CHECKPOINT_BYTES) {
      store.isCheckpointing = true;
      answer({ kind: 'logGrew', store: store.id, descriptor: connection.descriptor });
    }
  } catch {
    // The log stays as it is and is looked at again after the next commit; commits do not depend on it.
  }
}

function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: error instanceof FormatError ? 'format' : 'unavailable', message };
}
