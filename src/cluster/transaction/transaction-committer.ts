/**
 * Commits transactions: one partition takes one command; several take part in two phases
 * (docs/decisions/0020-transactions.md).
 *
 *   prepare   at all participants but the coordinator, at once; one that refuses ends the transaction
 *   commit    at the coordinator: its check, its writes and the outcome in one batch
 *   resolve   at the others; then the outcome is forgotten
 *
 * A prepare never waits for another transaction, so there are no deadlocks.
 */
import {
  DomainError,
  type ErrorCode,
  type Random,
  type ResponseInfo,
  toHex,
} from '../../base/index.ts';
import {
  type Partition,
  readIsStale,
  TransactionError,
  type TransactionId,
  type TransactionOptions,
} from '../../partition/index.ts';
import { MINIMAL_CHARGE, type RequestClass } from '../../throughput/index.ts';
import { admit, chargeTo } from '../admission.ts';
import { stepCheck } from '../balance/key-limit.ts';
import type { Cluster } from '../cluster.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { responseInfoOf, type TransactionReply } from '../reply.ts';
import type { Route } from '../routing/routing-map.ts';
import { effectCharge } from '../write/write-charge.ts';
import { encodeLocator, type PartitionLocator } from './partition-locator.ts';
import { chunksOf, fitsCommand } from './transaction-chunks.ts';
import { type TransactionEntry, toCheckedOp, toTransactionOps } from './transaction-entry.ts';
import type { TransactionResolver } from './transaction-resolver.ts';
import { located } from './unique-writes.ts';

/** The steps of a commit over several partitions. */
export type TransactionStep = 'prepare' | 'prepared' | 'committed' | 'resolved';

export interface CommitterOptions {
  readonly cluster: Cluster;
  readonly context: ClusterContext;
  readonly resolver: TransactionResolver;
  readonly random: Random;
  /** Receives each step, which waits. For tests that stop it there. */
  readonly onStep: (step: TransactionStep) => void | Promise<void>;
}

/** A partition with the items that a transaction has there. */
export interface Participant {
  readonly route: Route;
  readonly entries: readonly TransactionEntry[];
}

interface CommitRequest {
  readonly participants: readonly Participant[];
  readonly deadlineMs: number;
  readonly requestClass: RequestClass;
  /** Called at the decision of the commit; throws where queries are no longer valid. */
  readonly guard: (id: TransactionId | undefined) => void;
}

export interface Committed extends ResponseInfo {
  /** Etags of the written items, by their keys. */
  readonly etags: ReadonlyMap<string, string>;
}

