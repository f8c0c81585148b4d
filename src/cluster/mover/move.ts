/**
 * Moves the items of some partitions into others while reads and writes go on: split, merge and move are one thing.
 *
 *   copy      page by page, each item as it then is; writes go on behind it
 *   catch up  for everything in the sources' logs since the copy began: the item as it now is, or that it is gone
 *   fence     the sources take no more writes; what waits is held back by the router
 *   finish    catch up to the last LSN, compare counts, bytes and checksums
 *   commit    one change of the catalog: the point of no return
 *
 * Copying states, not operations, may be done twice: so a copy that is not of one moment becomes exact by catching up.
 * Before the commit everything can be given up; the targets' stores are orphans then and are dropped.
 */
import { assert, type Bytes, compareBytes } from '../../base/index.ts';
import {
  type Change,
  type EpkRange,
  epkOfPrimary,
  type Item,
  itemKeyOf,
  type Lsn,
  type MovedState,
  type Partition,
  retainedWithin,
} from '../../partition/index.ts';
import { EPK_MAX, EPK_MIN, type Epk } from '../../value/index.ts';

/** Items of one step. A committer takes no more in one intent. */
const STEP_ITEMS = 100;
const STEP_BYTES = 4 * 1024 * 1024;
/** With no more than this left to catch up, the sources are fenced. */
const LAG_MAX = 64;
/** Rounds of catching up before the fence, however fast the writers are. */
const ROUNDS_MAX = 100;

interface MoveTarget {
  readonly partition: Partition;
  readonly min: Epk;
  readonly max: Epk;
}

interface MoveOptions {
  readonly sources: readonly Partition[];
  /** Of each source. */
  readonly sourceRanges: readonly EpkRange[];
  readonly targets: readonly MoveTarget[];
  /** Makes the change durable; what waits goes on when it resolves. */
  readonly commit: () => Promise<void>;
  /** Called at each step by name: failpoints and progress. */
  readonly onStep?: (step: MoveStep) => void | Promise<void>;
  /** Gives the move up, as long as it is not committed. */
  readonly signal: AbortSignal;
}

export type MoveStep = 'copy' | 'catchUp' | 'fence' | 'finish' | 'commit' | 'done';

/** Resolves when the change is committed; rejects with everything as it was. */
export async function move(options: MoveOptions): Promise<void> {
  const { sources, targets } = options;
  const step = async (name: MoveStep): Promise<void> => options.onStep?.(name);
  const positions = new Map<Partition, Lsn>(sources.map((source) => [source, source.lsn]));
  /** How far what is remembered of the past was moved. */
  const remembered = new Map<Partition, Lsn>();
  await step('copy');
  for (const source of sources) await copy(source, options);
  await step('catchUp');
  for (let round = 0; round < ROUNDS_MAX; round++) {
    options.signal.throwIfAborted();
    let moved = 0;
    for (const source of sources) {
      moved += await catchUp(source, targets, positions);
      await moveHistory(source, targets, remembered);
    }
    if (moved <= LAG_MAX) break;
  }
  await step('fence');
  try {
    await Promise.all(sources.map((source) => source.fence()));
    await step('finish');
    await finish(options, { positions, remembered });
    verify(sources, targets);
    await step('commit');
    options.signal.throwIfAborted();
    await options.commit();
  } catch (error) {
    for (const source of sources) source.unfence();
    throw error;
  }
  await step('done');
}

/**
 * The last changes, what is remembered of them and the last LSN. Writers wait: all of it is handed to the targets at once,
 * so that it becomes durable with one commit each.
 */
async function finish(
  options: MoveOptions,
  from: { readonly positions: Map<Partition, Lsn>; readonly remembered: Map<Partition, Lsn> },
): Promise<void> {
  const { sources, targets } = options;
  const done: Promise<unknown>[] = [];
  for (const source of sources) {
    await catchUp(source, targets, from.positions, done);
    await moveHistory(source, targets, from.remembered, done);
  }
  adoptRetention(options);
  done.push(alignLsn(sources, targets));
  await Promise.all(done);
}

async function copy(source: Partition, { targets, signal }: MoveOptions): Promise<void> {
  let after: string | undefined;
  do {
    signal.throwIfAborted();
    const page = await source.stored.scanByKey(
      { after, limit: STEP_ITEMS, bytesMax: STEP_BYTES },
      { min: EPK_MIN, max: EPK_MAX },
    );
    await adopt(page.items.map(stateOf), targets, 0);
    after = page.next;
    await new Promise((resolve) => setImmediate(resolve));
  } while (after !== undefined);
}

