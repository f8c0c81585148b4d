/**
 * Upgrades the file of a store from format 1 to format 2, in one transaction: after a crash it has one or the other.
 * Format 1 had integer keys in the same table as all others, and no integers beside values that are pointers.
 */
import { DatabaseSync } from 'node:sqlite';
import { assert } from '../../base/index.ts';
import { integerOfValue } from '../integer-keys.ts';
import { UPGRADE } from './sqlite-statements.ts';

/** Rewrites the whole file, as fast as the disk allows: about a minute for a million items. */
export function upgradeFromFormat1(path: string): void {
  const database = new DatabaseSync(path);
  try {
    database.function('number', { deterministic: true }, (value) => {
      assert(value instanceof Uint8Array, 'the argument of number() is a blob');
      return integerOfValue(value) ?? null;
    });
    database.exec(`BEGIN IMMEDIATE; ${UPGRADE} COMMIT;`);
  } finally {
    database.close();
  }
}
