/**
 * Only the owner may read a data directory. New files get their mode from the mask of the process; files that an earlier
 * program or a restored copy left readable are corrected when the directory is opened.
 */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Permission bits of the group and of all others. */
const OTHERS = 0o077;

/** Holds for all files of the process from now on, those of the storage engine too. */
export function maskNewFiles(): void {
  process.umask(OTHERS);
}

/**
 * Removes the rights of others from a folder and all in it. Links are not followed; files of other owners stay as they are.
 * @param isOurs - tells by name which entries of the folder itself are included.
 */
export function makePrivate(folder: string, isOurs = (_name: string): boolean => true): void {
  // Windows has access control lists instead of these bits.
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
    // The file may be removed meanwhile; a file of another owner, or on a read-only disk, stays as it is.
    if (code !== 'ENOENT' && code !== 'EPERM' && code !== 'EROFS') throw error;
  }
}
