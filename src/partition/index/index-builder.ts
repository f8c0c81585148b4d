/**
 * Keeps the indexes of a partition as its policy and its declared indexes say. A new policy clears everything and builds
 * it again; a declared index is built by itself, while the others serve. Builds run in the background, while reads and
 * writes go on: the builder scans the records in rid order and indexes each as the committer then has it. Its position
 * is stored with the entries, so that a build continues after a crash. Queries use an index when it is complete.
 */
import { DomainError } from '../../base/index.ts';
import type { WriteCommand } from '../commit/command/write-command.ts';
import type { Committer } from '../commit/committer.ts';
import { type ItemKey, RID_COUNTER_BITS } from '../item/item.ts';
import { itemKeyOf } from '../item/keyspace.ts';
import type { StoredItems } from '../read/stored-items.ts';
import type { PartitionState } from '../state.ts';
import type { PartitionIndex } from './partition-index.ts';
import type { BuiltTo, IndexState } from './stored/index-state.ts';
import type { Indexing } from './terms/indexing.ts';

/** Items of one step; few, so that writers hardly wait. */
const STEP_ITEMS = 100;
const STEP_BYTES = 1024 * 1024;
/** Between two tries of a step that was refused. */
const REFUSED_WAIT_MS = 50;

interface IndexBuilderOptions {
  readonly indexing: Indexing;
  readonly state: PartitionState;
  readonly index: PartitionIndex;
  readonly stored: StoredItems;
  readonly committer: Committer;
  /** Writes with the backpressure of the index. */
  readonly commit: (command: WriteCommand) => Promise<unknown>;
  readonly isFenced: () => boolean;
  /** Called when the index could not be built. */
  readonly onFailure: (error: Error) => void;
}

/** How far one declared index is built. */
export interface IndexBuild {
  readonly id: number;
  /** 0 to 100. */
  readonly percent: number;
  /** True where items violate its uniqueness: it will never be complete. */
  readonly isFailed: boolean;
}

export class IndexBuilder {
  readonly #options: IndexBuilderOptions;
  #indexing: Indexing;
  #state: IndexState;
  /** Ids of the declared indexes that queries may use. */
  #ready: ReadonlySet<number>;
  /** Ids of the indexes that were declared since the opening. */
  readonly #declared = new Set<number>();
  /** The unique indexes that have not the entries of all items. */
  unbuiltUnique: readonly number[] = [];
  /** Counts builds, so that a step of an older one is recognized. */
  #buildNumber = 0;

  constructor(options: IndexBuilderOptions) {
    this.#options = options;
    this.#indexing = options.indexing;
    this.#state = this.#complete();
    this.#ready = new Set(options.indexing.declaredIds);
  }

  get indexing(): Indexing {
    return this.#indexing;
  }

  /** False while the automatic index is being built, or where the policy has none. */
  get isReady(): boolean {
    return this.#state.builtTo === 'all' && !this.#indexing.options.isOff;
  }

  /** The declared indexes that are complete. */
  get ready(): ReadonlySet<number> {
    return this.#ready;
  }

