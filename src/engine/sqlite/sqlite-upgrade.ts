/**
 * Brings the file of a store from an older format to the present one, each step in one transaction: a crash leaves one format
 * or the next. Format 1 had numbered keys among all others, and no numbers beside values that are some. Format 2 had no
 * table for scattered keys.
 */
import { DatabaseSync } from 'node:sqlite';
import { assert } from '../../base/index.ts';
import { numberOfValue } from '../numbered.ts';
import { UPGRADE_FROM_1, UPGRADE_FROM_2 } from './sqlite-statements.ts';

/** From format 1 the whole file is rewritten, as fast as the disk takes it: about a minute for a million items. */
export function upgradeFile(path: string, format: number): void {
  const database = new DatabaseSync(path);
  try {
    database.function('number', { deterministic: true }, (value) => {
      assert(value instanceof Uint8Array, 'the upgrade asks for the numbers of bytes');
      return numberOfValue(value) ?? null;
    });
    if (format < 2) database.exec(`BEGIN IMMEDIATE; ${UPGRADE_FROM_1} COMMIT;`);
    if (format < 3) database.exec(`BEGIN IMMEDIATE; ${UPGRADE_FROM_2} COMMIT;`);
  } finally {
    database.close();
  }
}
