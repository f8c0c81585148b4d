/**
 * Goal: integer keys behave as all others, and integers point to them. Method: integers at both ends, and large
 * values.
 */
import { describe, expect, it } from 'vitest';
import { AssertionError, toHex } from '../base/index.ts';
import type { Store } from './engine.ts';
import { INTEGER_KEY_PREFIX } from './integer-keys.ts';
import { bytes, refusal } from './test-kit.ts';

export function contractIntegerKeysSuite(currentStore: () => Store): void {
  describe('integer keys', () => {
    it('dereferences integers to records, up to the greatest', async () => {
      const integers = [
        bytes(0, 0, 0, 0, 0, 0, 0, 0),
        bytes(0, 0, 0, 1, 0, 0, 0, 2),
        bytes(0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
      ];
      const recordOf = (at: number) => new Uint8Array(at * 3000).fill(7 + at);
      await currentStore().commit({
        puts: integers.flatMap((integer, at) => [
          { key: bytes(0x11, at), value: integer },
          { key: bytes(INTEGER_KEY_PREFIX, ...integer), value: recordOf(at) },
        ]),
      });
      for (const [at, integer] of integers.entries()) {
        expect(await currentStore().dereference(bytes(0x11, at), INTEGER_KEY_PREFIX)).toEqual(
          recordOf(at),
        );
        expect(await currentStore().get(bytes(0x11, at))).toEqual(integer);
        expect(await currentStore().get(bytes(INTEGER_KEY_PREFIX, ...integer))).toEqual(
          recordOf(at),
        );
      }
      const page = await currentStore().scan(
        { start: bytes(), end: undefined },
        { limit: 100, bytesMax: 1e6 },
      );
      expect(page.entries.map(({ key }) => toHex(key))).toEqual([
        ...integers.map((integer) => toHex(bytes(INTEGER_KEY_PREFIX, ...integer))),
        ...integers.map((_, at) => toHex(bytes(0x11, at))),
      ]);
    });

    it('does not mistake the heap id of a large value for an integer', async () => {
      // The first large value of a SQLite store has id 1 in its heap.
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

    it('refuses keys with the prefix of integer keys and another form', async () => {
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