  /** Share of the items that all indexes have, 0 to 100. */
  progressPercent(): number {
    const builds = this.builds().filter(({ isFailed }) => !isFailed);
    return Math.min(this.#percentOf(this.#state.builtTo), ...builds.map(({ percent }) => percent));
  }

  builds(): readonly IndexBuild[] {
    const { builtTo, declared = {} } = this.#state;
    return this.#indexing.declaredIds.map((id) => {
      const own = declared[id] ?? 0;
      const isFailed = own === 'failed';
      const percent = own === 'failed' || own === 'dropped' ? 0 : this.#percentOf(own);
      return { id, percent: Math.min(percent, this.#percentOf(builtTo)), isFailed };
    });
  }

  #percentOf(builtTo: BuiltTo): number {
    if (builtTo === 'all') return 100;
    const counter = builtTo % 2 ** RID_COUNTER_BITS;
    return Math.min(99, Math.floor((100 * counter) / Math.max(1, this.#options.state.ridCounter)));
  }

  /** Builds again what differs from the present indexes. */
  change(indexing: Indexing): void {
    const isSame = indexing.fingerprint === this.#indexing.fingerprint;
    const { declaredIds: old } = this.#indexing;
    for (const id of indexing.declaredIds) if (!old.includes(id)) this.#declared.add(id);
    this.#indexing = indexing;
    if (!isSame) this.#begin();
    else this.#changeDeclared();
  }

  /** Continues a build that was left when the partition was last open, or begins one where the policy has changed. */
  async resume(stored: IndexState | undefined): Promise<void> {
    const { index, state, committer } = this.#options;
    const isSame = stored?.fingerprint === this.#indexing.fingerprint;
    if (isSame) await index.recover(this.#indexing);
    if (stored === undefined && state.itemCount === 0) {
      committer.noteIndexState(this.#state);
    } else if (stored === undefined || !isSame) {
      if (stored !== undefined) this.#state = stored;
      this.#begin();
    } else {
      this.#setState(stored);
      this.#changeDeclared();
      this.continue();
    }
  }

  /** Everything is built, as in a partition without items. */
  #complete(): IndexState {
    const { fingerprint, declaredIds } = this.#indexing;
    return { fingerprint, builtTo: 'all', ...declaredStates(declaredIds, 'all') };
  }

  #setState(state: IndexState): void {
    this.#state = state;
    const { builtTo, declared = {} } = state;
    const isUsable = builtTo === 'all' && !this.#indexing.options.isOff;
    const { declaredIds, unique } = this.#indexing;
    this.unbuiltUnique = unique?.ids.filter((id) => declared[id] !== 'all') ?? [];
    this.#ready = new Set(isUsable ? declaredIds.filter((id) => declared[id] === 'all') : []);
  }

  #begin(): void {
    const { index, state, committer } = this.#options;
    const isDone = this.#indexing.options.isOff || state.itemCount === 0;
    const { declared: old = {} } = this.#state;
    const { fingerprint, declaredIds } = this.#indexing;
    const dropped = Object.keys(old).filter(
      (id) => old[id] === 'dropped' || !declaredIds.includes(Number(id)),
    );
    // Unique entries are not cleared; those of an index that was not complete are made behind the others.
    this.#setState({
      fingerprint,
      builtTo: isDone ? 'all' : 0,
      declared: {
        ...Object.fromEntries(
          declaredIds.map((id) => [id, isDone || old[id] === 'all' ? 'all' : 0]),
        ),
        ...Object.fromEntries(dropped.map((id) => [id, 'dropped'])),
      },
    });
    this.#buildNumber++;
    index.hold();
    committer.changeIndexing(this.#indexing);
    committer.startIndexing(this.#indexing, this.#state);
    if (this.#isUnfinished()) this.#build();
  }

  /** Indexes that were declared or dropped since the last state. */
  #changeDeclared(): void {
    const { committer, state } = this.#options;
    const { declaredIds } = this.#indexing;
    const { declared = {} } = this.#state;
    const added = declaredIds.filter((id) => declared[id] === undefined);
    const live = new Set(declaredIds.map(String));
    const dropped = Object.keys(declared).filter(
      (id) => !live.has(id) && declared[id] !== 'dropped',
    );
    committer.changeIndexing(this.#indexing);
    if (added.length === 0 && dropped.length === 0) return;
    const begun = state.itemCount === 0 ? 'all' : 0;
    this.#setState({
      ...this.#state,
      declared: {
        ...declared,
        ...Object.fromEntries(added.map((id) => [id, begun])),
        ...Object.fromEntries(dropped.map((id) => [id, 'dropped' as const])),
      },
    });
    committer.noteIndexState(this.#state);
    this.#build();
  }

  /**
   * For movers: builds unique indexes that were not built where the items come from, or could not be, so that the items
   * were never compared; and those that are not built here. Resolves when it is stored that they are not.
   */
  async buildAgain(ids: readonly number[]): Promise<void> {
    const { unique } = this.#indexing;
    const own = [...ids, ...this.unbuiltUnique].filter((id) => unique?.ids.includes(id));
    if (own.length === 0) return;
    const { declared } = this.#state;
    const begun = Object.fromEntries(own.map((id) => [id, 0]));
    const state = { ...this.#state, declared: { ...declared, ...begun } };
    this.#setState(state);
    // The steps under way are of the build before.
    const number = ++this.#buildNumber;
    const isCurrent = () => number === this.#buildNumber;
    await this.#options.commit(reindexCommand([], state, isCurrent, undefined));
    if (isCurrent()) this.#build();
  }

  /** Continues a build that ended because the partition was to take no more writes, and now does. */
  continue(): void {
    if (this.#isUnfinished()) this.#build();
  }

  #isUnfinished(): boolean {
    return this.#state.builtTo !== 'all' || this.#nextDeclared() !== undefined;
  }

  /** A declared index that is to be built or removed. */
  #nextDeclared(): number | undefined {
    const found = Object.entries(this.#state.declared ?? {}).find(
      ([, builtTo]) => builtTo !== 'all' && builtTo !== 'failed',
    );
    return found && Number(found[0]);
  }

  #build(): void {
    const { committer, isFenced, onFailure } = this.#options;
    const number = ++this.#buildNumber;
    const isCurrent = () => number === this.#buildNumber && !isFenced() && !committer.failure;
    // A build that fails for good continues when the partition is opened again; until then queries scan the items.
    this.#run(isCurrent).catch((error: Error) => {
      if (isCurrent()) onFailure(error);
    });
  }

  /** @param isCurrent - false once there are other indexes to build, or the partition takes no more writes. */
  async #run(isCurrent: () => boolean): Promise<void> {
    while (isCurrent() && this.#isUnfinished()) {
      try {
        await this.#next(isCurrent);
        await new Promise((resolve) => setImmediate(resolve));
      } catch (error) {
        if (!isTemporary(error)) throw error;
        // A partition that is in use is not opened again: whoever waits for the index would wait for ever.
        await new Promise((resolve) => setTimeout(resolve, REFUSED_WAIT_MS).unref());
      }
    }
  }

  /** One step; repeating it changes nothing. */
  async #next(isCurrent: () => boolean): Promise<void> {
    const { builtTo, declared = {} } = this.#state;
    if (builtTo !== 'all') return this.#step(isCurrent, builtTo, undefined);
    const id = this.#nextDeclared() as number;
    const own = declared[id] ?? 0;
    if (own === 'dropped') return this.#remove(isCurrent, id);
    return this.#step(isCurrent, own as number, id);
  }

  /** Indexes the next items. @param id - the declared index to build; undefined: all of them. */
  async #step(isCurrent: () => boolean, after: number, id: number | undefined): Promise<void> {
    const { stored, commit } = this.#options;
    // Writes that were decided before the index was declared have no entries: behind this one they are stored, and found.
    if (after === 0) await commit(reindexCommand([], this.#state, isCurrent, id));
    if (!isCurrent()) return;
    const page = await stored.scanByRid(
      {
        after: after === 0 ? undefined : after.toString(36),
        limit: STEP_ITEMS,
        bytesMax: STEP_BYTES,
      },
      undefined,
    );
    const last = page.items.at(-1);
    const builtTo = page.next === undefined || last === undefined ? 'all' : last.rid;
    const keys = page.items.map(({ primary }) => itemKeyOf(primary));
    const state = this.#with(id, builtTo);
    try {
      await commit(reindexCommand(keys, state, isCurrent, id));
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'uniqueKeyViolation')) throw error;
      if (id !== undefined && isCurrent()) await this.#fail(isCurrent, id);
      return;
    }
    if (isCurrent()) this.#setState(state);
  }

  /** Items violate the uniqueness of an index: that is stored, so that it stays so until the index is dropped. */
  async #fail(isCurrent: () => boolean, id: number): Promise<void> {
    const { commit, onFailure } = this.#options;
    const state = this.#with(id, 'failed');
    await commit(reindexCommand([], state, isCurrent, id));
    if (!isCurrent()) return;
    this.#setState(state);
    // Who declares an index sees how its build ends; nobody waits for a build that an opening begins.
    if (this.#declared.has(id)) return;
    const text = 'A unique index is not complete: items violate it.';
    const failure = new DomainError('uniqueKeyViolation', text);
    failure.details = { indexId: id };
    onFailure(failure);
  }

  #with(id: number | undefined, builtTo: BuiltTo | 'failed'): IndexState {
    const state = this.#state;
    if (id !== undefined) return { ...state, declared: { ...state.declared, [id]: builtTo } };
    return { ...state, builtTo: builtTo as BuiltTo };
  }

  /**
   * Removes the entries of an index that is no longer declared, or that was not: a version that does not know such an
   * index drops it, and leaves it so where it ends before the entries are gone. It is then built from the beginning.
   */
  async #remove(isCurrent: () => boolean, id: number): Promise<void> {
    const { index, commit } = this.#options;
    const isLive = this.#indexing.declaredIds.includes(id);
    // A flush beside the removal could write an entry again that it has read before.
    const release = index.pauseFlushes();
    try {
      // Writes that were decided before are durable after this one, and with the flush all entries are in the store.
      await commit(reindexCommand([], this.#state, isCurrent, id));
      await index.flushAll();
      if (!isCurrent()) return;
      const { [id]: _removed, ...declared } = this.#state.declared ?? {};
      const state = isLive ? this.#with(id, 0) : { ...this.#state, declared };
      await commit({ ...reindexCommand([], state, isCurrent, id), removedIndex: id });
      if (isCurrent()) this.#setState(state);
    } finally {
      release();
    }
  }
}

/** Whether a step may do later: writes wait, or replicas are missing. */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof DomainError)) return false;
  return error.code === 'unavailable' || error.code === 'outcomeUnknown';
}

function declaredStates(
  ids: readonly number[],
  builtTo: BuiltTo,
): Pick<IndexState, 'declared'> | undefined {
  if (ids.length === 0) return undefined;
  return { declared: Object.fromEntries(ids.map((id) => [id, builtTo])) };
}

/** Indexes items as they are at the decision, and stores how far the build is. */
function reindexCommand(
  keys: readonly ItemKey[],
  indexState: IndexState,
  isCurrent: () => boolean,
  index: number | undefined,
): WriteCommand {
  return {
    keys,
    decide: (current, { claims }) => {
      if (!isCurrent()) throw new DomainError('unavailable', 'Other indexes are to be built.');
      for (const item of current)
        if (index !== undefined && item !== undefined && !item.isInternal)
          claims?.existing(item, index);
      return keys.map((key) => ({ kind: 'reindex', key, index }));
    },
    indexState,
    includesInvisible: true,
  };
}
