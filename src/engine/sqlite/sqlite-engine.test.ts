// Goal: the sqlite engine keeps the engine contract. Method: the contract suite on a temporary folder.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineContractSuite } from '../contract-suite.ts';
import { sqliteEngine } from './sqlite-engine.ts';

/** Few are gathered, so that they are often on their way. */
for (const gatheredMax of [1, 20, undefined])
  engineContractSuite(`sqlite that gathers ${gatheredMax ?? 'many'}`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'mesocosm-engine-'));
    const options = gatheredMax === undefined ? { directory } : { directory, gatheredMax };
    return {
      engine: sqliteEngine(options),
      reopen: async () => sqliteEngine(options),
      dispose: async () => rmSync(directory, { recursive: true }),
    };
  });
