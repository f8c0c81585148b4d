/** DATA/access.json: the server's secret and the keys that were rotated. Mode 0600. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccessState, AccessStore, RotatedKeys } from '../service/index.ts';
import { ExitError } from './exit-error.ts';
import type { StorageConfig } from './storage/storage-config.ts';
import { writeFileAtomically } from './write-file.ts';

const VERSION = 1;

/** Reading throws ExitError 1 for a file that this program did not write. */
export function accessFileIn(dataPath: string): AccessStore {
  const path = join(dataPath, 'access.json');
  return {
    read: () => parse(path, readText(path)),
    write: ({ secret, keys }) =>
      writeFileAtomically(path, `${JSON.stringify({ version: VERSION, secret, keys })}\n`),
  };
}

/** Keys that were rotated in this data directory, which is neither locked nor created; none where there is no file. */
export function rotatedKeysIn(storage: StorageConfig): RotatedKeys {
  if (storage.kind !== 'directory') return {};
  return accessFileIn(storage.path).read()?.keys ?? {};
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw unusable(path, error instanceof Error ? error.message : String(error));
  }
}

function parse(path: string, text: string | undefined): AccessState | undefined {
  if (text === undefined) return undefined;
  try {
    const { version, secret, keys } = JSON.parse(text);
    if (
      version === VERSION &&
      typeof secret === 'string' &&
      typeof keys === 'object' &&
      keys !== null
    )
      return { secret, keys };
  } catch {
    // Not JSON: refused below like every other file that is not ours.
  }
  throw unusable(path, `it is not a file of version ${VERSION}`);
}

function unusable(path: string, reason: string): ExitError {
  return new ExitError(
    1,
    `cannot use ${path}: ${reason}. Restore it from a copy; without it, rotated keys and resource tokens are void.`,
  );
}
