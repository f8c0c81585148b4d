/**
 * Uncaught errors. Every request, commit and background job catches its own; an error that reaches this point is a bug in
 * that code. It is logged, and the process goes on: one client's request must not end the server for the others.
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
  // The reader of the output is gone: no reason to stop, and nowhere to report it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
