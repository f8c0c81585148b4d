/**
 * Brings the file of a store from format 1 to format 2, in one transaction: a crash leaves the one or the other.
 * Format 1 had numbered keys among all others, and no numbers beside values that are some.
 */
import { DatabaseSync } from 'node:sqlite';
import { assert } from '../../base/index.ts';
import { integerOfValue } from '../integer-keys.ts';
import { UPGRADE } from './sqlite-statements.ts';

/** The whole file is rewritten, as fast as the disk takes it: about a minute for a million items. */
export function upgradeFromFormat1(path: string): void {
  const database = new DatabaseSync(path);
  try {
    database.function('number', { deterministic: true }, (value) => {
      assert(value instanceof Uint8Array, 'the upgrade asks for the numbers of bytes');
      return integerOfValue(value) ?? null;
    });
    database.exec(`BEGIN IMMEDIATE; ${UPGRADE} COMMIT;`);
  } finally {
    database.close();
  }
}
