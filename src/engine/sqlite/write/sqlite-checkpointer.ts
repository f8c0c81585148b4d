/**
 * The checkpointer thread copies logs into their files, one store after the other, on connections of its own. It
 * takes no lock that a writer or a reader waits for. Pages that it cannot copy because of a reader stay in the log.
 */
import { fsyncSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { assert } from '../../../base/index.ts';
import type { FromCheckpointer, ToCheckpointer } from './sqlite-protocol.ts';

assert(parentPort !== null, 'the checkpointer runs in a thread of its own');
const port = parentPort;

port.on('message', (request: ToCheckpointer) => {
  checkpoint(request);
  port.postMessage({ store: request.store } satisfies FromCheckpointer);
});

function checkpoint({ path, descriptor }: ToCheckpointer): void {
  try {
    // Never creates the file: it may be gone if its writer died in the meantime.
    const location = pathToFileURL(path);
    location.searchParams.set('mode', 'rw');
    const database = new DatabaseSync(location);
    try {
      database.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(PASSIVE);');
    } finally {
      database.close();
    }
    // SQLite syncs the file only when the whole log is copied, which happens in the writer and must be fast there.
    fsyncSync(descriptor);
  } catch {
    // Not logged: pages that are not copied stay in the log, and the writer asks again when the log has grown.
  }
}
