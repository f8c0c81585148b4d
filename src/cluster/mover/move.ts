/**
 * Moves the items of some partitions into others while reads and writes go on: split, merge and move are one operation.
 *
 *   copy      page by page in the order of rids, in which records and index entries of the targets lie side by side;
 *             each item as it then is; new ones are left to the next step
 *   catch up  from the sources' logs since the copy began: each item as it now is, or that it is gone; writers that
 *             are faster than that are braked
 *   cut over  writers are held; prepared transactions are waited for; the sources are fenced, so that they take no
 *             more writes; the targets catch up to the last LSN; counts, bytes and checksums are compared; one change
 *             of the catalog commits the move
 *
 * A unique index that a source has not built is built by the targets; their stores say so before the commit.
 *
 * States are copied, not operations, so a copy may be repeated: it becomes exact by catching up, although it is not of
 * one snapshot. Before the commit the move can be given up; the targets' stores are orphans then and are dropped.
 */
import { assert, type Bytes, compareBytes, DomainError } from '../../base/index.ts';
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
import type { Epk } from '../../value/index.ts';
import { MovedNotes } from './moved-notes.ts';

/** Items of one page. A committer takes no more in one command. */
const PAGE_ITEMS = 100;
const PAGE_BYTES = 4 * 1024 * 1024;
/** Pages that are read while the first of them becomes durable. */
const PAGES_AT_ONCE = 4;
/** Changes that may be left to catch up when the cut-over begins: few, since writers wait for them. */
const LAG_MAX = 64;
/** Writes that braked writers may begin for each one that was followed. Less than 1: what is left becomes less. */
const BRAKED_SHARE = 0.5;

interface MoveTarget {
  readonly partition: Partition;
  readonly min: Epk;
  readonly max: Epk;
}

interface MoveOptions {
  readonly sources: readonly Partition[];
  /** The hash range of each source. */
  readonly sourceRanges: readonly EpkRange[];
  readonly targets: readonly MoveTarget[];
  /** Makes the callers of the sources wait when the cut-over begins; the result lets them go on. */
  readonly holdCallers: () => () => void;
  /** Makes the change durable. */
  readonly commit: () => Promise<void>;
  /** Reports each step and waits: for progress and for tests that fail there. */
  readonly onStep?: (step: MoveStep) => void | Promise<void>;
  /** Gives the move up, as long as it is not committed. */
  readonly signal: AbortSignal;
}

export type MoveStep = 'copy' | 'catchUp' | 'fence' | 'finish' | 'commit' | 'done';

/** How far the targets have followed each source. */
interface Progress {
  readonly notes: MovedNotes;
  readonly items: Map<Partition, Lsn>;
  /** Tombstones and versions. */
  readonly history: Map<Partition, Lsn>;
}

/** Resolves when the change is committed; rejects with everything as it was. */
export async function move(options: MoveOptions): Promise<void> {
  try {
    await moveAll(options);
  } catch (error) {
    // What fails after a partition has failed is a consequence.
    checkAlive(options);
    throw error;
  }
}

/** The memory of a partition that has failed differs from its store, which may be closed. */
function checkAlive({ sources, targets }: MoveOptions): void {
  const partitions = [...sources, ...targets.map(({ partition }) => partition)];
  if (partitions.some(({ hasFailed }) => hasFailed))
    throw new DomainError('unavailable', 'A partition failed while it was moved.');
}

async function moveAll(options: MoveOptions): Promise<void> {
  const { sources, targets, signal } = options;
  const notes = new MovedNotes(sources, targets);
  const progress: Progress = {
    notes,
    items: new Map(sources.map((source) => [source, source.lsn])),
    history: new Map(),
  };
  try {
    await options.onStep?.('copy');
    for (const source of sources) {
      await copy(source, options);
      await notes.copy(source, signal);
    }
    await Promise.all(targets.map(({ partition }) => partition.imports.endCopy()));
    await options.onStep?.('catchUp');
    await catchUp(options, progress);
    await cutOver(options, progress);
    await options.onStep?.('done');
  } finally {
    notes.close();
  }
}

/**
 * Rounds until little is left, so that writers are held for a short time only. A round ends at the LSN that its source had
 * when it began. One that leaves more than half of what it found, as on an engine that answers late, would never be the
 * last: from then on writers are braked.
 */
async function catchUp({ sources, targets, signal }: MoveOptions, progress: Progress) {
  using brakes = new Brakes(sources);
  const onMoved = (lsns: number) => brakes.grant(lsns);
  for (let lag = lagOf(sources, progress); ; ) {
    for (const source of sources) {
      const until = source.lsn;
      await moveChanges({ source, targets, until, signal, onMoved }, progress);
      await moveHistory({ source, targets, until, signal }, progress);
      await progress.notes.catchUp(source, 0);
    }
    const before = lag;
    lag = lagOf(sources, progress);
    if (lag <= LAG_MAX) return;
    if (lag > before / 2) brakes.put();
  }
}

