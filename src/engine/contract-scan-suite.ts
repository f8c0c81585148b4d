/** Goal: scans keep order, bounds and the exact `more` flag. Method: a table of scans over a small fixed store. */
import { beforeEach, describe, expect, it } from 'vitest';
import { AssertionError, type Bytes, fromHex, toHex } from '../base/index.ts';
import type { ScanOptions, Store } from './engine.ts';

/** In key order; the values are pointers to records under prefix 30, one of which is missing. */
const ENTRIES: readonly (readonly [key: string, value: string])[] = [
  ['00', '01'],
  ['0000', '02'],
  ['00FF', ''],
  ['15', '03'],
  ['1500', '0300'],
  ['15FF00', '04'],
  ['7F', 'FFFF'],
  ['80', '01'],
  ['FF', '99'],
  ['FFFF', '01'],
];
const RECORDS: readonly (readonly [key: string, value: string])[] = [
  ['30', 'EE'],
  ['3001', 'A1A1A1A1'],
  ['3002', 'A2'],
  ['3003', 'A3'],
  ['300300', ''],
  ['3004', 'A4'],
  ['30FFFF', 'A5'],
];

interface Case {
  readonly title: string;
  readonly start: string;
  readonly end?: string;
  readonly options: Partial<ScanOptions>;
  /** True to scan only the keys. */
  readonly isKeysOnly?: boolean;
  readonly keys: string;
  readonly values?: string;
  readonly more: boolean;
}

const CASES: readonly Case[] = [
  {
    title: 'a range, end excluded',
    start: '00FF',
    end: '1500',
    options: {},
    keys: '00FF 15',
    more: false,
  },
  { title: 'an empty range', start: '11', end: '12', options: {}, keys: '', more: false },
  {
    title: 'a reversed range of nothing',
    start: '11',
    end: '12',
    options: { reverse: true },
    keys: '',
    more: false,
  },
  {
    title: 'a range that ends before it starts',
    start: '20',
    end: '15',
    options: {},
    keys: '',
    more: false,
  },
  {
    title: 'that range backwards',
    start: '20',
    end: '15',
    options: { reverse: true },
    keys: '',
    more: false,
  },
  { title: 'to the end', start: '80', options: {}, keys: '80 FF FFFF', more: false },
  {
    title: 'to the end, backwards',
    start: '80',
    options: { reverse: true },
    keys: 'FFFF FF 80',
    more: false,
  },
  {
    title: 'a limit before the end',
    start: '80',
    options: { limit: 2 },
    keys: '80 FF',
    more: true,
  },
  {
    title: 'a limit exactly at the end',
    start: '80',
    options: { limit: 3 },
    keys: '80 FF FFFF',
    more: false,
  },
  {
    title: 'a limit exactly at the end of the range',
    start: '00',
    end: '15',
    options: { limit: 3 },
    keys: '00 0000 00FF',
    more: false,
  },
  {
    title: 'a limit backwards',
    start: '00',
    end: '15',
    options: { limit: 2, reverse: true },
    keys: '00FF 0000',
    more: true,
  },
  {
    title: 'a limit backwards exactly at the start',
    start: '00',
    end: '15',
    options: { limit: 3, reverse: true },
    keys: '00FF 0000 00',
    more: false,
  },
  {
    title: 'bytes: at least one entry',
    start: '00',
    end: '15',
    options: { bytesMax: 1 },
    keys: '00',
    more: true,
  },
  {
    title: 'bytes: ends with the entry that reaches them',
    start: '00',
    end: '15',
    options: { bytesMax: 3 },
    keys: '00 0000',
    more: true,
  },
  {
    title: 'bytes: reached exactly',
    start: '00',
    end: '15',
    options: { bytesMax: 5 },
    keys: '00 0000',
    more: true,
  },
  {
    title: 'bytes: reached exactly at the end',
    start: '00',
    end: '15',
    options: { bytesMax: 7 },
    keys: '00 0000 00FF',
    more: false,
  },
  {
    title: 'bytes: backwards',
    start: '00',
    end: '15',
    options: { bytesMax: 3, reverse: true },
    keys: '00FF 0000',
    more: true,
  },
  {
    title: 'keys only',
    start: '00',
    end: '15',
    options: {},
    isKeysOnly: true,
    keys: '00 0000 00FF',
    more: false,
  },
  {
    title: 'keys only counts the bytes of keys',
    start: '00',
    end: '15',
    options: { bytesMax: 3 },
    isKeysOnly: true,
    keys: '00 0000',
    more: true,
  },
  {
    title: 'keys only backwards',
    start: '7F',
    options: { reverse: true, limit: 3 },
    isKeysOnly: true,
    keys: 'FFFF FF 80',
    more: true,
  },
  {
    title: 'values as stored',
    start: '00',
    end: '16',
    options: {},
    keys: '00 0000 00FF 15 1500 15FF00',
    values: '01 02 - 03 0300 04',
    more: false,
  },
  {
    title: 'dereference',
    start: '00',
    end: '20',
    options: { dereference: 0x30 },
    keys: '00 0000 00FF 15 1500 15FF00',
    values: 'A1A1A1A1 A2 EE A3 - A4',
    more: false,
  },
  {
    title: 'dereference leaves out pointers to missing records',
    start: '7F',
    options: { dereference: 0x30 },
    keys: '7F 80 FFFF',
    values: 'A5 A1A1A1A1 A1A1A1A1',
    more: false,
  },
  {
    title: 'dereference backwards',
    start: '7F',
    options: { dereference: 0x30, reverse: true, limit: 2 },
    keys: 'FFFF 80',
    values: 'A1A1A1A1 A1A1A1A1',
    more: true,
  },
  {
    title: 'dereference: no more if the rest points to no record',
    start: '80',
    end: 'FFFF',
    options: { dereference: 0x30, limit: 1 },
    keys: '80',
    values: 'A1A1A1A1',
    more: false,
  },
  {
    title: 'dereference counts the bytes of the records',
    start: '00',
    end: '20',
    options: { dereference: 0x30, bytesMax: 6 },
    keys: '00 0000',
    values: 'A1A1A1A1 A2',
    more: true,
  },
];

