// Goal: scattered keys are gathered, moved in steps and settled as the tables show. Method: a write connection alone, and a
// look at its file after every group.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bytes, fromHex, toHex } from '../../base/index.ts';
import type { Batch } from '../engine.ts';
import { turnOf, unpackRow } from './sqlite-gathered-row.ts';
import { WriteConnection } from './sqlite-write-connection.ts';

let directory: string;
let connection: WriteConnection;
const GATHERED_MAX = 4;

const open = (bytesMax?: number) =>
  new WriteConnection({
    path: join(directory, 'a.sqlite'),
    root: directory,
    bytesMax,
    gatheredMax: GATHERED_MAX,
  });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mesocosm-gatherer-'));
  connection = open();
});
afterEach(() => {
  connection.close();
  rmSync(directory, { recursive: true });
});

/** A group of one batch. */
function commit(batch: Batch): void {
  const none = { expects: [], deleteRanges: [], deletes: [], puts: [], appends: [] };
  connection.commitGroup([{ ...none, ...batch }]);
}

const put = (...keys: readonly string[]): Batch => ({
  puts: keys.map((key) => ({ key: fromHex(key), value: fromHex('07') })),
});

/** The tree's keys, and of every row its id, turn and keys; a deleted key with a minus before it. */
function tables(): { readonly tree: string; readonly rows: readonly string[] } {
  const database = new DatabaseSync(join(directory, 'a.sqlite'), { readOnly: true });
  const tree = database.prepare('SELECT k FROM kv ORDER BY k').all();
  const rows = database.prepare('SELECT id, entries FROM scattered ORDER BY id').all();
  database.close();
  return {
    tree: tree.map(({ k }) => toHex(k as Bytes)).join(' '),
    rows: rows.map(({ id, entries }) => {
      const words = [String(id), turnOf(entries as Bytes)];
      unpackRow(entries as Bytes, (key, value) =>
        words.push(`${value === null ? '-' : ''}${toHex(key)}`),
      );
      return words.join(' ');
    }),
  };
}

describe('scattered keys', () => {
  it('are gathered, frozen when they are enough, moved in steps of twice what comes, and settled', () => {
    commit(put('1103', '20', '1101'));
    commit({ ...put('1104'), deletes: [fromHex('1103')] });
    expect(tables()).toEqual({ tree: '20', rows: ['1 none 1103 1101', '2 none -1103 1104'] });
    commit(put('1109'));
    const before = ['1 none 1103 1101', '2 none -1103 1104'];
    expect(tables()).toEqual({ tree: '20', rows: [...before, '3 frozen 1109'] });
    commit(put('1102'));
    const step = [...before, '3 frozen 1109', '4 none 1102'];
    expect(tables()).toEqual({ tree: '1101 20', rows: step });
    commit(put('1105'));
    expect(tables()).toEqual({
      tree: '1101 1104 20',
      rows: ['3 frozen 1109', '4 none 1102', '5 settled 1105'],
    });
  });

  it('are moved with groups that have none', () => {
    commit(put('1101', '1102', '1103', '1104'));
    commit(put('1105'));
    for (let group = 0; group < 6; group++) commit(put('21'));
    expect(tables()).toEqual({
      tree: '1101 1102 1103 1104 21',
      rows: ['2 frozen 1105', '3 settled'],
    });
  });

  it('are moved at once where the next are enough before', () => {
    commit(put('1101', '1102', '1103', '1104'));
    commit(put('1105', '1106', '1107', '1108'));
    commit(put('1109'));
    expect(tables()).toEqual({
      tree: '1101 1102 1103 1104',
      rows: ['2 frozen 1105 1106 1107 1108', '3 settled 1109'],
    });
  });

  const rare: readonly (readonly [use: string, batch: Batch, tree: string])[] = [
    ['expected', { expects: [{ key: fromHex('1101'), value: fromHex('07') }] }, '1101 1102'],
    [
      'deleted in a range',
      { deleteRanges: [{ start: fromHex('10'), end: fromHex('1102') }] },
      '1102',
    ],
    ['appended to', { appends: [{ key: fromHex('1101'), value: fromHex('08') }] }, '1101 1102'],
    ['long', { puts: [{ key: fromHex('1103'), value: new Uint8Array(65) }] }, '1101 1102 1103'],
  ];
  for (const [use, batch, tree] of rare)
    it(`are all in the tree before one is ${use}`, () => {
      commit(put('1102', '1101'));
      const none = { expects: [], deleteRanges: [], deletes: [], puts: [], appends: [] };
      const group = [put('1105'), { deletes: [fromHex('1105')] }, batch, put('1106')];
      connection.commitGroup(group.map((each) => ({ ...none, ...each })));
      expect(tables()).toEqual({ tree, rows: ['3 cleared', '4 none 1106'] });
      commit(batch.expects === undefined ? batch : {});
      commit(put('1107'));
      expect(tables().rows.at(-1)).toMatch(/none 1107$/);
    });

  it('are taken from the rows again when the store is opened', () => {
    commit(put('1101', '1102', '1103', '1104'));
    commit(put('1105'));
    commit(put('1101'));
    expect(tables().tree).toBe('1101 1102');
    connection.close();
    connection = open();
    commit(put('1106'));
    expect(tables().rows.at(-1)).toBe('4 frozen 1106');
    for (let group = 0; group < 6; group++) commit(put('21'));
    expect(tables()).toEqual({
      tree: '1101 1102 1103 1104 1105 21',
      rows: ['4 frozen 1106', '5 settled'],
    });
  });

  it('go on after a group that failed', () => {
    connection.close();
    connection = open(64 * 4096);
    commit(put('1101', '1102', '1103', '1104'));
    commit(put('1105'));
    const large = { key: fromHex('22'), value: new Uint8Array(1_000_000) };
    expect(() => commit({ puts: [...(put('1109').puts ?? []), large] })).toThrow('full');
    expect(tables().rows).toEqual(['1 none 1101 1102 1103 1104', '2 frozen 1105']);
    commit(put('1106'));
    for (let group = 0; group < 6; group++) commit(put('21'));
    expect(tables()).toEqual({
      tree: '1101 1102 1103 1104 1105 21',
      rows: ['3 frozen 1106', '4 settled'],
    });
  });
});