export class TransactionCommitter {
  readonly #options: CommitterOptions;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  commit(request: CommitRequest): Promise<Committed> {
    const { participants } = request;
    const [first, ...others] = participants;
    const isSmall = first !== undefined && others.length === 0 && fitsCommand(first);
    return isSmall ? this.#commitOne(first, request) : this.#commitMany(request);
  }

  /** Checks reads alone: nothing is held or stored. Valid, because all reads come before all checks. */
  async checkReads({ participants, guard }: CommitRequest): Promise<void> {
    const { registry } = this.#options.context;
    for (const { route, entries } of participants)
      for (const chunk of chunksOf(entries)) {
        const partition = await registry.partition(route.handle);
        await partition.write(partition.transactions.state.checkCommand(chunk));
      }
    guard(undefined);
  }

  async #commitOne({ route, entries }: Participant, request: CommitRequest): Promise<Committed> {
    const { guard, requestClass } = request;
    const reply = await this.#transact({ route, entries }, requestClass, () => ({
      guard: () => guard(undefined),
      releasesFirst: true,
    }));
    return { ...infoOf(reply), etags: etagsOf(entries, reply) };
  }

  async #transact(
    { route, entries }: Participant,
    requestClass: RequestClass,
    optionsOf: (partition: Partition) => TransactionOptions,
  ): Promise<TransactionReply> {
    const ops = entries.flatMap(toTransactionOps);
    try {
      return await this.#options.cluster.transactOn(route, ops, requestClass, optionsOf);
    } catch (error) {
      const isStale = error instanceof TransactionError && ops[error.operation]?.kind === 'expect';
      throw isStale ? readIsStale() : located(error, route.container);
    }
  }

  async #commitMany(request: CommitRequest): Promise<Committed> {
    const { resolver, random, onStep, context } = this.#options;
    const id = newId(random);
    const [coordinator, others] = divide(request.participants);
    const commit = new Commit(id, coordinator, others, request);
    resolver.begin(id);
    try {
      await onStep('prepare');
      await this.#prepareAll(commit);
      await onStep('prepared');
      const reply = await this.#decide(commit);
      resolver.committed(id);
      await onStep('committed');
      const resolved = await this.#resolveAll(commit);
      await onStep('resolved');
      const { route } = coordinator;
      const info = reply ?? responseInfoOf(route, route.handle.partition?.lsn ?? 0, 0);
      const own = reply === undefined ? [] : etagsOf(coordinator.entries, reply);
      const etags = new Map([...own, ...resolved.etags]);
      return { ...infoOf(info), charge: rounded(info.charge + resolved.charge), etags };
    } catch (error) {
      for (const { route } of others)
        chargeTo(context, route, { ...NO_WORK, charge: MINIMAL_CHARGE }, request.requestClass);
      throw error;
    } finally {
      resolver.end(id);
    }
  }

  async #prepareAll(commit: Commit): Promise<void> {
    const { context } = this.#options;
    const { participants, request } = commit;
    for (const { route } of participants) admit(context, route, request.requestClass);
    const prepared = await Promise.allSettled(
      commit.prepared.map((participant) => this.#prepare(commit, participant)),
    );
    const refusals = prepared.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    if (refusals.length === 0) return;
    await this.#drop(commit);
    // A partition that was replaced lets the commit begin again: other refusals come first.
    throw refusals.find((error) => !isGone(error)) ?? refusals[0];
  }

  async #prepare(commit: Commit, { route, entries }: Participant): Promise<void> {
    const { registry } = this.#options.context;
    const header = {
      coordinator: encodeLocator(commit.locator),
      deadlineMs: commit.request.deadlineMs,
    };
    let number = 1;
    for (const chunk of chunksOf(entries)) {
      const partition = await registry.partition(route.handle);
      const newCheck = this.#limitCheck(route, partition, chunk);
      const options = { firstNumber: number, newCheck };
      await partition.transactions
        .prepare(commit.id, header, chunk.map(toCheckedOp), options)
        .catch((error) => {
          throw located(error, route.container);
        });
      number += chunk.length;
    }
  }

  #limitCheck(route: Route, partition: Partition, chunk: readonly TransactionEntry[]) {
    const { limits } = route.handle;
    if (limits === undefined) return undefined;
    const keys = chunk.map(({ key }) => key);
    return stepCheck(keys, { route, partition, limits, ...this.#options.context });
  }

  /** The outcome, with the coordinator's own writes. Undefined where they are prepared, or where the reply is lost. */
  async #decide(commit: Commit): Promise<TransactionReply | undefined> {
    const { id, coordinator, locator, request } = commit;
    const { guard, requestClass, deadlineMs } = request;
    const { epk } = locator;
    const participants = commit.prepared.map((participant) =>
      encodeLocator(locatorOf(participant)),
    );
    const outcome = { isCommitted: true, deadlineMs, epk, participants };
    const entries = commit.isWhole ? [] : coordinator.entries;
    const used = entries.map(({ key, write }) => ({ key, isWrite: write !== undefined }));
    const optionsOf = ({ transactions: { state } }: Partition): TransactionOptions => ({
      guard: () => {
        if (this.#options.context.clock.nowMs() > deadlineMs) throw expired();
        state.checkCommit(id, used);
        guard(id);
      },
      releasesFirst: true,
      beside: (group) => state.noteOutcome(group, id, outcome),
    });
    try {
      return await this.#transact({ route: coordinator.route, entries }, requestClass, optionsOf);
    } catch (error) {
      if (await this.#isCommittedAfter(error, commit)) return undefined;
      await this.#drop(commit);
      const isLost = error instanceof DomainError && error.code === 'outcomeUnknown';
      throw isLost
        ? new DomainError('unavailable', `Nothing was applied: ${error.message}`)
        : error;
    }
  }

  /** A store that fails may have committed: then the outcome is asked for, and aborted where there is none. */
  async #isCommittedAfter(error: unknown, commit: Commit): Promise<boolean> {
    const { resolver } = this.#options;
    const { id, locator, request } = commit;
    if (error instanceof DomainError && !UNCERTAIN.has(error.code)) return false;
    try {
      return await resolver.isCommitted(id, locator, request.deadlineMs);
    } catch {
      resolver.resolveLater(id, locator, commit.prepared.map(locatorOf), request.deadlineMs);
      throw new DomainError(
        'outcomeUnknown',
        'The store failed; it is not known whether the transaction is committed.',
      );
    }
  }

  async #resolveAll(
    commit: Commit,
  ): Promise<{ readonly charge: number; readonly etags: Map<string, string> }> {
    const { context, resolver } = this.#options;
    const { id, request } = commit;
    let charge = 0;
    const etags = new Map<string, string>();
    const resolve = async (participant: Participant): Promise<void> => {
      const resolved = await resolver.resolve(id, locatorOf(participant), true);
      if (resolved === undefined) return;
      const { route, partition, effects } = resolved;
      const { indexing } = route.handle.options;
      // The second phase is a commit of its own.
      let cost = MINIMAL_CHARGE;
      let bytes = 0;
      for (const effect of effects) {
        cost += effectCharge(effect, indexing);
        bytes += effect.item?.body.length ?? 0;
        const { item } = effect;
        if (item !== undefined) etags.set(Buffer.from(item.primary).toString('latin1'), item.etag);
      }
      charge += cost;
      const key = participant.entries[0]?.key;
      chargeTo(context, route, { charge: cost, bytes, key }, request.requestClass);
      if (route.handle.isReviewDue(partition.itemBytes))
        context.load.grown(route, partition.itemBytes);
    };
    await this.#atAll(commit, resolve, true);
    return { charge, etags };
  }

  async #drop(commit: Commit): Promise<void> {
    const { resolver } = this.#options;
    const drop = (participant: Participant) =>
      resolver.resolve(commit.id, locatorOf(participant), false);
    await this.#atAll(commit, drop, false);
  }

  /** What fails is done in the background: the outcome is durable. */
  async #atAll(
    { id, locator, prepared, request }: Commit,
    act: (participant: Participant) => Promise<unknown>,
    isCommitted: boolean,
  ): Promise<void> {
    const { resolver } = this.#options;
    const results = await Promise.allSettled(prepared.map(act));
    const left = prepared.filter((_, at) => results[at]?.status === 'rejected');
    if (left.length > 0)
      resolver.resolveLater(id, locator, left.map(locatorOf), request.deadlineMs);
    else if (isCommitted) await resolver.forget(id, locator).catch(() => undefined);
  }
}

