/** What a decision looks up in the store beside the items of its keys. */
import { isPromise, type MaybePromise } from '../../base/index.ts';

/** Thrown where an asynchronous engine has to be asked: the decision is made again when `ready` has resolved. */
export class Unready {
  readonly ready: Promise<unknown>;

  constructor(ready: Promise<unknown>) {
    this.ready = ready;
  }
}

/** Stored values and items, by their keys as texts; kept for the decisions of one command. */
export type LookedUp = Map<string, unknown>;

/** The empty map, shared by all writes that look nothing up. */
export const NOTHING_LOOKED_UP: LookedUp = new Map();

export function lookUp<T>(lookedUp: LookedUp, name: string, read: () => MaybePromise<T>): T {
  if (lookedUp.has(name)) return lookedUp.get(name) as T;
  const found = read();
  if (!isPromise(found)) return found;
  throw new Unready(found.then((value) => lookedUp.set(name, value)));
}

/** Asks for all that a decision is about to look up: asked one by one, each late answer would be a decision of its own. */
export function lookUpAll<T>(
  lookedUp: LookedUp,
  names: readonly string[],
  read: (name: string) => MaybePromise<T>,
): void {
  const late: Promise<unknown>[] = [];
  for (const name of names) {
    if (lookedUp.has(name)) continue;
    const found = read(name);
    if (isPromise(found)) late.push(found.then((value) => lookedUp.set(name, value)));
    else lookedUp.set(name, found);
  }
  if (late.length > 0) throw new Unready(Promise.all(late));
}
