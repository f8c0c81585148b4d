/** Pages of the rids of one term prefix: only one page of a list is in memory, however long the list is. */
import { andThen, type Bytes, bytesToLatin1, type MaybePromise } from '../../../base/index.ts';
import type { KeyRange } from '../../../engine/index.ts';
import type { Rid } from '../../item/item.ts';
import { placeOf, ridText } from '../memory/index-run.ts';
import type { RidChanges } from '../memory/posting-lists.ts';
import { addBlockRids, blockRange } from '../stored/posting-block.ts';
import { ridOfEntry } from '../terms/indexing.ts';
import { changed, changesIn, type IndexSources, joined, rangeOfTermPrefix } from './index-rids.ts';
import type { Rids } from './posting-list-cache.ts';

export interface RidPage {
  /** Ascending, each once; possibly none although the list continues. */
  readonly rids: Rids;
  /** Where the next page begins; undefined at the end of the list. */
  readonly next: Rid | undefined;
}

const KEY_PAGE = { limit: 1000, bytesMax: 256 * 1024 };
/** Up to 1024 rids each. */
const BLOCK_PAGE = { limit: 8, bytesMax: 256 * 1024 };
/** Changes of one run. */
const CHANGES_MAX = 8192;

/** A part of a list: all of its rids up to `stop`, or to the end where that is undefined. */
interface Part {
  readonly rids: readonly Rid[];
  readonly stop: Rid | undefined;
}

const NOTHING_STORED: Part = { rids: [], stop: undefined };

/** The rids of a term prefix that are not below `from`. */
export function ridPage(
  sources: IndexSources,
  termPrefix: Bytes,
  from: Rid,
): MaybePromise<RidPage> {
  const { store, runs, cached } = sources;
  const text = bytesToLatin1(termPrefix);
  const { end } = rangeOfTermPrefix(termPrefix);
  const range = { start: Buffer.from(text + ridText(from), 'latin1'), end };
  return andThen(store.scanKeys(range, KEY_PAGE), ({ keys, more }) => {
    const rids = keys.map(ridOfEntry);
    const single: Part = { rids, stop: more ? rids.at(-1) : undefined };
    return andThen(cached?.mayHold(range, store) ?? true, (hasBlocks) => {
      const inBlocks = hasBlocks ? ridsInBlocks(sources, range) : NOTHING_STORED;
      return andThen(inBlocks, (listed) => pageOf([single, listed], changesIn(runs, text), from));
    });
  });
}

/** The first block may begin below the range. */
function ridsInBlocks({ store }: IndexSources, range: KeyRange): MaybePromise<Part> {
  return andThen(store.scan(blockRange(range), BLOCK_PAGE), ({ entries, more }) => {
    const rids: Rid[] = [];
    for (const block of entries) addBlockRids(block, rids);
    const last = entries.at(-1);
    // The key of a block is that of the last rid it may have.
    return { rids, stop: more && last ? ridOfEntry(bytesToLatin1(last.key)) : undefined };
  });
}

function pageOf(
  [single, inBlocks]: readonly [Part, Part],
  changes: readonly RidChanges[],
  from: Rid,
): RidPage {
  const ends = changes.map(({ rids }) => rids[placeOf(rids, from) + CHANGES_MAX]);
  const stops = [single.stop, inBlocks.stop, ...ends].filter((stop) => stop !== undefined);
  const stop = stops.length === 0 ? undefined : Math.min(...stops);
  const stored = within(joined(single.rids, inBlocks.rids), from, stop);
  const own = changes.map(({ rids, isThere }) => {
    const [low, high] = bounds(rids, from, stop);
    return { rids: rids.slice(low, high), isThere: isThere?.slice(low, high) };
  });
  return { rids: changed(stored, own), next: stop === undefined ? undefined : stop + 1 };
}

function within(rids: readonly Rid[], from: Rid, stop: Rid | undefined): readonly Rid[] {
  const [low, high] = bounds(rids, from, stop);
  return low === 0 && high === rids.length ? rids : rids.slice(low, high);
}

/** The places of the rids from `from` to `stop`, both included. */
function bounds(rids: readonly Rid[], from: Rid, stop: Rid | undefined): readonly [number, number] {
  return [placeOf(rids, from), stop === undefined ? rids.length : placeOf(rids, stop + 1)];
}
