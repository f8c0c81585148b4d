// Goal: entries are stored as if each were written alone, however many are in one statement, and a failed statement
// leaves nothing of its transaction. Method: groups of every size around those of the statements, new and
// overwriting, short and long values mixed, read by SQL; then a conflicting row of the heap.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Batch, Entry } from '../../engine.ts';
import { WriteConnection } from './sqlite-write-connection.ts';

const NOTHING: Required<Batch> = {
  expects: [],
  deleteRanges: [],
  deletes: [],
  puts: [],
  appends: [],
};

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'puts-'));
  path = join(folder, 'store.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true }));

function open(): WriteConnection {
  return new WriteConnection({ path, root: folder, bytesMax: undefined });
}

function entry(number: number, length: number): Entry {
  const key = Buffer.from(`k${String(number).padStart(4, '0')}`);
  return { key, value: Buffer.alloc(length, number) };
}

/** Key and value as hexadecimal, and the number of rows in the heap. */
function stored(): { readonly entries: readonly string[]; readonly heapRows: number } {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = database
      .prepare(
        'SELECT hex(k) AS k, hex(ifnull(v, (SELECT v FROM large WHERE id = kv.id))) AS v FROM kv ORDER BY k',
      )
      .all();
    const heap = database.prepare('SELECT count(*) AS n FROM large').get();
    return { entries: rows.map(({ k, v }) => `${k} ${v}`), heapRows: Number(heap?.n) };
  } finally {
    database.close();
  }
}

function hex({ key, value }: Entry): string {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex').toUpperCase();
  return `${text(key)} ${text(value)}`;
}

describe('puts', () => {
  it.each([1, 3, 4, 5, 15, 16, 17, 21, 64, 100])('%i entries, twice', (count) => {
    const connection = open();
    // Every third value goes to the heap; the second time others do.
    const first = Array.from({ length: count }, (_, at) => entry(at, at % 3 === 0 ? 300 : 10));
    const second = Array.from({ length: count }, (_, at) => entry(at, at % 2 === 0 ? 301 : 11));
    connection.commitGroup([{ ...NOTHING, puts: first.toReversed() }]);
    connection.commitGroup([{ ...NOTHING, puts: second }]);
    connection.close();
    expect(stored()).toEqual({ entries: second.map(hex), heapRows: Math.ceil(count / 2) });
  });

  it('the last of several entries with one key counts', () => {
    const connection = open();
    connection.commitGroup([{ ...NOTHING, puts: [entry(1, 300)] }]);
    connection.commitGroup([{ ...NOTHING, puts: [entry(1, 10), entry(1, 400), entry(1, 20)] }]);
    connection.commitGroup([{ ...NOTHING, puts: [entry(2, 10), entry(1, 500), entry(2, 600)] }]);
    connection.close();
    expect(stored()).toEqual({ entries: [entry(1, 500), entry(2, 600)].map(hex), heapRows: 2 });
  });

  it('a failed statement leaves nothing, and the next group does not bring its rows back', () => {
    const connection = open();
    // Another connection adds a row with the next id of the heap.
    const other = new DatabaseSync(path);
    other.exec("INSERT INTO large (id, v) VALUES (20, x'00')");
    other.close();
    const puts = Array.from({ length: 40 }, (_, at) => entry(at, 300));
    expect(() => connection.commitGroup([{ ...NOTHING, puts }])).toThrow('UNIQUE');
    connection.commitGroup([{ ...NOTHING, puts: [entry(99, 5)] }]);
    connection.close();
    expect(stored()).toEqual({ entries: [hex(entry(99, 5))], heapRows: 1 });
  });
});
