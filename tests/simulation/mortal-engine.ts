/** An engine in memory for one life: commits take some turns of the event loop, and none is applied after death. */
import type { Random } from '../../src/base/index.ts';
import type { Batch, Engine, Snapshot, Store } from '../../src/engine/index.ts';
import type { Life } from './life.ts';

/** Turns a commit takes at most, before it is applied and again before it is told. */
const TURNS_MAX = 3;

/** `base` outlives the life; what was open in it when the life ended is closed by `bury`. */
export function mortalEngine(base: Engine, life: Life, random: Random): Engine {
  return {
    async open(name) {
      await life.point('store.open');
      return mortalStore(await base.open(name), life, random);
    },
    async list() {
      await life.point('store.list');
      return base.list();
    },
    async drop(name) {
      await life.point('store.drop');
      await base.drop(name);
    },
    close: async () => undefined,
  };
}

function mortalStore(store: Store, life: Life, random: Random): Store {
  const kind = store.name === 'catalog' ? 'catalog' : 'data';
  let last: Promise<void> = Promise.resolve();
  const commit = async (before: Promise<void>, batch: Batch): Promise<void> => {
    await before.catch(() => undefined);
    await turns(random.below(TURNS_MAX));
    await life.point(`${kind}.commit`);
    await store.commit(batch);
    await turns(random.below(TURNS_MAX));
    await life.point(`${kind}.durable`);
  };
  return {
    name: store.name,
    get: (key) => life.answer(() => store.get(key)),
    getMany: (keys) => life.answer(() => store.getMany(keys)),
    dereference: (key, prefix) => life.answer(() => store.dereference(key, prefix)),
    scan: (range, options) => life.answer(() => store.scan(range, options)),
    scanKeys: (range, options) => life.answer(() => store.scanKeys(range, options)),
    snapshot: () => life.answer(() => store.snapshot() as Snapshot),
    commit(batch) {
      last = commit(last, batch);
      return last;
    },
    stats: () => store.stats(),
    async close() {
      await last.catch(() => undefined);
      await life.point('store.close');
      await store.close();
    },
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
