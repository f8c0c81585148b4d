/** Keeps one global secondary index up to date: reads the change feed of its source, applies it, stores its position. */
import {
  bytesToText,
  type Clock,
  DomainError,
  PAGE_BYTES_MAX,
  textToBytes,
} from '../../base/index.ts';
import type { ContainerRecord } from '../../catalog/index.ts';
import type { Cluster, Projection } from '../../cluster/index.ts';
import type { Store } from '../../engine/index.ts';
import { requestClassOf } from '../../throughput/index.ts';
import { encodeTuple } from '../../value/index.ts';
import type {
  ChangeFeed,
  ChangeFeedPosition,
  ChangeFeedStart,
} from '../change-feed/change-feed.ts';
import { parseChangePosition, printChangePosition } from '../change-feed/change-feed-token.ts';
import { applyChanges } from './apply-changes.ts';

/** Changes of one page: the position is stored after each page. */
const STEP_CHANGES = 100;
const RETRY_MS = 1000;

/** Background requests are refused before those of clients. */
const BACKGROUND = requestClassOf(true, 0);

interface FollowerOptions {
  readonly index: ContainerRecord;
  /** Both containers as they now are; undefined once one of them is gone. */
  readonly current: () =>
    | { readonly index: ContainerRecord; readonly source: ContainerRecord }
    | undefined;
  readonly projectionOf: (index: ContainerRecord, source: ContainerRecord) => Projection;
  readonly cluster: Cluster;
  readonly changeFeed: ChangeFeed;
  /** Where the position is kept. */
  readonly store: Store;
  readonly clock: Clock;
}

/** The state of an index, for metrics. */
export interface GlobalIndexReport {
  readonly index: ContainerRecord;
  readonly sourceRid: number;
  /** Writes of open partitions of the source that are not in the index yet. */
  readonly lag: number;
  /** Time since the index was last up to date; 0 while it is. */
  readonly lagMs: number;
  readonly appliedCount: number;
  readonly failureCount: number;
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #stopping = new AbortController();
  #position: ChangeFeedPosition | undefined;
  #stored = '';
  #appliedCount = 0;
  #failureCount = 0;
  #caughtUpMs: number;
  #isAwake = true;
  #wake: (() => void) | undefined;
  readonly #done: Promise<void>;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#caughtUpMs = options.clock.nowMs();
    this.#done = this.#run();
  }

  /** Something was written to the source. */
  wake(): void {
    this.#isAwake = true;
    this.#wake?.();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#done;
  }

  report(): GlobalIndexReport {
    const { index, clock } = this.#options;
    const lag = this.#lag();
    return {
      index,
      sourceRid: index.globalIndex?.sourceRid ?? 0,
      lag,
      lagMs: lag === 0 ? 0 : clock.nowMs() - this.#caughtUpMs,
      appliedCount: this.#appliedCount,
      failureCount: this.#failureCount,
    };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#isAwake = false;
      const current = this.#options.current();
      if (current === undefined) break;
      try {
        this.#position ??= await this.#readPosition();
        const isMore = await this.#step(current);
        if (!isMore) await this.#sleep();
      } catch (error) {
        if (signal.aborted) break;
        this.#failureCount++;
        await this.#wait(
          error instanceof DomainError ? (error.retryAfterMs ?? RETRY_MS) : RETRY_MS,
        );
      }
    }
    // A position that stays behind is a few bytes. It is read only if a new container gets the same random rid.
    if (!signal.aborted) await this.#forget().catch(() => undefined);
  }

  /** False where the end of the feed was reached. */
  async #step({
    index,
    source,
  }: {
    index: ContainerRecord;
    source: ContainerRecord;
  }): Promise<boolean> {
    const { changeFeed, cluster, projectionOf, clock } = this.#options;
    const start: ChangeFeedStart =
      this.#position === undefined
        ? { kind: 'beginning' }
        : { kind: 'position', position: this.#position };
    const page = await changeFeed.read(source, {
      scope: { kind: 'container' },
      mode: 'latestAndDeleted',
      start,
      limit: STEP_CHANGES,
      bytesMax: PAGE_BYTES_MAX,
      requestClass: BACKGROUND,
    });
    if (page.changes.length > 0) {
      const projection = projectionOf(index, source);
      await applyChanges({ cluster, index, projection, requestClass: BACKGROUND }, page.changes);
      this.#appliedCount += page.changes.length;
    }
    await this.#keep(page.position);
    if (!page.more) this.#caughtUpMs = clock.nowMs();
    return page.more;
  }

  async #readPosition(): Promise<ChangeFeedPosition | undefined> {
    const stored = await this.#options.store.get(positionKey(this.#options.index));
    if (stored === undefined) return undefined;
    this.#stored = bytesToText(stored);
    return parseChangePosition(this.#stored);
  }

  async #keep(position: ChangeFeedPosition): Promise<void> {
    this.#position = position;
    const text = printChangePosition(position);
    if (text === this.#stored) return;
    this.#stored = text;
    const key = positionKey(this.#options.index);
    await this.#options.store.commit({ puts: [{ key, value: textToBytes(text) }] });
  }

  async #forget(): Promise<void> {
    await this.#options.store.commit({ deletes: [positionKey(this.#options.index)] });
  }

  #lag(): number {
    const current = this.#options.current();
    if (current === undefined) return 0;
    const { cluster } = this.#options;
    let lag = 0;
    for (const { handle, min, max } of cluster.routing(current.source).routes) {
      const lsn = handle.partition?.lsn ?? 0;
      let seen = lsn;
      for (const part of this.#position ?? [])
        if (Buffer.compare(part.min, max) < 0 && Buffer.compare(min, part.max) < 0)
          seen = Math.min(seen, part.start.kind === 'after' ? part.start.lsn : 0);
      lag += this.#position === undefined ? lsn : lsn - seen;
    }
    return lag;
  }

  async #sleep(): Promise<void> {
    if (this.#isAwake || this.#stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stopping.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

function positionKey({ databaseRid, rid }: ContainerRecord): Uint8Array {
  return encodeTuple(['globalIndex', databaseRid, rid]);
}