export function contractScanSuite(currentStore: () => Store): void {
  describe('scans', () => {
    beforeEach(async () => {
      const puts = [...RECORDS, ...ENTRIES]
        .map(([key, value]) => ({ key: fromHex(key), value: fromHex(value) }))
        .reverse();
      await currentStore().commit({ puts });
    });

    for (const { title, start, end, options, isKeysOnly, keys, values, more } of CASES)
      it(title, async () => {
        const range = { start: fromHex(start), end: end === undefined ? undefined : fromHex(end) };
        const all: ScanOptions = { limit: 1000, bytesMax: 1e9, ...options };
        const snapshot = await currentStore().snapshot();
        for (const view of [currentStore(), snapshot]) {
          if (isKeysOnly) {
            const found = await view.scanKeys(range, all);
            expect(found.keys.map((key) => toHex(Buffer.from(key, 'latin1'))).join(' ')).toBe(keys);
            expect(found.more).toBe(more);
            continue;
          }
          const page = await view.scan(range, all);
          expect(page.entries.map(({ key }) => toHex(key)).join(' ')).toBe(keys);
          if (values !== undefined)
            expect(page.entries.map(({ value }) => toHex(value) || '-').join(' ')).toBe(values);
          expect(page.more).toBe(more);
        }
        snapshot.release();
      });

    it('walks a store of large and small values page by page, both ways', async () => {
      const store = currentStore();
      await store.commit({ deleteRanges: [{ start: fromHex(''), end: undefined }] });
      const sizes = Array.from({ length: 120 }, (_, at) => (at % 40 === 7 ? 300_000 : at * 9));
      for (const [at, size] of sizes.entries())
        await store.commit({
          puts: [{ key: Uint8Array.of(0x20 + at), value: new Uint8Array(size).fill(at) }],
        });
      for (const reverse of [false, true]) {
        const seen: string[] = [];
        let start: Bytes = new Uint8Array(0);
        let end: Bytes | undefined;
        for (let more = true; more; ) {
          const page = await store.scan({ start, end }, { limit: 50, bytesMax: 20_000, reverse });
          for (const { key, value } of page.entries) seen.push(`${key[0]}:${value.length}`);
          const before = page.entries.slice(0, -1);
          expect(before.reduce((sum, { value }) => sum + 1 + value.length, 0)).toBeLessThan(20_000);
          const last = page.entries.at(-1);
          if (last === undefined) break;
          if (reverse) end = last.key;
          else start = Uint8Array.of(...last.key, 0);
          more = page.more;
        }
        const expected = sizes.map((size, at) => `${0x20 + at}:${size}`);
        expect(seen).toEqual(reverse ? expected.reverse() : expected);
      }
    });

    it('refuses invalid options', async () => {
      const range = { start: fromHex(''), end: undefined };
      for (const options of [
        { limit: 0, bytesMax: 1 },
        { limit: 1.5, bytesMax: 1 },
        { limit: 1, bytesMax: 0 },
        { limit: 1, bytesMax: 1, dereference: 256 },
      ])
        await expect((async () => currentStore().scan(range, options))()).rejects.toThrow(
          AssertionError,
        );
    });
  });
}
