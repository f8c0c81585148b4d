/** Entry of an evaluation thread. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { DomainError } from '../../../base/index.ts';
import { SqlError } from '../sql/index.ts';
import { Evaluator } from './evaluator.ts';
import type { ThreadRequest, ThreadResponse } from './protocol.ts';

/** Slow queries have a lower priority than the thread that serves requests, and than scripts. */
const NICENESS = 10;

// On other platforms the call would lower the priority of the whole process.
if (process.platform === 'linux') setPriority(NICENESS);

const evaluator = new Evaluator();

parentPort?.on('message', (request: ThreadRequest) => {
  parentPort?.postMessage(responseTo(request));
});
parentPort?.postMessage({ kind: 'ready' } satisfies ThreadResponse);

function responseTo(request: ThreadRequest): ThreadResponse {
  try {
    return evaluator.response(request);
  } catch (error) {
    if (error instanceof SqlError) return { kind: 'wrong', diagnostics: error.diagnostics };
    if (error instanceof DomainError)
      return { kind: 'refused', code: error.code, message: error.message };
    return { kind: 'broken', message: String((error as Error)?.stack ?? error) };
  }
}
