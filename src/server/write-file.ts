/** Writes a small file so that a reader sees the old content or the new one, never a part, even after a crash. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export function writeFileAtomically(path: string, text: string): void {
  // The temporary file lies beside the target: a rename is atomic only within one file system.
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    // `wx` refuses a file or link that another user has put there: the text may hold a key.
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncDirectory(dirname(path));
}

/** A rename is durable only when its directory is synced; Windows neither needs nor allows that. */
function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
