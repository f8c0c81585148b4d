/** Single values by key, over a connection that reads or one that writes. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Bytes } from '../../../base/index.ts';
import { integerOfKey, isIntegerKeyed } from '../../integer-keys.ts';
import { GET, GET_BY_INTEGER } from '../sqlite-statements.ts';

export class Gets {
  readonly #get: StatementSync;
  readonly #getNumbered: StatementSync;

  constructor(database: DatabaseSync) {
    this.#get = prepareForArrays(database, GET);
    this.#getNumbered = prepareForArrays(database, GET_BY_INTEGER);
  }

  get(key: Bytes): Bytes | undefined {
    const row = isIntegerKeyed(key) ? this.#getNumbered.get(integerOfKey(key)) : this.#get.get(key);
    return firstColumn(row);
  }
}

/** A statement that answers with arrays, which cost less than objects. */
export function prepareForArrays(database: DatabaseSync, text: string): StatementSync {
  const statement = database.prepare(text);
  statement.setReturnArrays(true);
  return statement;
}

/** Of such a statement's row. The types of the module do not know arrays. */
export function firstColumn<T = Bytes>(row: unknown): T | undefined {
  return row === undefined ? undefined : (row as readonly [T])[0];
}
