/** The ready file: shows scripts that all listeners serve, and where. It exists exactly while the server is ready. */
import { readFileSync, rmSync } from 'node:fs';
import type { ApiName } from './config.ts';
import { ExitError } from './exit-error.ts';
import { writeFileAtomically } from './write-file.ts';

export interface ReadyState {
  readonly pid: number;
  /** Null where an API is not served. */
  readonly endpoints: Readonly<Record<ApiName, string | null>>;
  readonly key: string;
}

/** Throws ExitError 1. */
export function writeReadyFile(path: string, state: ReadyState): void {
  try {
    writeFileAtomically(path, `${JSON.stringify(state)}\n`);
  } catch (error) {
    throw new ExitError(
      1,
      `cannot write ${path} (--ready-file): ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** Called before the listeners start and after they stop. Only a file that looks like ours is removed. */
export function removeReadyFile(path: string): void {
  try {
    const state: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof state === 'object' && state !== null && 'pid' in state && 'endpoints' in state)
      rmSync(path, { force: true });
  } catch {
    // The file is absent or not ours: the atomic write that follows replaces it or reports why it cannot.
  }
}
