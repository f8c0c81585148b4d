/** Goal: numbered keys answer as all others do, and numbers lead to them. Method: numbers at both ends, large values beside. */
import { describe, expect, it } from 'vitest';
import { AssertionError, toHex } from '../base/index.ts';
import { bytes, refusal } from './contract-terms-suite.ts';
import type { Store } from './engine.ts';
import { INTEGER_KEY_PREFIX } from './integer-keys.ts';

export function contractNumberedSuite(currentStore: () => Store): void {
  describe('numbered keys', () => {
    it('follows numbers to records, up to the greatest', async () => {
      const numbers = [
        bytes(0, 0, 0, 0, 0, 0, 0, 0),
        bytes(0, 0, 0, 1, 0, 0, 0, 2),
        bytes(0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
      ];
      const recordOf = (at: number) => new Uint8Array(at * 3000).fill(7 + at);
      await currentStore().commit({
        puts: numbers.flatMap((number, at) => [
          { key: bytes(0x11, at), value: number },
          { key: bytes(INTEGER_KEY_PREFIX, ...number), value: recordOf(at) },
        ]),
      });
      for (const [at, number] of numbers.entries()) {
        expect(await currentStore().dereference(bytes(0x11, at), INTEGER_KEY_PREFIX)).toEqual(
          recordOf(at),
        );
        expect(await currentStore().get(bytes(0x11, at))).toEqual(number);
        expect(await currentStore().get(bytes(INTEGER_KEY_PREFIX, ...number))).toEqual(
          recordOf(at),
        );
      }
      const page = await currentStore().scan(
        { start: bytes(), end: undefined },
        { limit: 100, bytesMax: 1e6 },
      );
      expect(page.entries.map(({ key }) => toHex(key))).toEqual([
        ...numbers.map((number) => toHex(bytes(INTEGER_KEY_PREFIX, ...number))),
        ...numbers.map((_, at) => toHex(bytes(0x11, at))),
      ]);
    });

    it('does not take the place of a large value for a number', async () => {
      // The first large value of a SQLite store is the first in its heap.
      const one = bytes(0, 0, 0, 0, 0, 0, 0, 1);
      await currentStore().commit({
        puts: [
          { key: bytes(0x11), value: new Uint8Array(3000) },
          { key: bytes(INTEGER_KEY_PREFIX, ...one), value: bytes(9) },
          { key: bytes(0x12), value: new Uint8Array(3000).fill(3) },
        ],
      });
      expect(await currentStore().dereference(bytes(0x11), INTEGER_KEY_PREFIX)).toBeUndefined();
      await currentStore().commit({ puts: [{ key: bytes(0x11), value: one }] });
      expect(await currentStore().dereference(bytes(0x11), INTEGER_KEY_PREFIX)).toEqual(bytes(9));
      await currentStore().commit({ deletes: [bytes(0x11)] });
      expect(await currentStore().get(bytes(0x12))).toEqual(new Uint8Array(3000).fill(3));
    });

    it('refuses keys that begin as numbered ones and are not', async () => {
      for (const key of [
        bytes(INTEGER_KEY_PREFIX),
        bytes(INTEGER_KEY_PREFIX, 0, 0, 0, 0, 0, 0, 1),
        bytes(INTEGER_KEY_PREFIX, 0, 0, 0, 0, 0, 0, 0, 1, 0),
        bytes(INTEGER_KEY_PREFIX, 0, 0x20, 0, 0, 0, 0, 0, 0),
      ]) {
        await expect(refusal(() => currentStore().get(key))).rejects.toThrow(AssertionError);
        const batch = { puts: [{ key, value: bytes() }] };
        await expect(refusal(() => currentStore().commit(batch))).rejects.toThrow(AssertionError);
      }
    });
  });
}
