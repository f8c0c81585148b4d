// Goal: a store of format 1 has the same entries in format 2. Method: a file in format 1, read through the engine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bytes, fromHex, toHex } from '../../base/index.ts';
import { INTEGER_KEY_PREFIX } from '../integer-keys.ts';
import { sqliteEngine } from './sqlite-engine.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mesocosm-upgrade-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const LARGE = new Uint8Array(5000).fill(7);
/** In key order: a small and a large record, keys that point to them, and other entries. */
const ENTRIES: readonly (readonly [key: string, value: Bytes])[] = [
  ['01', fromHex('AA')],
  ['100000000000000001', fromHex('BB')],
  ['100000000100000002', LARGE],
  ['1101', fromHex('0000000000000001')],
  ['1102', fromHex('0000000100000002')],
  ['1103', fromHex('FFFFFFFFFFFFFFFF')],
  ['20', fromHex('')],
  ['31', LARGE.subarray(1)],
];

function writeFormat1(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA page_size = 4096; PRAGMA application_id = 0x4d65736f; PRAGMA user_version = 1;
    CREATE TABLE kv (k BLOB PRIMARY KEY, v BLOB, id INTEGER) WITHOUT ROWID;
    CREATE TABLE large (id INTEGER PRIMARY KEY, v BLOB NOT NULL);
    CREATE TRIGGER kv_deleted AFTER DELETE ON kv WHEN old.id IS NOT NULL
      BEGIN DELETE FROM large WHERE id = old.id; END;
    CREATE TRIGGER kv_updated AFTER UPDATE ON kv WHEN old.id IS NOT NULL AND new.id IS NOT old.id
      BEGIN DELETE FROM large WHERE id = old.id; END;
    PRAGMA journal_mode = WAL;`);
  const putLarge = database.prepare('INSERT INTO large (id, v) VALUES (?, ?)');
  const put = database.prepare('INSERT INTO kv (k, v, id) VALUES (?, ?, ?)');
  for (const [at, [key, value]] of ENTRIES.entries()) {
    const isLarge = value.length > 256;
    if (isLarge) putLarge.run(at, value);
    put.run(fromHex(key), isLarge ? null : value, isLarge ? at : null);
  }
  database.close();
}

test('a store of format 1 has the same entries', async () => {
  const path = join(directory, 'a.sqlite');
  writeFormat1(path);
  const engine = sqliteEngine({ directory });
  const store = await engine.open('a');
  const all = { start: fromHex(''), end: undefined };
  const page = await store.scan(all, { limit: 100, bytesMax: 1e6 });
  const shown = (key: Bytes, value: Bytes) => `${toHex(key)} ${toHex(value)}`;
  expect(page.entries.map(({ key, value }) => shown(key, value))).toEqual(
    ENTRIES.map(([key, value]) => shown(fromHex(key), value)),
  );
  expect(await store.dereference(fromHex('1101'), INTEGER_KEY_PREFIX)).toEqual(
    Uint8Array.from(fromHex('BB')),
  );
  expect(await store.dereference(fromHex('1102'), INTEGER_KEY_PREFIX)).toEqual(LARGE);
  expect(await store.dereference(fromHex('1103'), INTEGER_KEY_PREFIX)).toBeUndefined();
  await store.commit({ deletes: [fromHex('31'), fromHex('1102')] });
  await engine.close();
  const database = new DatabaseSync(path, { readOnly: true });
  const count = (text: string) => Number(database.prepare(text).get()?.n);
  expect(count('SELECT user_version AS n FROM pragma_user_version')).toBe(2);
  expect(count('SELECT count(*) AS n FROM large')).toBe(0);
  expect(count('SELECT count(*) AS n FROM numbered')).toBe(2);
  database.close();
});
