/**
 * The single writer of a partition: collect → decide → batch → commit → publish.
 *
 * A command is decided against what is stored and what is decided but not durable yet (the overlay), in one synchronous
 * step; so the order of the decisions is the order of the writes. Decided writes collect in a group while the group
 * before is written to the disk. Readers see a write only when it is durable.
 *
 * A failed commit makes the overlay invalid: every write fails, and the partition has to be opened again.
 */
import {
  assert,
  COMMIT_BYTES_MAX,
  DomainError,
  isPromise,
  type MaybePromise,
  PENDING_WRITE_BYTES_MAX,
  PENDING_WRITES_MAX,
} from '../../base/index.ts';
import type { IndexState } from '../index/stored/index-state.ts';
import type { Indexing } from '../index/terms/indexing.ts';
import { COMMAND_KEYS_MAX, type Item, type ItemKey, type Lsn, type Rid } from '../item/item.ts';
import { writeSec } from '../state.ts';
import { type Attempt, unacknowledged, unavailable } from './attempt.ts';
import type { WriteResult } from './command/effect.ts';
import {
  changesNothing,
  type DecisionContext,
  isBulk,
  type Mutation,
  respectsHolds,
  type WriteCommand,
} from './command/write-command.ts';
import { CommitGroup } from './commit-group.ts';
import type { CommitterOptions } from './committer-options.ts';
import { DecisionApplier } from './decision-applier.ts';
import { GroupCommitTimer } from './group-commit-timer.ts';
import { InvisibleDeletions, replaced } from './invisible-deletions.ts';
import { KeyMap } from './key-map.ts';
import { NOTHING_LOOKED_UP, Unready } from './looked-up.ts';
import type { PendingChange } from './pending-change.ts';
import { UniqueClaims } from './unique/unique-claims.ts';
import { VersionAssigner } from './version-assigner.ts';
import { wideChanges } from './wide-writes.ts';

/** One group is written while the next one collects; two at once would only be smaller. */
const GROUPS_IN_FLIGHT_MAX = 1;

/** After this many tries a wide write keeps its place in the queue, so that writes of others cannot starve it. */
const WIDE_WAITS_MAX = 3;

