/** The entry of a sandbox thread. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Sandbox } from './sandbox.ts';
import type { SandboxRequest, SandboxResponse, SandboxSettings } from './sandbox-protocol.ts';

/** A low priority: threads that serve requests come first where there are more threads than processors. */
const NICENESS = 5;

// Only Linux has priorities of threads; elsewhere the call would slow down the whole process.
if (process.platform === 'linux') setPriority(NICENESS);

const sandbox = new Sandbox(workerData as SandboxSettings);

await sandbox.prepare();
parentPort?.postMessage({ kind: 'ready' } satisfies SandboxResponse);

parentPort?.on('message', async (request: SandboxRequest) => {
  const response = await sandbox.handle(request);
  if (response !== undefined) parentPort?.postMessage(response);
  if (request.kind === 'end') await sandbox.prepare();
});
