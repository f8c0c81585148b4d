/**
 * Ends transactions over partitions that their process or their partitions left behind: asks the coordinator's
 * partition for the outcome and applies or drops what is prepared.
 */
import { type Clock, DomainError } from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type {
  Effect,
  Partition,
  PreparedTransaction,
  TransactionId,
} from '../../partition/index.ts';
import type { ContainerName } from '../container/container-name.ts';
import type { PartitionRegistry } from '../routing/partition-registry.ts';
import type { Router } from '../routing/router.ts';
import type { Route } from '../routing/routing-map.ts';
import { decodeLocator, type PartitionLocator } from './partition-locator.ts';

/**
 * A partition that is opened serves after so many steps of this time, although the outcome of a transaction is not known
 * yet. What is known is applied first, however long that takes: a client would see a part of it. Steps are counted instead
 * of the time, since a process that was held up for seconds has not asked for that long: a pause is one step.
 */
const RECOVERY_STEPS = 50;
const RECOVERY_STEP_MS = 100;
/** What could not be resolved is tried again after this time. */
const RETRY_MS = 1000;

interface ResolverOptions {
  readonly router: Router;
  readonly registry: PartitionRegistry;
  readonly clock: Clock;
  /** A container as it now is; undefined where it is gone. */
  readonly current: (container: ContainerName) => ContainerRecord | undefined;
}

interface Resolved {
  readonly route: Route;
  readonly partition: Partition;
  readonly effects: readonly Effect[];
}

export class TransactionResolver {
  readonly #options: ResolverOptions;
  /** Transactions that this process is committing, which resolve themselves, and whether their outcome is stored. */
  readonly #live = new Map<TransactionId, boolean>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isClosed = false;

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  begin(id: TransactionId): void {
    this.#live.set(id, false);
  }

  /** The outcome of a live transaction is stored. */
  committed(id: TransactionId): void {
    if (this.#live.has(id)) this.#live.set(id, true);
  }

  end(id: TransactionId): void {
    this.#live.delete(id);
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** What a partition has to do before it serves; undefined where nothing is left of transactions. Does not reject. */
  recover(partition: Partition): Promise<void> | undefined {
    if (partition.transactions.state.isEmpty) return undefined;
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const unknown = new Set<TransactionId>();
    let steps = 0;
    const timer = setInterval(() => {
      if (++steps < RECOVERY_STEPS || unknown.size === 0) return;
      clearInterval(timer);
      resolve();
    }, RECOVERY_STEP_MS);
    const recovery = this.#recover(partition, unknown).finally(() => clearInterval(timer));
    return Promise.race([recovery, isLate]);
  }

  /** @param unknown - holds the transactions whose outcome is being asked for. */
  async #recover(partition: Partition, unknown = new Set<TransactionId>()): Promise<void> {
    const left = await Promise.allSettled([
      ...[...partition.transactions.state.prepared].map((transaction) =>
        this.#resolveHere(partition, transaction, unknown),
      ),
      ...[...partition.transactions.state.outcomes].map(([id]) => this.#finish(partition, id)),
    ]);
    if (left.some(({ status }) => status === 'rejected'))
      this.#later(() => (partition.hasFailed ? undefined : this.#recover(partition)));
  }

  async #resolveHere(
    partition: Partition,
    { id, coordinator, deadlineMs }: PreparedTransaction,
    unknown: Set<TransactionId>,
  ): Promise<void> {
    const isCommittedHere = this.#live.get(id);
    if (isCommittedHere !== undefined) {
      // The partition failed in the second phase: it must not serve without what the client will hear is committed.
      if (isCommittedHere) await partition.transactions.resolve(id, true);
      return;
    }
    unknown.add(id);
    const isCommitted = await this.isCommitted(id, decodeLocator(coordinator), deadlineMs);
    unknown.delete(id);
    await partition.transactions.resolve(id, isCommitted);
  }

  /** Resolves a transaction at all participants, and forgets its outcome. */
  async #finish(partition: Partition, id: TransactionId): Promise<void> {
    const { state } = partition.transactions;
    const outcome = new Map(state.outcomes).get(id);
    if (outcome === undefined || this.#live.has(id)) return;
    if (outcome.isCommitted)
      await Promise.all(
        outcome.participants.map((locator) => this.resolve(id, decodeLocator(locator), true)),
      );
    else if (outcome.deadlineMs > this.#options.clock.nowMs()) return;
    state.forget(id);
  }

  /** Whether a transaction is committed; where it is not, it never will be. A container that is gone has no outcome. */
  async isCommitted(
    id: TransactionId,
    coordinator: PartitionLocator,
    deadlineMs: number,
  ): Promise<boolean> {
    const { epk } = coordinator;
    const aborted = { isCommitted: false, deadlineMs, epk, participants: [] };
    const ask = ({ transactions }: Partition) => transactions.isCommitted(id, aborted);
    return (await this.#at(coordinator, ask)) ?? false;
  }

  /** Applies or drops what a partition has prepared. Undefined where its container is gone. */
  resolve(
    id: TransactionId,
    locator: PartitionLocator,
    isCommitted: boolean,
  ): Promise<Resolved | undefined> {
    return this.#at(locator, async (partition, route) => ({
      route,
      partition,
      effects: await partition.transactions.resolve(id, isCommitted),
    }));
  }

  /** Resolves in the background what could not be resolved at once. */
  resolveLater(
    id: TransactionId,
    coordinator: PartitionLocator,
    participants: readonly PartitionLocator[],
    deadlineMs: number,
  ): void {
    this.#later(async () => {
      const isCommitted = await this.isCommitted(id, coordinator, deadlineMs);
      await Promise.all(participants.map((locator) => this.resolve(id, locator, isCommitted)));
      if (isCommitted) await this.forget(id, coordinator);
    });
  }

  /** All participants have resolved the transaction. */
  async forget(id: TransactionId, coordinator: PartitionLocator): Promise<void> {
    await this.#at(coordinator, async ({ transactions }) => transactions.state.forget(id));
  }

  #later(work: () => Promise<unknown> | undefined): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work()?.catch(() => this.#later(work));
    }, RETRY_MS);
    this.#timers.add(timer.unref());
  }

  /** Does something at the partition of a locator, again where the partition was replaced meanwhile. */
  async #at<T>(
    { container: name, epk }: PartitionLocator,
    act: (partition: Partition, route: Route) => Promise<T>,
  ): Promise<T | undefined> {
    const { current, router, registry } = this.#options;
    const container = current(name);
    if (container === undefined) return undefined;
    const attempt = async (route: Route) => act(await registry.recovering(route.handle), route);
    try {
      return await attempt(router.routing(container).forKey(epk));
    } catch (error) {
      const isGone = error instanceof DomainError && error.code === 'partitionGone';
      if (isGone && current(name) === undefined) return undefined;
      return router.retryForKey(error, container, epk, attempt);
    }
  }
}
