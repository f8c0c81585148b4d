/**
 * A writer thread. It has the write connections of its stores and commits in groups: all batches that have arrived
 * for a store by the time the thread gets to it become one transaction with one sync.
 */
import { parentPort } from 'node:worker_threads';
import { assert, COMMIT_BYTES_MAX } from '../../../base/index.ts';
import { type Batch, FormatError } from '../../engine.ts';
import { CheckpointPolicy } from './sqlite-checkpoint-policy.ts';
import { packedBytes, unpackBatches } from './sqlite-frames.ts';
import type { Failure, FromWriter, OutcomeFailure, ToWriter } from './sqlite-protocol.ts';
import { WriteConnection } from './sqlite-write-connection.ts';

interface OpenStore {
  readonly id: number;
  readonly connection: WriteConnection;
  readonly waiting: Required<Batch>[];
  readonly checkpointPolicy: CheckpointPolicy;
  isCheckpointing: boolean;
  /** An estimate of how much the log has grown since its state was last read. */
  grownBytes: number;
}

/** The state of the log is read after about this much growth: reading it costs as much as five rows of a commit. */
const LOG_CHECK_BYTES = 1024 * 1024;
/** Bytes that a commit logs beyond its own: whole pages, of which it changes a part. */
const LOGGED_PER_COMMIT_BYTES = 64 * 1024;
const LOGGED_PER_BYTE = 4;

assert(parentPort !== null, 'the writer runs in a thread of its own');
const port = parentPort;
const stores = new Map<number, OpenStore>();
/** Stores with waiting batches, in order of arrival. */
const ready = new Set<OpenStore>();
let isScheduled = false;

port.on('message', (message: ToWriter) => {
  switch (message.kind) {
    case 'open':
      return reply({ kind: 'opened', store: message.store, failure: open(message) });
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
      return checkpointIfNeeded(store);
    }
    case 'close':
      return reply({ kind: 'closed', store: message.store, failure: close(message.store) });
  }
});

function reply(message: FromWriter): void {
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
      checkpointPolicy: new CheckpointPolicy(),
      isCheckpointing: false,
      grownBytes: 0,
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

/** Runs after the messages that have already arrived, since they may belong to the same group. */
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
  const { group, bytes } = takeGroup(store.waiting);
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
  reply({ kind: 'committed', store: store.id, count: group.length, failures });
  store.grownBytes += LOGGED_PER_COMMIT_BYTES + LOGGED_PER_BYTE * bytes;
  if (store.grownBytes >= LOG_CHECK_BYTES) checkpointIfNeeded(store);
}

/** Takes batches from the front of the queue: at least one, together not much more than COMMIT_BYTES_MAX. */
function takeGroup(waiting: Required<Batch>[]): {
  readonly group: readonly Required<Batch>[];
  readonly bytes: number;
} {
  let bytes = 0;
  let count = 0;
  while (count < waiting.length && bytes < COMMIT_BYTES_MAX)
    bytes += packedBytes(waiting[count++] as Batch);
  return { group: waiting.splice(0, count), bytes };
}

function checkpointIfNeeded(store: OpenStore): void {
  if (store.isCheckpointing) return;
  store.grownBytes = 0;
  const { connection } = store;
  try {
    switch (store.checkpointPolicy.next(connection.log())) {
      case 'nothing':
        break;
      case 'checkpoint':
        store.isCheckpointing = true;
        reply({ kind: 'logGrew', store: store.id, descriptor: connection.descriptor });
        break;
      case 'finish':
        connection.finishLog();
        break;
      case 'restart':
        connection.restartLog();
        break;
    }
  } catch {
    // Not logged: the log stays as it is and is checked again after a later commit; commits do not depend on it.
  }
}

function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: error instanceof FormatError ? 'format' : 'unavailable', message };
}
