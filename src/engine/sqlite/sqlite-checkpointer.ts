/**
 * The checkpointer thread copies logs into their files, one store after the other, on connections of its own. It
 * takes no lock that a writer or a reader waits for; what it cannot copy because somebody reads it, it leaves.
 */
import { DatabaseSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';
import { assert } from '../../base/index.ts';
import type { FromCheckpointer, ToCheckpointer } from './sqlite-protocol.ts';

assert(parentPort !== null, 'the checkpointer runs in a thread of its own');
const port = parentPort;

port.on('message', ({ store, path }: ToCheckpointer) => {
  checkpoint(path);
  port.postMessage({ store } satisfies FromCheckpointer);
});

function checkpoint(path: string): void {
  try {
    const database = new DatabaseSync(path);
    try {
      database.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(PASSIVE);');
    } finally {
      database.close();
    }
  } catch {
    // What is not copied now stays in the log and is asked for again when the log has grown further.
  }
}
