/** The rids of many values of one path, as one list: for IN and for steps from many vertices. */
import { type Bytes, isPromise, type MaybePromise } from '../../base/index.ts';
import type { ItemReader } from '../reader.ts';
import { yieldToEventLoop } from '../yield.ts';

/** Values looked up at once in an engine that responds later. */
const LOOKUPS_AT_ONCE = 64;

type RidsOf = NonNullable<ItemReader['ridsOf']>;

/** Ascending, each once; undefined where there are more than `limit`. */
export async function ridsOfTerms(
  ridsOf: RidsOf,
  prefixes: readonly Bytes[],
  limit: number,
): Promise<readonly number[] | undefined> {
  const all: number[] = [];
  for (let at = 0; at < prefixes.length; at += LOOKUPS_AT_ONCE) {
    const found: MaybePromise<ArrayLike<number> | undefined>[] = [];
    for (const prefix of prefixes.slice(at, at + LOOKUPS_AT_ONCE))
      found.push(ridsOf(prefix, limit, limit));
    for (const list of found) {
      const rids = isPromise(list) ? await list : list;
      if (rids === undefined || all.length + rids.length > limit) {
        await Promise.all(found);
        return undefined;
      }
      for (let place = 0; place < rids.length; place++) all.push(rids[place] as number);
    }
    const rest = yieldToEventLoop();
    if (rest !== undefined) await rest;
  }
  all.sort((a, b) => a - b);
  // An item may have several of the values in an array.
  return all.filter((rid, place) => rid !== all[place - 1]);
}
