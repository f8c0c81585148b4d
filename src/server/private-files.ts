/**
 * Nobody but the owner reads what a data directory holds. New files are made so by the mask of the process; what an
 * earlier program or a restored copy left open is closed when the directory is opened.
 */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Bits of the group and of everybody else. */
const OTHERS = 0o077;

/** For all files from here on, whoever in the process makes them: the storage engine makes its own. */
export function maskNewFiles(): void {
  process.umask(OTHERS);
}

/**
 * A folder and all in it. Links are not followed; what belongs to somebody else stays as it is.
 * @param isOurs - of the names in the folder itself.
 */
export function makePrivate(folder: string, isOurs = (_name: string): boolean => true): void {
  // AccessPath lists of Windows are not these bits.
  if (process.platform === 'win32') return;
  closeFor(folder, FOLDER_MODE);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!isOurs(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makePrivate(path);
    else if (entry.isFile()) closeFor(path, FILE_MODE);
  }
}

function closeFor(path: string, mode: number): void {
  try {
    if ((lstatSync(path).mode & OTHERS) !== 0) chmodSync(path, mode);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // A file may go while we look; one of another owner is theirs to close.
    if (code !== 'ENOENT' && code !== 'EPERM' && code !== 'EROFS') throw error;
  }
}
