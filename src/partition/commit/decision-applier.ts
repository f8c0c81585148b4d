/** Applies a decision to the open group: LSN, items, history, index terms and counters. */
import type { Indexing } from '../index/terms/indexing.ts';
import { PREFIX_TOMBSTONE } from '../item/keyspace.ts';
import { countChange, writeSec } from '../state.ts';
import type { Decided } from './attempt.ts';
import { changeKind, type Effect, type WriteResult } from './command/effect.ts';
import { isBulk, type Mutation, type WriteCommand } from './command/write-command.ts';
import type { CommitGroup, Stamped } from './commit-group.ts';
import type { CommitterOptions } from './committer-options.ts';
import type { InvisibleDeletions } from './invisible-deletions.ts';
import type { UniqueClaims } from './unique/unique-claims.ts';
import type { VersionAssigner } from './version-assigner.ts';
import type { WideChange } from './wide-writes.ts';

/** A decided command. */
interface Decision extends Decided {
  readonly command: WriteCommand;
  readonly mutations: readonly Mutation[];
  /** Terms of wide items, by mutation; undefined where none is wide. */
  readonly wide: readonly (WideChange | undefined)[] | undefined;
}

/** The group and the policy that a decision is applied with. */
interface Target {
  readonly group: CommitGroup;
  readonly indexing: Indexing;
}

interface DecisionApplierParts {
  readonly versions: VersionAssigner;
  readonly invisibleDeletions: InvisibleDeletions;
  readonly claims: () => UniqueClaims | undefined;
}

export class DecisionApplier {
  readonly #options: CommitterOptions;
  readonly #parts: DecisionApplierParts;
  /** False while all items were moved here from other partitions. */
  #hasOwnWrites: boolean;

  constructor(options: CommitterOptions, parts: DecisionApplierParts) {
    this.#options = options;
    this.#parts = parts;
    this.#hasOwnWrites = options.state.lsn > 0;
  }

  /** Synchronous. An error leaves the group changed in part: the committer has to fail. */
  apply(decision: Decision, target: Target): WriteResult {
    const { command, items, current, mutations } = decision;
    const { state, visibility, conflicts } = this.#options;
    const { invisibleDeletions, claims } = this.#parts;
    const { group } = target;
    const at = this.#advance(command, group);
    for (const entry of command.movedHistory ?? []) {
      group.add(entry);
      if (entry.key[0] === PREFIX_TOMBSTONE) state.tombstoneCount++;
    }
    if (command.rangeTombstones !== undefined) {
      visibility.deleteRange(command.rangeTombstones, group, at.lsn);
      for (const tombstone of group.rangeTombstones ?? []) conflicts.noteRange(tombstone);
    }
    command.beside?.(group);
    if (current !== items) invisibleDeletions.under(command.keys, decision, mutations, at);
    for (const item of claims()?.applied(group, mutations.length > 0) ?? [])
      invisibleDeletions.owner(item, at);
    return { effects: this.#mutate(decision, target, at), lsn: at.lsn };
  }

  /** Gives the command its LSN. Reindexing changes no item, so it gets none. */
  #advance(command: WriteCommand, group: CommitGroup): Stamped {
    const { state, clock } = this.#options;
    const { movedLsn, movedTimestampSec, indexState } = command;
    state.lastTimestampSec = Math.max(writeSec(state, clock), movedTimestampSec ?? 0);
    if (movedLsn !== undefined) {
      state.lsn = Math.max(state.lsn, movedLsn);
      // The entries of moved items are in the index log.
      if (!this.#hasOwnWrites) group.indexCheckpoint = state.lsn;
    } else if (indexState === undefined) {
      state.lsn++;
      this.#hasOwnWrites = true;
    }
    if (indexState !== undefined) group.indexState = indexState;
    if (command.removedIndex !== undefined) group.removeIndex(command.removedIndex);
    group.lsn = state.lsn;
    return {
      lsn: state.lsn,
      timestampSec: state.lastTimestampSec,
      isMoved: movedLsn !== undefined,
      isCopied: command.isCopy === true,
      isBulk: isBulk(command),
    };
  }

  #mutate(
    { command, current, mutations, wide }: Decision,
    { group, indexing }: Target,
    at: Stamped,
  ): readonly Effect[] {
    const { state, history, conflicts, postings, visibility } = this.#options;
    const invisible = command.includesInvisible === true ? undefined : visibility.decided;
    // Most commands write every item once, in the order of the keys: then `current` is the state before each write.
    const isPlain =
      command.includesInvisible !== true &&
      mutations.every(({ key }, at) => key === command.keys[at]);
    const now = isPlain
      ? undefined
      : new Map(command.keys.map(({ text }, at) => [text, current[at]]));
    return mutations.map((mutation, operation): Effect => {
      const { key } = mutation;
      const previous = now === undefined ? current[operation] : now.get(key.text);
      if (mutation.kind === 'reindex') {
        if (previous !== undefined)
          group.reindex(previous, wide?.[operation]?.after, mutation.index);
        return { kind: 'replaced', item: previous, previous };
      }
      const item = this.#parts.versions.itemAfter(mutation, previous, at, operation);
      const wideChange = wide?.[operation];
      const isSent = mutation.kind === 'put' || mutation.kind === 'stamped';
      const value = isSent && wideChange === undefined ? mutation.value : undefined;
      const change = group.change(key, { current: previous, after: item, value }, at);
      if (history.isKept && !at.isMoved) {
        const isExpired =
          (mutation.kind === 'delete' && mutation.cause === 'expired') ||
          (command.includesInvisible === true && item?.isShadow === true);
        history.note(group, { previous, item, operation, isExpired }, at);
      }
      if (wideChange === undefined) group.findTerms(change, indexing, postings());
      else group.changeWide(change, wideChange, indexing);
      countChange(state, previous, item);
      now?.set(key.text, item);
      if (!conflicts.isEmpty) conflicts.note(key.text, previous, item);
      // An expired item that is replaced was not there for the caller.
      const known = invisible === undefined ? previous : invisible.present(previous);
      return { kind: changeKind(item, known), item, previous: known };
    });
  }
}
