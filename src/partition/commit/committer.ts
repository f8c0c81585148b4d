/**
 * The single writer of a partition: gather → decide → batch → commit → publish.
 *
 * An intent is decided against what is stored plus what is decided but not yet durable (the overlay), with nothing in
 * between; so the order of the decisions is the order of the writes. Decided writes gather in a group while earlier
 * groups are on their way to the disk. Readers see a write only when it is durable.
 *
 * A commit that fails leaves the overlay built on sand: the committer fails every write under way, refuses new ones,
 * and its partition has to be opened again from what is stored.
 */
import {
  assert,
  type Clock,
  COMMIT_BYTES_MAX,
  DomainError,
  isPromise,
  type MaybePromise,
  PENDING_WRITE_BYTES_MAX,
  PENDING_WRITES_MAX,
} from '../../base/index.ts';
import type { IndexState } from '../index/index-state.ts';
import type { Indexing } from '../index/indexing.ts';
import { INTENT_KEYS_MAX, type Item, type ItemKey, type Lsn, type Rid } from '../item/item.ts';
import { PREFIX_TOMBSTONE } from '../item/keyspace.ts';
import { countChange } from '../state.ts';
import { type Attempt, type Decided, NOTHING_LOOKED_UP, unavailable } from './attempt.ts';
import { CommitGroup, type PendingChange } from './commit-group.ts';
import type { CommitterOptions } from './committer-options.ts';
import type { Effect, WriteResult } from './effect.ts';
import { GroupCommitTimer } from './group-commit-timer.ts';
import { HiddenDeletions } from './hidden-deletions.ts';
import { KeyMap } from './key-map.ts';
import { UniqueClaims, Unready } from './unique-claims.ts';
import { VersionAssigner } from './version-assigner.ts';
import { type WideChange, wideChanges } from './wide-writes.ts';
import {
  changesNothing,
  type DecisionContext,
  isBulk,
  type Mutation,
  type WriteCommand,
} from './write-command.ts';

/** While one group is on its way to the disk the next one gathers; a second one beside it would only be smaller. */
const GROUPS_IN_FLIGHT_MAX = 1;

/** An item that others keep writing meanwhile is waited for in line after so many tries. */
const WIDE_WAITS_MAX = 3;

