/** Where keys and certificates are kept: a folder of the data directory, or memory of the process. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../write-file.ts';

type TlsFileName = 'ca.pem' | 'ca-key.pem' | 'server.pem' | 'server-key.pem';

export interface TlsFiles {
  read(name: TlsFileName): string | undefined;
  /** For the owner only; everyone else gets the authority's certificate from `/_mesocosm/ca.pem`. */
  write(name: TlsFileName, text: string): void;
}

export function tlsFilesIn(directory: string): TlsFiles {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return {
    read(name) {
      try {
        return readFileSync(join(directory, name), 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    write(name, text) {
      writeFileAtomically(join(directory, name), text);
    },
  };
}

export function tlsFilesInMemory(): TlsFiles {
  const files = new Map<TlsFileName, string>();
  return { read: (name) => files.get(name), write: (name, text) => void files.set(name, text) };
}
