/**
 * What is thrown where nobody catches it. Every request, commit and background job has a fence of its own; what gets
 * through is a bug in a fence. It is logged, and the process goes on: whoever caused it must not end it for the others.
 */
import type { Log } from './log.ts';

interface Events {
  on(
    event: 'uncaughtException' | 'unhandledRejection',
    listener: (error: unknown) => void,
  ): unknown;
  readonly stdout: Stream;
  readonly stderr: Stream;
}

interface Stream {
  on(event: 'error', listener: () => void): unknown;
}

export function surviveFailures(process: Events, log: Log): void {
  const report = (error: unknown): void =>
    log.error('uncaughtFailure', {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
  // Whoever read the output is gone: no reason to stop, and nothing to report it to.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
