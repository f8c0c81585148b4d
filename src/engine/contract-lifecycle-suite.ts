/** Goal: stores are opened, listed, closed and dropped as the contract says. Method: one small case per promise. */
import { beforeEach, describe, expect, it } from 'vitest';
import { AssertionError, textToBytes } from '../base/index.ts';
import type { Store } from './engine.ts';
import { bytes, type EngineUnderTest, put, read, refusal } from './test-kit.ts';

/** What readers of a store get that was closed under them. */
const CLOSED = { code: 'unavailable', message: 'Store unit/first was closed.' };

/** `current` returns the engine and its open store `unit/first`. */
export function contractLifecycleSuite(
  current: () => { made: EngineUnderTest; store: Store },
): void {
  describe('lifecycle of a store', () => {
    let made: EngineUnderTest;
    let store: Store;

    beforeEach(() => {
      ({ made, store } = current());
    });

    it('is open at most once', async () => {
      await expect(made.engine.open('unit/first')).rejects.toThrow(AssertionError);
      expect(await read(store, 'a')).toBeUndefined();
    });

    it('refuses invalid names', async () => {
      for (const name of ['', '/a', 'a/', 'a//b', '..', 'a/../b', 'a.b', 'a b', 'ä'])
        await expect(made.engine.open(name)).rejects.toThrow(AssertionError);
    });

    it('closes once or twice, waits for pending commits, refuses use afterwards', async () => {
      const commits = Array.from({ length: 50 }, (_, at) => put(store, [`k${at}`, 'v']));
      let resolved = 0;
      for (const commit of commits)
        commit.then(() => {
          resolved += 1;
        });
      await Promise.all([store.close(), store.close()]);
      expect(resolved).toBe(50);
      await store.close();
      for (const use of [
        () => store.get(bytes(1)),
        () => store.getMany([bytes(1)]),
        () => store.dereference(bytes(1), 1),
        () => store.dereferenceMany([bytes(1)], 1),
        () => store.scan({ start: bytes(), end: undefined }, { limit: 1, bytesMax: 1 }),
        () => store.snapshot(),
        () => store.commit({}),
        () => store.stats(),
      ])
        await expect(refusal(use)).rejects.toMatchObject(CLOSED);
      store = await made.engine.open('unit/first');
      expect(await read(store, 'k49')).toBe('v');
    });

    it('closes with open snapshots, which refuse use afterwards', async () => {
      const snapshot = await store.snapshot();
      await store.close();
      await expect(refusal(() => snapshot.get(bytes(1)))).rejects.toMatchObject(CLOSED);
      snapshot.release();
    });

    it('does not share its data with other stores', async () => {
      const other = await made.engine.open('other');
      await put(store, ['a', '1']);
      expect(await other.get(textToBytes('a'))).toBeUndefined();
      expect(other.name).toBe('other');
      await other.close();
    });

    it('is created beside others at the same time', async () => {
      const names = Array.from({ length: 20 }, (_, at) => `many/${at}`);
      const opened = await Promise.all(names.map((name) => made.engine.open(name)));
      await Promise.all(opened.map((each) => put(each, ['name', each.name])));
      for (const each of opened) expect(await read(each, 'name')).toBe(each.name);
      await Promise.all(opened.map((each) => each.close()));
    });

    it('is listed by name, in order, open or closed', async () => {
      for (const name of ['b', 'a/z/y', 'a']) await (await made.engine.open(name)).close();
      expect(await made.engine.list()).toEqual(['a', 'a/z/y', 'b', 'unit/first']);
    });

    it('is gone after a drop, and empty when opened again', async () => {
      await put(store, ['a', '1']);
      await expect(made.engine.drop('unit/first')).rejects.toThrow(AssertionError);
      await store.close();
      await made.engine.drop('unit/first');
      await made.engine.drop('unit/first');
      expect(await made.engine.list()).toEqual([]);
      store = await made.engine.open('unit/first');
      expect(await read(store, 'a')).toBeUndefined();
    });

    it('reports its space', async () => {
      const before = (await store.stats()).bytesUsed;
      await store.commit({ puts: [{ key: bytes(1), value: new Uint8Array(100_000) }] });
      const { bytesUsed } = await store.stats();
      // An engine that counts pages can put a part of it into pages that are already in use.
      expect(bytesUsed - before).toBeGreaterThan(90_000);
      expect(bytesUsed - before).toBeLessThan(400_000);
    });

    it('is closed by closing the engine, once or twice', async () => {
      await made.engine.close();
      await made.engine.close();
      await expect(refusal(() => store.get(bytes(1)))).rejects.toMatchObject(CLOSED);
    });

    it('survives the engine, where the engine is durable', async () => {
      await put(store, ['a', '1'], ['b', '2']);
      await store.commit({ deletes: [textToBytes('b')] });
      await made.engine.close();
      if (made.reopen === undefined) return;
      const engine = await made.reopen();
      try {
        expect(await engine.list()).toEqual(['unit/first']);
        store = await engine.open('unit/first');
        expect(await read(store, 'a')).toBe('1');
        expect(await read(store, 'b')).toBeUndefined();
      } finally {
        await engine.close();
      }
    });
  });
}