export class Committer {
  readonly #options: CommitterOptions;
  readonly #overlay = new KeyMap<PendingChange>();
  readonly #versions: VersionAssigner;
  #indexing: Indexing;
  #openGroup: CommitGroup;
  /** LSN before the first write of the open group. */
  #openGroupFrom: Lsn;
  #inFlight: CommitGroup[] = [];
  #pendingCount = 0;
  readonly #groupTimer = new GroupCommitTimer(() => this.#flush());
  #failure: Error | undefined;
  /** Asynchronous engines only: commands whose items are being fetched, decided in order of arrival. */
  #fetching: Promise<unknown> | undefined;
  #drained: (() => void)[] = [];
  #decisionContext: DecisionContext;
  #claims: UniqueClaims | undefined;
  readonly #applier: DecisionApplier;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#indexing = options.indexing;
    this.#openGroup = new CommitGroup(options.finisher, this.#overlay);
    for (const entry of options.firstEntries) this.#openGroup.add(entry);
    this.#openGroupFrom = options.state.lsn;
    this.#versions = new VersionAssigner(options);
    this.#claims = this.#newClaims();
    const { state, clock, notes, updaters = {} } = options;
    this.#decisionContext = {
      // A decision is applied in the same synchronous step, so its LSN is known.
      stamp: (put, previous, operation) => {
        const at = { lsn: state.lsn + 1, timestampSec: writeSec(state, clock) };
        return this.#versions.stamp(put, previous, at, operation);
      },
      claims: this.#claims,
      notes,
      updaters,
      nowMs: () => clock.nowMs(),
    };
    this.#applier = new DecisionApplier(options, {
      versions: this.#versions,
      invisibleDeletions: new InvisibleDeletions(options, this.#overlay, () => this.#openGroup),
      claims: () => this.#claims,
    });
  }

  #newClaims(): UniqueClaims | undefined {
    const { store, visibility, readStored, lacksUniqueEntries } = this.#options;
    const { unique } = this.#indexing;
    if (unique === undefined) return undefined;
    return new UniqueClaims(unique, {
      readEntry: (key) => store.get(key),
      readItem: (key) => {
        const pending = this.#overlay.get(key);
        return pending === undefined ? readStored(key) : pending.after;
      },
      invisible: () => visibility.decided,
      isIncomplete: lacksUniqueEntries,
    });
  }

  /** Entries follow this policy from the next write on; all older ones are deleted. */
  startIndexing(indexing: Indexing, state: IndexState): void {
    this.#indexing = indexing;
    this.#openGroup.clearIndex();
    // Items written before are indexed by the index builder.
    this.#openGroup.indexCheckpoint = this.#openGroupFrom;
    this.#openGroup.indexState = state;
    this.#scheduleFlush();
  }

  /** Entries follow these declared indexes from the next write on; the policy and the older entries stay. */
  changeIndexing(indexing: Indexing): void {
    this.#indexing = indexing;
    const { unique } = indexing;
    if (unique !== undefined && this.#claims !== undefined) this.#claims.change(unique);
    else this.#claims = this.#newClaims();
    this.#decisionContext = { ...this.#decisionContext, claims: this.#claims };
  }

  /** Stores the state with the next write; a partition without writes stays as it is. */
  noteIndexState(state: IndexState): void {
    this.#openGroup.indexState = state;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  get isIdle(): boolean {
    return this.#pendingCount === 0 && this.#inFlight.length === 0;
  }

  write(command: WriteCommand): Promise<WriteResult> {
    if (this.#failure !== undefined) return Promise.reject(unavailable(this.#failure));
    const { writeRefusal } = this.#options.store;
    if (writeRefusal !== undefined)
      return Promise.reject(new DomainError('unavailable', writeRefusal));
    if (
      this.#pendingCount >= PENDING_WRITES_MAX ||
      this.#openGroup.bodyBytes >= PENDING_WRITE_BYTES_MAX
    )
      return Promise.reject(
        new DomainError('unavailable', 'Too many writes are waiting for the disk; retry later.'),
      );
    assert(command.keys.length <= COMMAND_KEYS_MAX, 'command: too many items');
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
        lookedUp:
          this.#claims === undefined && command.usesNotes !== true ? NOTHING_LOOKED_UP : new Map(),
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
      // Other writes do not wait for the terms of a wide item: its command is decided as if it came later.
      if (attempt.lookedUp.size > 0) attempt.lookedUp = new Map();
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

  /** Items are fetched concurrently; commands are decided one after the other in the order of arrival. */
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
    // An item in the overlay is not read, unless the overlay may drop it before the decision.
    const isDecidedNext = this.#fetching === undefined;
    const items = keys.map((key) =>
      isDecidedNext && this.#overlay.get(key) !== undefined
        ? undefined
        : this.#options.readStored(key),
    );
    return items.some(isPromise) ? Promise.all(items) : (items as (Item | undefined)[]);
  }

  /** Returns a promise where the command has to be decided again after it: unique values or wide terms are missing. */
  #decide(attempt: Attempt, stored: readonly (Item | undefined)[]): Promise<unknown> | undefined {
    const { command, complete } = attempt;
    const { notes } = this.#options;
    if (this.#failure !== undefined) {
      complete(unavailable(this.#failure), undefined);
      return undefined;
    }
    const { held } = this.#options.transactions;
    if (!held.isEmpty && respectsHolds(command)) {
      const free = held.whenFree(command.keys);
      if (free !== undefined) {
        // Others do not wait for this command: it is decided as if it came later.
        free.then(() => this.#begin(attempt)).catch((error: Error) => complete(error, undefined));
        return undefined;
      }
    }
    let dependsOn: CommitGroup | undefined;
    const items = command.keys.map((key, index) => {
      const pending = this.#overlay.get(key);
      if (pending === undefined) return stored[index];
      dependsOn = this.#later(dependsOn, pending.group);
      return pending.after;
    });
    const invisible = this.#options.visibility.decided;
    const isAll = invisible === undefined || command.includesInvisible === true;
    const seen = isAll ? items : items.map((item) => invisible.present(item));
    // What is replaced is the stored item, also where the decision sees it as a shadow.
    const current = isAll ? items : items.map((item, at) => seen[at] && item);
    if (this.#claims !== undefined && attempt.lookedUp === NOTHING_LOOKED_UP)
      attempt.lookedUp = new Map();
    this.#claims?.begin(attempt.lookedUp);
    if (command.usesNotes === true) notes.begin(attempt.lookedUp);
    this.#versions.isBulk = isBulk(command);
    let mutations: readonly Mutation[];
    try {
      mutations = command.decide(seen, this.#decisionContext);
      if (!isAll) this.#claims?.replace(replaced({ items, current }, command.keys, mutations));
    } catch (refusal) {
      if (refusal instanceof Unready) return refusal.ready;
      dependsOn = this.#later(dependsOn, this.#claims?.dependsOn);
      // A refusal that depends on a write that is not durable yet is reported when it is.
      if (dependsOn === undefined) complete(refusal as Error, undefined);
      else dependsOn.whenFinished((failure) => complete(failure ?? (refusal as Error), undefined));
      return undefined;
    }
    const isNoted = command.usesNotes === true && notes.isChanged;
    if (mutations.length === 0 && !isNoted && changesNothing(command)) {
      dependsOn = this.#later(dependsOn, this.#claims?.dependsOn);
      if (command.usesNotes === true) dependsOn = this.#later(dependsOn, notes.dependsOn);
      const result = { effects: [], lsn: this.#options.state.lsn };
      if (dependsOn === undefined) complete(undefined, result);
      else dependsOn.whenFinished((failure) => complete(failure, result));
      return undefined;
    }
    const wide = wideChanges(attempt, { current, mutations }, this.#indexing, this.#options.work);
    if (isPromise(wide)) return wide;
    let result: WriteResult;
    try {
      const decision = { command, items, current, mutations, wide };
      result = this.#applier.apply(decision, { group: this.#openGroup, indexing: this.#indexing });
      if (isNoted) notes.applied(this.#openGroup);
    } catch (error) {
      // The command may be applied in part, so that memory can no longer be trusted.
      complete(error as Error, undefined);
      this.fail(error as Error);
      return undefined;
    }
    this.#openGroup.completions.push((failure) => complete(failure, result));
    this.#scheduleFlush();
    return undefined;
  }

  /** The group of the two that becomes durable later: there are no others than the open one and one before it. */
  #later(one: CommitGroup | undefined, other: CommitGroup | undefined): CommitGroup | undefined {
    return one === undefined || other === this.#openGroup ? (other ?? one) : one;
  }

  /** A rid for a new item, used or not. */
  reserveRid(): Rid {
    return this.#versions.reserveRid();
  }

  #scheduleFlush(): void {
    if (this.#openGroup.bodyBytes >= COMMIT_BYTES_MAX) this.#flush();
    if (this.#inFlight.length < GROUPS_IN_FLIGHT_MAX && !this.#openGroup.isEmpty)
      this.#groupTimer.collected(this.#openGroup.completions.length);
  }

  #flush(): void {
    this.#groupTimer.reset();
    const group = this.#openGroup;
    if (group.isEmpty || this.#failure !== undefined) return;
    if (this.#inFlight.length >= GROUPS_IN_FLIGHT_MAX) return;
    this.#openGroup = new CommitGroup(this.#options.finisher, this.#overlay);
    this.#inFlight.push(group);
    const { state, store, history, transactions } = this.#options;
    this.#openGroupFrom = state.lsn;
    state.tombstoneCount += group.deletionCount;
    // An error here ends this committer, not the process.
    try {
      history.addTo(group);
      transactions.addTo(group);
      const answering = this.#answerLate(group);
      store
        .commit(group.toBatch(state, this.#indexing))
        .finally(() => clearInterval(answering))
        .then(() => this.#committed(group))
        .catch((error: Error) => this.fail(error));
      history.trim(() => this.#openGroup)?.catch((error: Error) => this.fail(error));
    } catch (error) {
      this.fail(error as Error);
    }
  }

  /** Nobody waits longer than the store says; the commit goes on, and what it wrote is published when it is done. */
  #answerLate(group: CommitGroup): NodeJS.Timeout | undefined {
    const { answerWithinMs } = this.#options.store;
    if (answerWithinMs === undefined) return undefined;
    return setInterval(() => {
      for (const each of [group, this.#openGroup]) each.answer(unacknowledged());
    }, answerWithinMs);
  }

  #committed(group: CommitGroup): void {
    if (this.#failure !== undefined) return;
    assert(this.#inFlight[0] === group, 'groups commit in order');
    this.#inFlight.shift();
    this.#options.publish(group);
    // A command that is being fetched may have read the store before this commit: the overlay shows it the write.
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
    this.#options.notes.forget(group);
  }

  /** Drops all writes that are not durable; no more writes are taken. */
  fail(error: Error): void {
    const isFirst = this.#failure === undefined;
    this.#failure ??= error;
    const failure = unavailable(error);
    // Only those under way may be in the store after all.
    const sentFailure = error instanceof DomainError ? error : failure;
    const [sent, open] = [this.#inFlight, this.#openGroup];
    this.#inFlight = [];
    this.#openGroup = new CommitGroup(this.#options.finisher, this.#overlay);
    this.#overlay.clear();
    this.#claims?.clear();
    this.#options.notes.clear();
    for (const group of sent) group.finish(sentFailure);
    open.finish(failure);
    this.#options.conflicts.published(Number.POSITIVE_INFINITY);
    this.#options.transactions.held.end();
    if (isFirst) this.#options.onFailure(error);
  }
}
