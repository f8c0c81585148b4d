/**
 * Goal: every engine keeps the contract of engine.ts. Method: one suite of small cases per promise of the contract;
 * contract-model-suite.ts adds random histories against a plain sorted array.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AssertionError,
  bytesToText,
  KEY_BYTES_MAX,
  textToBytes,
  VALUE_BYTES_MAX,
} from '../base/index.ts';
import { contractIntegerKeysSuite } from './contract-integer-keys-suite.ts';
import { contractLifecycleSuite } from './contract-lifecycle-suite.ts';
import { contractModelSuite } from './contract-model-suite.ts';
import { contractScanSuite } from './contract-scan-suite.ts';
import { ConflictError, type Store } from './engine.ts';
import { bytes, type EngineUnderTest, entry, put, read, refusal } from './test-kit.ts';

type MakeEngine = () => Promise<EngineUnderTest>;

export function engineContractSuite(name: string, makeEngine: MakeEngine): void {
  describe(`${name} keeps the engine contract`, () => {
    let made: EngineUnderTest;
    let store: Store;
    const opened: Store[] = [];

    beforeAll(async () => {
      const whole = await makeEngine();
      // All cases share one engine, because threads take long to start. A case leaves no store behind.
      const open = async (name: string) => {
        const each = await whole.engine.open(name);
        opened.push(each);
        return each;
      };
      const { engine } = whole;
      made = {
        ...whole,
        engine: {
          open,
          list: () => engine.list(),
          drop: (name) => engine.drop(name),
          close: () => engine.close(),
        },
      };
    });
    beforeEach(async () => {
      store = await made.engine.open('unit/first');
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((each) => each.close()));
      for (const name of await made.engine.list()) await made.engine.drop(name);
    });
    afterAll(async () => {
      await made.engine.close();
      await made.dispose();
    });

    describe('point reads', () => {
      it('returns values that were put, undefined for others', async () => {
        await put(store, ['a', '1'], ['b', '2']);
        expect(await read(store, 'a')).toBe('1');
        expect(await read(store, 'b')).toBe('2');
        expect(await read(store, 'c')).toBeUndefined();
      });

      it('returns many values in the order of the keys, with repeated and missing ones', async () => {
        await put(store, ['a', '1'], ['b', '2']);
        const keys = ['b', 'x', 'a', 'b'].map(textToBytes);
        const values = await store.getMany(keys);
        expect(values.map((value) => value && bytesToText(value))).toEqual([
          '2',
          undefined,
          '1',
          '2',
        ]);
        expect(await store.getMany([])).toEqual([]);
      });

      it('dereferences a pointer to the record under the prefix', async () => {
        const record = new Uint8Array(3000).fill(7);
        await store.commit({
          puts: [
            { key: bytes(0x11, 1), value: bytes(0, 0xff, 0, 9) },
            { key: bytes(0x13, 0, 0xff, 0, 9), value: record },
            { key: bytes(0x11, 2), value: bytes(5) },
            { key: bytes(0x11, 3), value: bytes() },
            { key: bytes(0x13), value: bytes(1) },
            { key: bytes(0xff, 0xc3, 0x28), value: bytes(2) },
            { key: bytes(0x11, 4), value: bytes(0xc3, 0x28) },
          ],
        });
        expect(await store.dereference(bytes(0x11, 1), 0x13)).toEqual(record);
        expect(await store.dereference(bytes(0x11, 2), 0x13)).toBeUndefined();
        expect(await store.dereference(bytes(0x11, 9), 0x13)).toBeUndefined();
        expect(await store.dereference(bytes(0x11, 3), 0x13)).toEqual(bytes(1));
        expect(await store.dereference(bytes(0x11, 4), 0xff)).toEqual(bytes(2));
        const keys = [9, 1, 3, 1].map((last) => bytes(0x11, last));
        expect(await store.dereferenceMany(keys, 0x13)).toEqual([
          undefined,
          record,
          bytes(1),
          record,
        ]);
        expect(await store.dereferenceMany([], 0x13)).toEqual([]);
      });

      it('keeps empty values, values of 2.2 MB and keys of 2,600 bytes', async () => {
        const large = new Uint8Array(2_200_000).map((_, at) => at * 31);
        const longKey = new Uint8Array(2600).fill(0xfe);
        await store.commit({
          puts: [
            { key: bytes(1), value: bytes() },
            { key: bytes(2), value: large },
            { key: longKey, value: bytes(3) },
          ],
        });
        expect(await store.get(bytes(1))).toEqual(bytes());
        expect(Buffer.compare((await store.get(bytes(2))) ?? bytes(), large)).toBe(0);
        expect(await store.get(longKey)).toEqual(bytes(3));
        await store.commit({ puts: [{ key: bytes(2), value: bytes(4) }] });
        expect(await store.get(bytes(2))).toEqual(bytes(4));
      });

      it('are answered though the store is closed and dropped after they were asked for', async () => {
        await put(store, ['a', '1']);
        const reads = Array.from({ length: 100 }, async () => read(store, 'a'));
        await store.close();
        await made.engine.drop('unit/first');
        expect(new Set(await Promise.all(reads))).toEqual(new Set(['1']));
      });

      it('are answered in snapshots though the store is closed and dropped after they were asked for', async () => {
        await put(store, ['a', '1']);
        const snapshot = await store.snapshot();
        const reads = Array.from({ length: 100 }, async () => snapshot.getMany([textToBytes('a')]));
        await store.close();
        await made.engine.drop('unit/first');
        const values = (await Promise.all(reads)).map(([value]) => bytesToText(value ?? bytes()));
        expect(new Set(values)).toEqual(new Set(['1']));
        snapshot.release();
      });

      it('are answered as whole pages though the store is closed and dropped meanwhile', async () => {
        const keys = Array.from({ length: 2500 }, (_, at) => `key ${10_000 + at}`);
        await put(store, ...keys.map((key) => [key, 'value'] as const));
        const all = { start: textToBytes('key'), end: undefined };
        const page = async () => store.scan(all, { limit: 3000, bytesMax: 1e6 });
        const pages = [page(), page()];
        await store.close();
        await made.engine.drop('unit/first');
        for (const { entries } of await Promise.all(pages)) expect(entries).toHaveLength(2500);
      });

      it('returns bytes that later commits do not change', async () => {
        await put(store, ['a', 'before']);
        const kept = await store.get(textToBytes('a'));
        await put(store, ['a', 'behind']);
        expect(bytesToText(kept ?? bytes())).toBe('before');
      });
    });

    describe('batches', () => {
      it('appends to short, long and missing values', async () => {
        const long = 'x'.repeat(5000);
        await put(store, ['short', '1'], ['long', long], ['gone', '1']);
        await store.commit({
          deletes: [textToBytes('gone')],
          puts: [entry('put', 'p')],
          appends: ['short', 'long', 'new', 'gone', 'put'].map((key) => entry(key, '\u00002')),
        });
        await store.commit({ appends: [entry('new', '3'), entry('new', long)] });
        expect(await read(store, 'short')).toBe('1\u00002');
        expect(await read(store, 'long')).toBe(`${long}\u00002`);
        expect(await read(store, 'new')).toBe(`\u000023${long}`);
        expect(await read(store, 'gone')).toBe('\u00002');
        expect(await read(store, 'put')).toBe('p\u00002');
        await put(store, ['long', 'short'], ['new', long]);
        expect(await read(store, 'long')).toBe('short');
        expect(await read(store, 'new')).toBe(long);
      });

      it('applies range deletes, then deletes, then puts', async () => {
        await put(store, ['a', '1'], ['b', '2'], ['c', '3'], ['d', '4']);
        await store.commit({
          puts: [entry('b', 'new'), entry('d', 'new'), entry('b', 'newest')],
          deletes: [textToBytes('d'), textToBytes('absent')],
          deleteRanges: [{ start: textToBytes('a'), end: textToBytes('c') }],
        });
        expect(await Promise.all(['a', 'b', 'c', 'd'].map((key) => read(store, key)))).toEqual([
          undefined,
          'newest',
          '3',
          'new',
        ]);
        await store.commit({ deleteRanges: [{ start: textToBytes('c'), end: undefined }] });
        expect(await Promise.all(['b', 'c', 'd'].map((key) => read(store, key)))).toEqual([
          'newest',
          undefined,
          undefined,
        ]);
      });

      it('accepts an empty batch', async () => {
        await store.commit({});
        expect(await read(store, 'a')).toBeUndefined();
      });

      it('checks expectations before anything of the batch is applied', async () => {
        await put(store, ['a', '1'], ['b', '']);
        const a = textToBytes('a');
        await store.commit({
          expects: [
            { key: a, value: textToBytes('1') },
            { key: textToBytes('b'), value: bytes() },
            { key: textToBytes('c'), value: undefined },
          ],
          puts: [entry('a', '2')],
        });
        expect(await read(store, 'a')).toBe('2');
      });

      for (const [what, key, value] of [
        ['another value', 'a', '2'],
        ['a longer value', 'a', '11'],
        ['an absent key', 'x', ''],
        ['an empty value', 'a', ''],
        ['a key that is there', 'a', undefined],
        ['an empty value that is there', 'b', undefined],
      ] as const)
        it(`refuses a batch that expects ${what} and applies nothing of it`, async () => {
          await put(store, ['a', '1'], ['b', '']);
          const refused = store.commit({
            expects: [
              { key: textToBytes('a'), value: textToBytes('1') },
              {
                key: textToBytes(key),
                value: value === undefined ? undefined : textToBytes(value),
              },
            ],
            deleteRanges: [{ start: textToBytes('a'), end: undefined }],
            puts: [entry('c', '3')],
          });
          await expect(refused).rejects.toThrow(ConflictError);
          expect(await Promise.all(['a', 'b', 'c'].map((key) => read(store, key)))).toEqual([
            '1',
            '',
            undefined,
          ]);
        });

      it('lets commits take effect in the order of the calls, conflicts among them', async () => {
        const outcomes = await Promise.allSettled([
          put(store, ['a', '1']),
          store.commit({
            expects: [{ key: textToBytes('a'), value: textToBytes('1') }],
            puts: [entry('a', '2')],
          }),
          store.commit({
            expects: [{ key: textToBytes('a'), value: textToBytes('1') }],
            puts: [entry('b', 'never')],
          }),
          put(store, ['c', '3']),
          store.commit({ deletes: [textToBytes('c')] }),
          put(store, ['d', '4']),
        ]);
        expect(outcomes.map((outcome) => outcome.status)).toEqual([
          'fulfilled',
          'fulfilled',
          'rejected',
          'fulfilled',
          'fulfilled',
          'fulfilled',
        ]);
        expect(await Promise.all(['a', 'b', 'c', 'd'].map((key) => read(store, key)))).toEqual([
          '2',
          undefined,
          undefined,
          '4',
        ]);
      });

      it('keeps the order of many concurrent commits to one key', async () => {
        const commits = Array.from({ length: 200 }, (_, at) => put(store, ['n', String(at)]));
        await Promise.all(commits);
        expect(await read(store, 'n')).toBe('199');
      });

      it('keeps the longest key and the largest value', async () => {
        const key = new Uint8Array(KEY_BYTES_MAX).fill(7);
        const value = Buffer.alloc(VALUE_BYTES_MAX, 'ab');
        await store.commit({ puts: [{ key, value }] });
        const found = (await store.get(key)) as Uint8Array;
        expect(Buffer.compare(found, value)).toBe(0);
        const page = await store.scan({ start: key, end: undefined }, { limit: 2, bytesMax: 10 });
        expect(page.entries[0]?.value.length).toBe(VALUE_BYTES_MAX);
      });

      it('refuses keys and values out of bounds', async () => {
        const value = bytes();
        for (const puts of [
          [{ key: bytes(), value }],
          [{ key: new Uint8Array(KEY_BYTES_MAX + 1), value }],
          [{ key: bytes(1), value: new Uint8Array(VALUE_BYTES_MAX + 1) }],
        ])
          await expect(store.commit({ puts })).rejects.toThrow(AssertionError);
      });
    });

    describe('snapshots', () => {
      it('do not change during commits, several at once', async () => {
        await put(store, ['a', '1'], ['p', 'r'], ['xr', 'one']);
        const first = await store.snapshot();
        await put(store, ['a', '2'], ['b', '1'], ['xr', 'two']);
        const second = await store.snapshot();
        await store.commit({ deletes: [textToBytes('a')] });
        const third = await store.snapshot();
        const shape = async (view: typeof first) => {
          const a = await view.get(textToBytes('a'));
          const many = await view.getMany([textToBytes('a'), textToBytes('b')]);
          const dereferenced = await view.dereference(textToBytes('p'), 'x'.charCodeAt(0));
          const page = await view.scan(
            { start: bytes(), end: textToBytes('c') },
            { limit: 10, bytesMax: 1e6 },
          );
          return [
            a && bytesToText(a),
            many.map((value) => value && bytesToText(value)).join(),
            dereferenced && bytesToText(dereferenced),
            page.entries.map(({ key }) => bytesToText(key)).join(),
          ];
        };
        expect(await shape(third)).toEqual([undefined, ',1', 'two', 'b']);
        expect(await shape(first)).toEqual(['1', '1,', 'one', 'a']);
        expect(await shape(second)).toEqual(['2', '2,1', 'two', 'a,b']);
        for (const snapshot of [second, first, third]) snapshot.release();
        expect(await read(store, 'b')).toBe('1');
      });

      it('are frozen by the call, before the first read', async () => {
        await put(store, ['a', '1']);
        const snapshot = await store.snapshot();
        await put(store, ['a', '2']);
        expect(bytesToText((await snapshot.get(textToBytes('a'))) ?? bytes())).toBe('1');
        snapshot.release();
      });

      it('see every commit that was acknowledged before', async () => {
        for (let round = 0; round < 20; round++) {
          await put(store, ['a', String(round)]);
          const snapshot = await store.snapshot();
          expect(bytesToText((await snapshot.get(textToBytes('a'))) ?? bytes())).toBe(
            String(round),
          );
          snapshot.release();
        }
      });

      it('are unlimited in number if earlier ones are released', async () => {
        await put(store, ['a', '1']);
        const asked = Array.from({ length: 100 }, async () => {
          const snapshot = await store.snapshot();
          const value = await snapshot.get(textToBytes('a'));
          snapshot.release();
          return value && bytesToText(value);
        });
        expect(new Set(await Promise.all(asked))).toEqual(new Set(['1']));
      });

      it('are released once or twice, and refuse use afterwards', async () => {
        const snapshot = await store.snapshot();
        snapshot.release();
        snapshot.release();
        await expect(refusal(() => snapshot.get(bytes(1)))).rejects.toThrow(AssertionError);
        const other = await store.snapshot();
        snapshot.release();
        expect(await other.get(bytes(1))).toBeUndefined();
        other.release();
      });
    });

    contractLifecycleSuite(() => ({ made, store }));
    contractScanSuite(() => store);
    contractModelSuite(() => store);
    contractIntegerKeysSuite(() => store);
  });
}
