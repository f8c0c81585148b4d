/** Stores in memory, for tests, simulation and temporary accounts. They live as long as the engine object. */
import { assert } from '../../base/index.ts';
import { checkStoreName } from '../checks.ts';
import type { Engine, Store } from '../engine.ts';
import { MemoryStore, type MemoryTable, newTable } from './memory-store.ts';

export function memoryEngine(): Engine {
  return new MemoryEngine();
}

class MemoryEngine implements Engine {
  readonly #tables = new Map<string, MemoryTable>();
  readonly #open = new Map<string, MemoryStore>();

  async open(name: string): Promise<Store> {
    checkStoreName(name);
    assert(!this.#open.has(name), `store ${name} is already open`);
    let table = this.#tables.get(name);
    if (table === undefined) {
      table = newTable();
      this.#tables.set(name, table);
    }
    const store = new MemoryStore(name, table, () => this.#open.delete(name));
    this.#open.set(name, store);
    return store;
  }

  async list(): Promise<readonly string[]> {
    return [...this.#tables.keys()].sort();
  }

  async drop(name: string): Promise<void> {
    checkStoreName(name);
    assert(!this.#open.has(name), `store ${name} is open and cannot be dropped`);
    this.#tables.delete(name);
  }

  async close(): Promise<void> {
    for (const store of [...this.#open.values()]) await store.close();
  }
}
