/** DATA/portal.json: the queries that people saved. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../write-file.ts';

/** One text, which is stored as a whole. */
export interface TextStore {
  read(): string | undefined;
  /** Done when the text is durable. */
  write(text: string): void | Promise<void>;
}

export function savedQueriesIn(dataPath: string): TextStore {
  const path = join(dataPath, 'portal.json');
  return {
    read: () => (existsSync(path) ? readFileSync(path, 'utf8') : undefined),
    write: (text) => writeFileAtomically(path, text),
  };
}

/** Kept as long as the process. */
export function memoryText(): TextStore {
  let kept: string | undefined;
  return {
    read: () => kept,
    write: (text) => {
      kept = text;
    },
  };
}
