/** Entry of a sandbox thread. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Sandbox } from './sandbox.ts';
import type { FromSandbox, SandboxSettings, ToSandbox } from './sandbox-protocol.ts';

/** Scripts give way to the threads that serve requests, where there are more of them than processors. */
const NICENESS = 5;

// Elsewhere the call would slow down the whole process.
if (process.platform === 'linux') setPriority(NICENESS);

const sandbox = new Sandbox(workerData as SandboxSettings);

await sandbox.prepare();
parentPort?.postMessage({ kind: 'ready' } satisfies FromSandbox);

parentPort?.on('message', async (question: ToSandbox) => {
  const answer = await sandbox.answer(question);
  if (answer !== undefined) parentPort?.postMessage(answer);
  if (question.kind === 'end') await sandbox.prepare();
});
