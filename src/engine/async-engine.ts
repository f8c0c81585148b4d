/**
 * A wrapper whose every answer is a promise that takes turns of the event loop to come, as an engine behind a
 * network would. Run a layer on it to prove that the layer copes with MaybePromise and with late commits.
 */
import type { MaybePromise } from '../base/index.ts';
import type { Engine, ReadView, Snapshot, Store } from './engine.ts';

export function asyncEngine(engine: Engine): Engine {
  const stores = new Set<Store>();
  return {
    open: async (name) => {
      const store = delayedStore(await engine.open(name), () => stores.delete(store));
      stores.add(store);
      return store;
    },
    list: () => engine.list(),
    drop: (name) => engine.drop(name),
    close: async () => {
      await Promise.all([...stores].map((store) => store.close()));
      await engine.close();
    },
  };
}

function delayedStore(store: Store, onClose: () => void): Store {
  const underWay = new Set<Promise<unknown>>();
  let isClosing = false;
  /** Immediates run in the order they were asked for, which keeps the order of commits. */
  const later = <T>(action: () => MaybePromise<T>): Promise<T> => {
    // After close the refusal is the inner store's, at once.
    const answer = isClosing ? (async () => action())() : turn().then(action).then(afterTurn);
    underWay.add(answer);
    const forget = () => underWay.delete(answer);
    answer.then(forget, forget);
    return answer;
  };
  return {
    name: store.name,
    ...delayedView(store, later),
    snapshot: () => later(() => store.snapshot()).then((inner) => delayedSnapshot(inner, later)),
    commit: (batch) => later(() => store.commit(batch)),
    stats: () => later(() => store.stats()),
    close: async () => {
      isClosing = true;
      await Promise.allSettled(underWay);
      await store.close();
      onClose();
    },
  };
}

type Later = <T>(action: () => MaybePromise<T>) => Promise<T>;

function delayedView(view: ReadView, later: Later): ReadView {
  return {
    get: (key) => later(() => view.get(key)),
    getMany: (keys) => later(() => view.getMany(keys)),
    dereference: (key, prefix) => later(() => view.dereference(key, prefix)),
    scan: (range, options) => later(() => view.scan(range, options)),
    scanKeys: (range, options) => later(() => view.scanKeys(range, options)),
  };
}

function delayedSnapshot(snapshot: Snapshot, later: Later): Snapshot {
  return { ...delayedView(snapshot, later), release: () => snapshot.release() };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function afterTurn<T>(value: T): Promise<T> {
  await turn();
  return value;
}
