// Goal: the sqlite engine keeps the engine contract. Method: the contract suite on a temporary folder.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engineContractSuite } from '../contract-suite.ts';
import { sqliteEngine } from './sqlite-engine.ts';

engineContractSuite('sqlite', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mesocosm-engine-'));
  return {
    engine: sqliteEngine({ directory }),
    reopen: async () => sqliteEngine({ directory }),
    dispose: async () => rmSync(directory, { recursive: true }),
  };
});
