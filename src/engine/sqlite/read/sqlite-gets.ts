/** Single values by key, over a connection for reading or for writing. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Bytes } from '../../../base/index.ts';
import { integerOfKey, isIntegerKeyed } from '../../integer-keys.ts';
import { GET, GET_BY_INTEGER } from '../sqlite-statements.ts';

export class Gets {
  readonly #get: StatementSync;
  readonly #getByInteger: StatementSync;

  constructor(database: DatabaseSync) {
    this.#get = prepareForArrays(database, GET);
    this.#getByInteger = prepareForArrays(database, GET_BY_INTEGER);
  }

  get(key: Bytes): Bytes | undefined {
    const row = isIntegerKeyed(key)
      ? this.#getByInteger.get(integerOfKey(key))
      : this.#get.get(key);
    return firstColumn(row);
  }
}

/** A statement that returns rows as arrays, which cost less than objects. */
export function prepareForArrays(database: DatabaseSync, text: string): StatementSync {
  const statement = database.prepare(text);
  statement.setReturnArrays(true);
  return statement;
}

/** The first column of such a statement's row. The types of the module do not know arrays. */
export function firstColumn<T = Bytes>(row: unknown): T | undefined {
  return row === undefined ? undefined : (row as readonly [T])[0];
}