/** Number of changes moved. Where a list is given, what is not durable yet is added to it instead of waited for. */
async function catchUp(
  source: Partition,
  targets: readonly MoveTarget[],
  positions: Map<Partition, Lsn>,
  pending?: Promise<unknown>[],
): Promise<number> {
  let count = 0;
  for (let more = true; more; ) {
    const after = positions.get(source) ?? 0;
    const end = source.lsn;
    const page = await source.changes.after(after, STEP_ITEMS);
    more = page.more;
    // Of several looks at one item only the last counts.
    const states = new Map<string, MovedState>();
    for (const change of page.changes) {
      const state = await currentState(source, change);
      if (state !== undefined) states.set(state.key.text, state);
    }
    const adopted = adopt([...states.values()], targets, page.upTo);
    if (pending === undefined) await adopted;
    else pending.push(adopted);
    positions.set(source, page.more ? page.upTo : Math.max(page.upTo, Math.min(end, source.lsn)));
    count += page.changes.length;
  }
  return count;
}

/** Tombstones and versions go as they are: nothing of the past changes any more. */
async function moveHistory(
  source: Partition,
  targets: readonly MoveTarget[],
  positions: Map<Partition, Lsn>,
  pending?: Promise<unknown>[],
): Promise<void> {
  for (let more = true; more; ) {
    const page = await source.changes.historyAfter(positions.get(source) ?? 0);
    for (const target of targets) {
      const own = page.entries.filter(({ primary }) => isIn(target, primary));
      if (own.length === 0) continue;
      const adopted = target.partition.importHistory(own, page.upTo);
      if (pending === undefined) await adopted;
      else pending.push(adopted);
    }
    positions.set(source, page.upTo);
    more = page.more;
  }
}

/** Since when versions are kept is known per part of the hash space: every source had LSNs of its own. */
function adoptRetention({ sources, sourceRanges, targets }: MoveOptions): void {
  for (const target of targets) {
    const kept = sources.flatMap(({ changes }, at) => {
      const own = retainedWithin(changes.retention ?? [], sourceRanges[at] as EpkRange);
      return retainedWithin(own, target);
    });
    if (kept.length > 0) target.partition.changes.importRetention(kept);
  }
}

/** Undefined where a later entry of the log speaks of the same item. */
async function currentState(source: Partition, change: Change): Promise<MovedState | undefined> {
  if (change.kind === 'delete') {
    const key = itemKeyOf(change.primary);
    return { key, item: await source.stored.read(key) };
  }
  const item = await source.stored.readByRid(change.rid);
  return item && stateOf(item);
}

function stateOf(item: Item): MovedState {
  return { key: itemKeyOf(item.primary), item };
}

async function adopt(
  states: readonly MovedState[],
  targets: readonly MoveTarget[],
  upTo: Lsn,
): Promise<void> {
  await Promise.all(
    targets.map(async ({ partition, min, max }) => {
      const own = states.filter(({ key }) => isIn({ min, max }, key.primary));
      const parts: Promise<void>[] = [];
      for (let at = 0; at < own.length; at += STEP_ITEMS)
        parts.push(partition.import(own.slice(at, at + STEP_ITEMS), upTo));
      await Promise.all(parts);
    }),
  );
}

function isIn({ min, max }: EpkRange, primary: Bytes): boolean {
  const epk = epkOfPrimary(primary);
  return compareBytes(min, epk) <= 0 && compareBytes(epk, max) < 0;
}

/** A target goes on where its sources ended: a client that saw a source's LSN finds it here. */
async function alignLsn(
  sources: readonly Partition[],
  targets: readonly MoveTarget[],
): Promise<void> {
  const lsn = Math.max(...sources.map((source) => source.lsn));
  const erasures = sources.flatMap((source) => source.hidden?.rangeTombstones ?? []);
  await Promise.all(
    targets.flatMap(({ partition }) => [
      partition.import([], lsn),
      partition.importRangeTombstones(erasures, lsn),
    ]),
  );
}

function verify(sources: readonly Partition[], targets: readonly MoveTarget[]): void {
  const sum = (partitions: readonly Partition[]) => {
    let [itemCount, itemBytes, checksum] = [0, 0, 0];
    for (const partition of partitions) {
      const statistics = partition.statistics();
      itemCount += statistics.itemCount;
      itemBytes += statistics.itemBytes;
      checksum = (checksum ^ statistics.checksum) >>> 0;
    }
    return `${itemCount} items, ${itemBytes} bytes, checksum ${checksum}`;
  };
  const before = sum(sources);
  const after = sum(targets.map(({ partition }) => partition));
  assert(before === after, `move: ${before} became ${after}`);
}