/** A commit over several partitions. */
class Commit {
  readonly id: TransactionId;
  readonly coordinator: Participant;
  readonly request: CommitRequest;
  readonly participants: readonly Participant[];
  /** Whether the coordinator's items are prepared too, because they are too many for one command. */
  readonly isWhole: boolean;
  /** Those that prepare. */
  readonly prepared: readonly Participant[];
  /** Where the outcome is. */
  readonly locator: PartitionLocator;

  constructor(
    id: TransactionId,
    coordinator: Participant,
    others: readonly Participant[],
    request: CommitRequest,
  ) {
    this.id = id;
    this.coordinator = coordinator;
    this.request = request;
    this.participants = [coordinator, ...others];
    this.isWhole = !fitsCommand(coordinator);
    this.prepared = this.isWhole ? this.participants : others;
    this.locator = locatorOf(coordinator);
  }
}

/** Refusals by a store that may have taken the write. */
const UNCERTAIN: ReadonlySet<ErrorCode> = new Set(['unavailable', 'outcomeUnknown']);

const NO_WORK = { bytes: 0, key: undefined };

/** The coordinator is the participant with most writes among those that need not prepare: it writes them once. */
function divide(
  participants: readonly Participant[],
): readonly [Participant, readonly Participant[]] {
  const weightOf = (participant: Participant): number =>
    fitsCommand(participant)
      ? 1 + participant.entries.filter(({ write }) => write !== undefined).length
      : 0;
  let coordinator = participants[0] as Participant;
  for (const participant of participants)
    if (weightOf(participant) > weightOf(coordinator)) coordinator = participant;
  return [coordinator, participants.filter((participant) => participant !== coordinator)];
}

function locatorOf({ route, entries }: Participant): PartitionLocator {
  const { databaseRid, rid } = route.container;
  return { container: { databaseRid, rid }, epk: (entries[0] as TransactionEntry).key.epk };
}

function etagsOf(
  entries: readonly TransactionEntry[],
  { outcomes }: TransactionReply,
): Map<string, string> {
  const etags = new Map<string, string>();
  const keys = entries.flatMap((entry) => toTransactionOps(entry).map(({ key }) => key));
  outcomes.forEach(({ kind, item }, at) => {
    const key = keys[at];
    if (kind !== 'expected' && item !== undefined && key !== undefined)
      etags.set(key.text, item.etag);
  });
  return etags;
}

function infoOf({ partitionId, lsn, charge }: ResponseInfo): ResponseInfo {
  return { partitionId, lsn, charge };
}

function newId(random: Random): TransactionId {
  return toHex(Uint8Array.from({ length: 16 }, () => random.below(256)));
}

export function expired(): DomainError {
  return new DomainError('retryWith', 'The transaction has taken too long; nothing was applied.');
}

export function isGone(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'partitionGone';
}

/** Removes the noise of binary fractions from sums of charges. */
function rounded(charge: number): number {
  return Math.round(charge * 100) / 100;
}