/** Writes of the sources that the targets do not have. */
function lagOf(sources: readonly Partition[], { items }: Progress): number {
  return sources.reduce((sum, source) => sum + source.lsn - (items.get(source) ?? 0), 0);
}

/** The brakes of the sources, once they are put on. */
class Brakes implements Disposable {
  readonly #sources: readonly Partition[];
  #areOn = false;

  constructor(sources: readonly Partition[]) {
    this.#sources = sources;
  }

  put(): void {
    if (this.#areOn) return;
    this.#areOn = true;
    for (const { brake } of this.#sources) brake.put();
  }

  /** @param writes - that were followed, of any source. */
  grant(writes: number): void {
    if (!this.#areOn) return;
    const credit = (writes * BRAKED_SHARE) / this.#sources.length;
    for (const { brake } of this.#sources) brake.grant(credit);
  }

  [Symbol.dispose](): void {
    if (this.#areOn) for (const { brake } of this.#sources) brake.release();
  }
}

/** The only part that callers notice: they are held from its beginning to its end. */
async function cutOver(options: MoveOptions, progress: Progress): Promise<void> {
  const { sources, targets, signal, onStep } = options;
  const release = options.holdCallers();
  try {
    await Promise.all(sources.map(({ transactions }) => transactions.drain()));
    await onStep?.('fence');
    await Promise.all(sources.map((source) => source.fence()));
    await onStep?.('finish');
    await finish(options, progress);
    checkAlive(options);
    verify(sources, targets);
    await onStep?.('commit');
    signal.throwIfAborted();
    await options.commit();
  } catch (error) {
    for (const source of sources) source.unfence();
    throw error;
  } finally {
    release();
  }
}

/**
 * The last changes, their history and the last LSN. Writers wait: all of it is handed to the targets at once, so that it
 * becomes durable with one commit each.
 */
async function finish(options: MoveOptions, progress: Progress): Promise<void> {
  const { sources, targets, signal } = options;
  const done: Promise<unknown>[] = [];
  for (const source of sources) {
    const rest = { source, targets, until: source.lsn, signal, pending: done };
    await moveChanges(rest, progress);
    await moveHistory(rest, progress);
    await progress.notes.catchUp(source, source.lsn, done);
  }
  importRetention(options);
  for (const { lsn, transactions } of sources)
    for (const target of targets) {
      const own = [...transactions.state.outcomes].filter(([, { epk }]) => isWithin(target, epk));
      done.push(target.partition.transactions.import(own, lsn));
    }
  done.push(alignLsn(sources, targets));
  await Promise.all(done);
  // Before, items are here in states that were never there together.
  const unbuilt = sources.flatMap(({ indexes }) => indexes.unbuiltUnique);
  await Promise.all(targets.map(({ partition }) => partition.indexes.buildAgain(unbuilt)));
}

/** Every item that is there at the beginning has a smaller rid than those that are created later. */
async function copy(source: Partition, { targets, signal }: MoveOptions): Promise<void> {
  const end = source.reserveRid();
  const importing: Promise<void>[] = [];
  let after: string | undefined;
  do {
    signal.throwIfAborted();
    const scan = { after, limit: PAGE_ITEMS, bytesMax: PAGE_BYTES };
    const { items, next } = await source.stored.scanByRid(scan, undefined);
    const older = items.filter(({ rid }) => rid < end);
    const imported = copyStates(older.map(stateOf), targets);
    // The move may end before this page is looked at.
    imported.catch(() => undefined);
    importing.push(imported);
    if (importing.length === PAGES_AT_ONCE) await importing.shift();
    after = older.length === items.length ? next : undefined;
    await new Promise((resolve) => setImmediate(resolve));
  } while (after !== undefined);
  await Promise.all(importing);
}

async function copyStates(
  states: readonly MovedState[],
  targets: readonly MoveTarget[],
): Promise<void> {
  await Promise.all(
    targets.map(async (target) => {
      const own = states.filter(({ key }) => isIn(target, key.primary));
      if (own.length > 0) await target.partition.imports.copy(own);
    }),
  );
}

/** A part of a source's logs. */
interface LogPart {
  readonly source: Partition;
  readonly targets: readonly MoveTarget[];
  /** The part ends here, or a little later. */
  readonly until: Lsn;
  readonly signal: AbortSignal;
  /** Imports that are not durable yet are added to it; they are awaited where it is not given. */
  readonly pending?: Promise<unknown>[];
  /** Called after every page with the number of LSNs it covers. */
  readonly onMoved?: (lsns: number) => void;
}

async function moveChanges(part: LogPart, { items: positions }: Progress): Promise<void> {
  const { source, targets, until, signal, pending, onMoved } = part;
  for (let more = true; more; ) {
    signal.throwIfAborted();
    const after = positions.get(source) ?? 0;
    const end = source.lsn;
    const page = await source.changes.after(after, PAGE_ITEMS);
    const states = await currentStates(source, page.changes);
    const imported = importStates(states, targets, page.upTo);
    if (pending === undefined) await imported;
    else pending.push(imported);
    const upTo = page.more ? page.upTo : Math.max(page.upTo, Math.min(end, source.lsn));
    positions.set(source, upTo);
    onMoved?.(upTo - after);
    more = page.more && upTo < until;
  }
}

/** Tombstones and versions are copied as they are: history does not change any more. */
async function moveHistory(part: LogPart, { history: positions }: Progress): Promise<void> {
  const { source, targets, until, signal, pending } = part;
  for (let more = true; more; ) {
    signal.throwIfAborted();
    const page = await source.changes.historyAfter(positions.get(source) ?? 0);
    for (const target of targets) {
      const own = page.entries.filter(({ primary }) => isIn(target, primary));
      if (own.length === 0) continue;
      const imported = target.partition.imports.history(own, page.upTo);
      if (pending === undefined) await imported;
      else pending.push(imported);
    }
    positions.set(source, page.upTo);
    more = page.more && page.upTo < until;
  }
}

/** The start of retention is kept per part of the hash space: every source had LSNs of its own. */
function importRetention({ sources, sourceRanges, targets }: MoveOptions): void {
  for (const target of targets) {
    const kept = sources.flatMap(({ changes }, at) => {
      const own = retainedWithin(changes.retention ?? [], sourceRanges[at] as EpkRange);
      return retainedWithin(own, target);
    });
    if (kept.length > 0) target.partition.changes.importRetention(kept);
  }
}

/**
 * Each item of these changes as it now is, once. All are read with one look into the store: one after the other, a mover on
 * an engine that answers late is slower than a few writers. A write whose item is gone has a later entry in the log.
 */
async function currentStates(
  source: Partition,
  changes: readonly Change[],
): Promise<readonly MovedState[]> {
  const states = new Map<string, MovedState>();
  const rids = changes.filter(({ kind }) => kind === 'write').map(({ rid }) => rid);
  const deleted = changes.filter((change) => change.kind === 'delete');
  const keys = deleted.map(({ primary }) => itemKeyOf(primary));
  const [written, present] = await Promise.all([
    source.stored.readManyByRid(rids),
    source.stored.readMany(keys),
  ]);
  for (const [at, key] of keys.entries()) states.set(key.text, { key, item: present[at] });
  for (const item of written)
    if (item !== undefined) {
      const state = stateOf(item);
      states.set(state.key.text, state);
    }
  return [...states.values()];
}

function stateOf(item: Item): MovedState {
  return { key: itemKeyOf(item.primary), item };
}

async function importStates(
  states: readonly MovedState[],
  targets: readonly MoveTarget[],
  upTo: Lsn,
): Promise<void> {
  await Promise.all(
    targets.map(async ({ partition, min, max }) => {
      const own = states.filter(({ key }) => isIn({ min, max }, key.primary));
      const parts: Promise<void>[] = [];
      for (let at = 0; at < own.length; at += PAGE_ITEMS)
        parts.push(partition.imports.items(own.slice(at, at + PAGE_ITEMS), upTo));
      await Promise.all(parts);
    }),
  );
}

function isIn(range: EpkRange, primary: Bytes): boolean {
  return isWithin(range, epkOfPrimary(primary));
}

function isWithin({ min, max }: EpkRange, epk: Epk): boolean {
  return compareBytes(min, epk) <= 0 && compareBytes(epk, max) < 0;
}

/** A target continues at the last LSN of its sources: a client that saw that LSN finds it here. */
async function alignLsn(
  sources: readonly Partition[],
  targets: readonly MoveTarget[],
): Promise<void> {
  const lsn = Math.max(...sources.map((source) => source.lsn));
  const timestampSec = Math.max(...sources.map((source) => source.lastTimestampSec));
  const tombstones = sources.flatMap((source) => source.invisible?.rangeTombstones ?? []);
  await Promise.all(
    targets.flatMap(({ partition }) => [
      partition.imports.items([], lsn, timestampSec),
      partition.imports.rangeTombstones(tombstones, lsn),
    ]),
  );
}

/** A lost or doubled item must not be committed: the sources still have everything, and the move is given up. */
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
