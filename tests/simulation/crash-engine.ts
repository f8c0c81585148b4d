/** An engine in memory for one process: commits take some turns of the event loop, and none is applied after a crash. */
import { DomainError, type Random } from '../../src/base/index.ts';
import type { Batch, Engine, Snapshot, Store } from '../../src/engine/index.ts';
import type { SimulatedProcess } from './process.ts';

/** The most turns of the event loop before a commit is applied, and again before it is acknowledged. */
const TURNS_MAX = 3;

/** `base` holds the data of all processes; `World.startProcess` closes the stores that a crash left open. */
export function crashEngine(base: Engine, process: SimulatedProcess, random: Random): Engine {
  return {
    async open(name) {
      await process.point('store.open');
      // Another point may have crashed the process since.
      return crashStore(await process.unlessCrashed(() => base.open(name)), process, random);
    },
    async list() {
      await process.point('store.list');
      return base.list();
    },
    async drop(name) {
      await process.point('store.drop');
      await process.unlessCrashed(() => base.drop(name));
    },
    close: async () => undefined,
  };
}

function crashStore(store: Store, process: SimulatedProcess, random: Random): Store {
  const kind = store.name === 'catalog' ? 'catalog' : 'data';
  let last: Promise<void> = Promise.resolve();
  const commit = async (before: Promise<void>, batch: Batch): Promise<void> => {
    await before.catch(() => undefined);
    await turns(random.below(TURNS_MAX));
    await process.point(`${kind}.commit`);
    const failure = kind === 'data' ? process.commitFailure() : 'none';
    if (failure !== 'lost') await store.commit(batch);
    if (failure !== 'none') throw new DomainError('unavailable', 'the disk failed');
    await turns(random.below(TURNS_MAX));
    await process.point(`${kind}.durable`);
  };
  return {
    name: store.name,
    get: (key) => process.unlessCrashed(() => store.get(key)),
    getMany: (keys) => process.unlessCrashed(() => store.getMany(keys)),
    dereference: (key, prefix) => process.unlessCrashed(() => store.dereference(key, prefix)),
    dereferenceMany: (keys, prefix) =>
      process.unlessCrashed(() => store.dereferenceMany(keys, prefix)),
    scan: (range, options) => process.unlessCrashed(() => store.scan(range, options)),
    scanKeys: (range, options) => process.unlessCrashed(() => store.scanKeys(range, options)),
    snapshot: () => process.unlessCrashed(() => store.snapshot() as Snapshot),
    commit(batch) {
      last = commit(last, batch);
      return last;
    },
    stats: () => store.stats(),
    async close() {
      await last.catch(() => undefined);
      await process.point('store.close');
      await store.close();
    },
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
