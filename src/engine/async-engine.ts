/**
 * A wrapper that returns every result as a promise, some turns of the event loop defer, as an engine behind a network
 * would. Tests run a layer on it to prove that it handles MaybePromise and late commits.
 */
import type { MaybePromise } from '../base/index.ts';
import type { Engine, ReadView, Snapshot, Store } from './engine.ts';

export function asyncEngine(engine: Engine): Engine {
  const stores = new Set<Store>();
  return {
    open: async (name) => {
      const store = asyncStore(await engine.open(name), () => stores.delete(store));
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

function asyncStore(store: Store, onClose: () => void): Store {
  const pending = new Set<Promise<unknown>>();
  let isClosing = false;
  /** Immediates run in the order of the calls, which keeps the order of commits. */
  const defer = <T>(action: () => MaybePromise<T>): Promise<T> => {
    // After close the inner store refuses the call at once.
    const result = isClosing
      ? (async () => action())()
      : eventLoopTurn().then(action).then(returnAfterTurn);
    pending.add(result);
    const forget = () => pending.delete(result);
    result.then(forget, forget);
    return result;
  };
  return {
    name: store.name,
    ...asyncView(store, defer),
    snapshot: () => defer(() => store.snapshot()).then((inner) => asyncSnapshot(inner, defer)),
    commit: (batch) => defer(() => store.commit(batch)),
    stats: () => defer(() => store.stats()),
    close: async () => {
      isClosing = true;
      await Promise.allSettled(pending);
      await store.close();
      onClose();
    },
  };
}

type Defer = <T>(action: () => MaybePromise<T>) => Promise<T>;

function asyncView(view: ReadView, defer: Defer): ReadView {
  return {
    get: (key) => defer(() => view.get(key)),
    getMany: (keys) => defer(() => view.getMany(keys)),
    dereference: (key, prefix) => defer(() => view.dereference(key, prefix)),
    dereferenceMany: (keys, prefix) => defer(() => view.dereferenceMany(keys, prefix)),
    scan: (range, options) => defer(() => view.scan(range, options)),
    scanKeys: (range, options) => defer(() => view.scanKeys(range, options)),
  };
}

function asyncSnapshot(snapshot: Snapshot, defer: Defer): Snapshot {
  return { ...asyncView(snapshot, defer), release: () => snapshot.release() };
}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function returnAfterTurn<T>(value: T): Promise<T> {
  await eventLoopTurn();
  return value;
}