export class Committer {
  readonly #options: CommitterOptions;
  readonly #overlay = new KeyMap<PendingChange>();
  readonly #versions: VersionAssigner;
  #indexing: Indexing;
  #openGroup: CommitGroup;
  /** The LSN before its first write. */
  #openGroupFrom: Lsn;
  /** False as long as all items came from other partitions. */
  #hasOwnWrites: boolean;
  #inFlight: CommitGroup[] = [];
  #pendingCount = 0;
  readonly #groupTimer = new GroupCommitTimer(() => this.#flush());
  #failure: Error | undefined;
  /** Async engines only: intents whose items are being fetched, decided strictly in order of arrival. */
  #fetching: Promise<unknown> | undefined;
  #drained: (() => void)[] = [];
  /** What is decided now is applied in the same turn: its LSN is known. */
  #decisionContext: DecisionContext = {
    stamp: (put, previous, operation) => {
      const { state, clock } = this.#options;
      const at = { lsn: state.lsn + 1, timestampSec: nowSec(clock) };
      return this.#versions.stamp(put, previous, at, operation);
    },
    claims: undefined,
  };
  readonly #claims: UniqueClaims | undefined;
  readonly #burial: HiddenDeletions;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#indexing = options.indexing;
    this.#openGroup = new CommitGroup(options.finisher, this.#overlay);
    this.#openGroupFrom = options.state.lsn;
    this.#hasOwnWrites = options.state.lsn > 0;
    this.#versions = new VersionAssigner(options);
    this.#burial = new HiddenDeletions(options, this.#overlay, () => this.#openGroup);
    const { unique } = options.indexing;
    if (unique === undefined) return;
    this.#claims = new UniqueClaims(unique, {
      readEntry: (key) => options.store.get(key),
      readItem: (key) => {
        const pending = this.#overlay.get(key);
        return pending === undefined ? options.readStored(key) : pending.after;
      },
      hidden: () => options.visibility.decided,
    });
    this.#decisionContext = { ...this.#decisionContext, claims: this.#claims };
  }

  /** From the next write on entries follow this policy; all older ones go. */
  startIndexing(indexing: Indexing, state: IndexState): void {
    this.#indexing = indexing;
    this.#openGroup.clearIndex();
    // Items written before are indexed by whoever builds the index.
    this.#openGroup.indexCheckpoint = this.#openGroupFrom;
    this.#openGroup.indexState = state;
    this.#scheduleFlush();
  }

  /** Stored with the next write; a partition nobody writes to stays as it is. */
  noteIndexState(state: IndexState): void {
    this.#openGroup.indexState = state;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  get isIdle(): boolean {
    return this.#pendingCount === 0;
  }

  write(command: WriteCommand): Promise<WriteResult> {
    if (this.#failure !== undefined) return Promise.reject(unavailable(this.#failure));
    if (
      this.#pendingCount >= PENDING_WRITES_MAX ||
      this.#openGroup.bodyBytes >= PENDING_WRITE_BYTES_MAX
    )
      return Promise.reject(
        new DomainError('unavailable', 'Too many writes are waiting for the disk; retry later.'),
      );
    assert(command.keys.length <= INTENT_KEYS_MAX, 'intent: too many items');
    this.#pendingCount++;
    return new Promise<WriteResult>((resolve, reject) => {
      const complete = (failure: Error | undefined, result: WriteResult | undefined): void => {
        this.#pendingCount--;
        if (result !== undefined && failure === undefined) resolve(result);
        else reject(failure);
        if (this.#pendingCount === 0) for (const drained of this.#drained.splice(0)) drained();
      };
      const attempt: Attempt = {
        command,
        complete,
        lookedUp: this.#claims === undefined ? NOTHING_LOOKED_UP : new Map(),
        wide: undefined,
        wideWaits: 0,
      };
      try {
        this.#begin(attempt);
      } catch (error) {
        complete(error as Error, undefined);
      }
    });
  }

  #begin(attempt: Attempt): void {
    const stored = this.#fetch(attempt.command.keys);
    const isNext = this.#fetching === undefined && !isPromise(stored);
    const unready = isNext ? this.#decide(attempt, stored) : stored;
    if (unready === undefined) return;
    if (isNext && attempt.wideWaits > 0 && attempt.wideWaits <= WIDE_WAITS_MAX) {
      // Others need not wait for what is found of wide items; it comes later, as if sent later.
      const again = (unready as Promise<unknown>).then(() => this.#begin(attempt));
      again.catch((error: Error) => attempt.complete(error, undefined));
      return;
    }
    const before = Promise.all([this.#fetching, unready]);
    const mine = this.#decideAfter(before, stored, attempt);
    this.#fetching = mine;
    void mine.then(() => {
      if (this.#fetching === mine) this.#fetching = undefined;
    });
  }

  /** Resolves when no write is under way. */
  drain(): Promise<void> {
    if (this.#pendingCount === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Items are fetched side by side, intents decided one after the other in the order they came. */
  async #decideAfter(
    before: Promise<unknown>,
    fetched: MaybePromise<readonly (Item | undefined)[]>,
    attempt: Attempt,
  ): Promise<void> {
    try {
      await before;
      const stored = await fetched;
      for (let unready = this.#decide(attempt, stored); unready !== undefined; ) {
        await unready;
        unready = this.#decide(attempt, stored);
      }
    } catch (error) {
      attempt.complete(error as Error, undefined);
    }
  }

  #fetch(keys: readonly ItemKey[]): MaybePromise<readonly (Item | undefined)[]> {
    // What the overlay holds need not be read, as long as it cannot be forgotten before the decision.
    const isDecidedNext = this.#fetching === undefined;
    const items = keys.map((key) =>
      isDecidedNext && this.#overlay.get(key) !== undefined
        ? undefined
        : this.#options.readStored(key),
    );
    return items.some(isPromise) ? Promise.all(items) : (items as (Item | undefined)[]);
  }

  /** Answers what to wait for where it has to be decided again: unique values that an engine looks up later. */
  #decide(attempt: Attempt, stored: readonly (Item | undefined)[]): Promise<unknown> | undefined {
    const { command, complete, lookedUp } = attempt;
    if (this.#failure !== undefined) {
      complete(unavailable(this.#failure), undefined);
      return undefined;
    }
    let rests: CommitGroup | undefined;
    const items = command.keys.map((key, index) => {
      const pending = this.#overlay.get(key);
      if (pending === undefined) return stored[index];
      rests = pending.group;
      return pending.after;
    });
    const hidden = this.#options.visibility.decided;
    const current =
      hidden === undefined || command.includesHidden === true
        ? items
        : items.map((item) => hidden.visible(item));
    this.#claims?.begin(lookedUp);
    this.#versions.isBulk = isBulk(command);
    let mutations: readonly Mutation[];
    try {
      mutations = command.decide(current, this.#decisionContext);
    } catch (refusal) {
      if (refusal instanceof Unready) return refusal.ready;
      rests ??= this.#claims?.dependsOn;
      // A refusal that rests on a write not yet durable is told only when that write is.
      if (rests === undefined) complete(refusal as Error, undefined);
      else rests.whenFinished((failure) => complete(failure ?? (refusal as Error), undefined));
      return undefined;
    }
    if (mutations.length === 0 && changesNothing(command)) {
      const result = { effects: [], lsn: this.#options.state.lsn };
      if (rests === undefined) complete(undefined, result);
      else rests.whenFinished((failure) => complete(failure, result));
      return undefined;
    }
    const wide = wideChanges(attempt, { current, mutations }, this.#indexing, this.#options.work);
    if (isPromise(wide)) return wide;
    let result: WriteResult;
    try {
      result = this.#apply(command, { items, current }, mutations, wide);
    } catch (error) {
      // A part of it may be applied already: what is in memory cannot be told from what should be.
      complete(error as Error, undefined);
      this.fail(error as Error);
      return undefined;
    }
    this.#openGroup.completions.push((failure) => complete(failure, result));
    this.#scheduleFlush();
    return undefined;
  }

  #apply(
    intent: WriteCommand,
    { items, current }: Decided,
    mutations: readonly Mutation[],
    wide: readonly (WideChange | undefined)[] | undefined,
  ): WriteResult {
    const { state, clock, history, visibility, conflicts } = this.#options;
    const group = this.#openGroup;
    const isMoved = intent.movedLsn !== undefined;
    // Indexing anew changes no item, so it is no event in the partition's history.
    if (intent.movedLsn !== undefined) {
      state.lsn = Math.max(state.lsn, intent.movedLsn);
      // The entries of what is moved are logged.
      if (!this.#hasOwnWrites) group.indexCheckpoint = state.lsn;
    } else if (intent.indexState === undefined) {
      state.lsn++;
      this.#hasOwnWrites = true;
    }
    if (intent.indexState !== undefined) group.indexState = intent.indexState;
    const at = { lsn: state.lsn, timestampSec: nowSec(clock), isMoved, isBulk: isBulk(intent) };
    group.lsn = at.lsn;
    for (const entry of intent.movedHistory ?? []) {
      group.add(entry);
      if (entry.key[0] === PREFIX_TOMBSTONE) state.tombstoneCount++;
    }
    if (intent.rangeTombstones !== undefined) {
      visibility.deleteRange(intent.rangeTombstones, group, at.lsn);
      for (const erasure of group.rangeTombstones ?? []) conflicts.noteRange(erasure);
    }
    if (current !== items) this.#burial.under(intent.keys, { items, current }, mutations, at);
    for (const item of this.#claims?.applied(group) ?? []) this.#burial.owner(item, at);
    // One write of every item, in the order of the keys, is the rule: then an item's state is the one it began with.
    const isPlain =
      intent.includesHidden !== true && mutations.every(({ key }, at) => key === intent.keys[at]);
    const now = isPlain
      ? undefined
      : new Map(intent.keys.map(({ text }, at) => [text, current[at]]));
    const effects = mutations.map((mutation, operation): Effect => {
      const { key } = mutation;
      const previous = now === undefined ? current[operation] : now.get(key.text);
      if (mutation.kind === 'reindex') {
        if (previous !== undefined) group.reindex(previous, wide?.[operation]?.after);
        return { kind: 'replaced', item: previous, previous };
      }
      const item = this.#versions.itemAfter(mutation, previous, at, operation);
      const change = wide?.[operation];
      const isSent = mutation.kind === 'put' || mutation.kind === 'stamped';
      const value = isSent && change === undefined ? mutation.value : undefined;
      const touched = group.change(key, { current: previous, after: item, value }, at);
      if (history.isKept && !isMoved) {
        const isExpired = mutation.kind === 'delete' && mutation.cause === 'expired';
        history.note(group, { previous, item, operation, isExpired }, at);
      }
      if (change === undefined) group.findTerms(touched, this.#indexing, this.#options.postings());
      else group.changeWide(touched, change, this.#indexing);
      countChange(state, previous, item);
      now?.set(key.text, item);
      if (!conflicts.isEmpty) conflicts.note(key.text);
      const kind = item === undefined ? 'deleted' : previous === undefined ? 'created' : 'replaced';
      return { kind, item, previous };
    });
    return { effects, lsn: at.lsn };
  }

  /** A number for a new item, used or not. */
  reserveRid(): Rid {
    return this.#versions.reserveRid();
  }

  #scheduleFlush(): void {
    if (this.#openGroup.bodyBytes >= COMMIT_BYTES_MAX) this.#flush();
    if (this.#inFlight.length < GROUPS_IN_FLIGHT_MAX && !this.#openGroup.isEmpty)
      this.#groupTimer.gathered(this.#openGroup.completions.length);
  }

  #flush(): void {
    this.#groupTimer.reset();
    const group = this.#openGroup;
    if (group.isEmpty || this.#failure !== undefined) return;
    if (this.#inFlight.length >= GROUPS_IN_FLIGHT_MAX) return;
    this.#openGroup = new CommitGroup(this.#options.finisher, this.#overlay);
    this.#inFlight.push(group);
    const { state, store, history } = this.#options;
    this.#openGroupFrom = state.lsn;
    state.tombstoneCount += group.deletionCount;
    // Whatever throws on the way of a group is the end of this committer, not of the process.
    try {
      history.leave(group);
      store
        .commit(group.toBatch(state, this.#indexing))
        .then(() => this.#committed(group))
        .catch((error: Error) => this.fail(error));
      history.trim(() => this.#openGroup)?.catch((error: Error) => this.fail(error));
    } catch (error) {
      this.fail(error as Error);
    }
  }

  #committed(group: CommitGroup): void {
    if (this.#failure !== undefined) return;
    assert(this.#inFlight[0] === group, 'groups commit in order');
    this.#inFlight.shift();
    this.#options.publish(group);
    // An intent being fetched may have read the store before this commit: it needs the overlay to see the write.
    if (this.#fetching === undefined) this.#forget(group);
    else void this.#fetching.then(() => this.#forget(group));
    this.#groupTimer.expect(this.#openGroup.completions.length, group.completions.length);
    group.finish(undefined);
    this.#scheduleFlush();
  }

  #forget(group: CommitGroup): void {
    for (const { key } of group.pending)
      if (this.#overlay.get(key)?.group === group) this.#overlay.delete(key);
    this.#claims?.forget(group);
  }

  /** What is decided but not durable is lost; nothing more is taken. */
  fail(error: Error): void {
    const isFirst = this.#failure === undefined;
    this.#failure ??= error;
    const failure = unavailable(error);
    const groups = [...this.#inFlight, this.#openGroup];
    this.#inFlight = [];
    this.#openGroup = new CommitGroup(this.#options.finisher, this.#overlay);
    this.#overlay.clear();
    this.#claims?.clear();
    for (const group of groups) group.finish(failure);
    this.#options.conflicts.published(Number.POSITIVE_INFINITY);
    if (isFirst) this.#options.onFailure(error);
  }
}

function nowSec(clock: Clock): number {
  return Math.floor(clock.nowMs() / 1000);
}
