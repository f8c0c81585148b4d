// Goal: the memory engine, plain and asynchronous, keeps the engine contract. Method: the contract suite.
import { describe, expect, it } from 'vitest';
import { asyncEngine } from '../async-engine.ts';
import { engineContractSuite } from '../contract-suite.ts';
import { memoryEngine } from './memory-engine.ts';

engineContractSuite('memory', async () => {
  const engine = memoryEngine();
  return { engine, reopen: async () => engine, dispose: async () => {} };
});

engineContractSuite('async memory', async () => {
  const engine = asyncEngine(memoryEngine());
  return { engine, reopen: async () => engine, dispose: async () => {} };
});

describe('memory engine', () => {
  it('returns values where the asynchronous one returns promises', async () => {
    const key = Uint8Array.of(1);
    const atOnce = await memoryEngine().open('a');
    expect(atOnce.get(key)).toBeUndefined();
    const asyncStore = await asyncEngine(memoryEngine()).open('a');
    expect(asyncStore.get(key)).toBeInstanceOf(Promise);
  });

  it('accounts for the bytes of keys and values', async () => {
    const store = await memoryEngine().open('a');
    const key = Uint8Array.of(1, 2);
    await store.commit({ puts: [{ key, value: new Uint8Array(10) }] });
    await store.commit({ puts: [{ key, value: new Uint8Array(4) }] });
    expect(store.stats()).toEqual({ bytesUsed: 6 });
    await store.commit({ deletes: [key] });
    expect(store.stats()).toEqual({ bytesUsed: 0 });
  });
});
