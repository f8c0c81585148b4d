/**
 * The latest splits and merges, for operators and metrics. Those that have ended are kept in a store.
 *
 * Stored form: key `resize` · database rid · container rid · time of its start · first child → Resize as JSON.
 */
import { type Bytes, bytesToText, type Clock, keyAfter, textToBytes } from '../../base/index.ts';
import type { Store } from '../../engine/index.ts';
import { encodeTuple } from '../../value/index.ts';
import type { ContainerName } from '../container/container-name.ts';
import type { MoveStep } from './move.ts';

/** Entries of one container: all that a person looks at, and days of a busy one. */
const ENTRIES_MAX = 1000;

const PAGE = { limit: 1000, bytesMax: 16 * 1024 * 1024 };

/** Why partitions were replaced; `hand`: an operator asked for it. */
export type ResizeCause = 'storage' | 'throughput' | 'heat' | 'hand';

export interface Resize {
  readonly kind: 'split' | 'merge';
  readonly container: ContainerName;
  readonly parents: readonly string[];
  readonly children: readonly string[];
  readonly cause: ResizeCause;
  readonly startedMs: number;
  readonly state: 'running' | 'done' | 'failed';
  /** The step it is at, or failed at. */
  readonly step: MoveStep | 'begin';
  /** Undefined while the resize runs. */
  readonly durationMs: number | undefined;
  /** How long writers waited: from the fence to the commit. */
  readonly pauseMs: number | undefined;
  /** Bytes of items that were copied; undefined while it runs or where it failed. */
  readonly bytesCopied?: number | undefined;
  readonly error: string | undefined;
}

type ResizeTotals = Readonly<Record<Resize['kind'], KindTotals>>;

interface KindTotals {
  done: number;
  failed: number;
  durationMs: number;
  pauseMs: number;
}

type ResizeStart = Pick<Resize, 'kind' | 'container' | 'parents' | 'children' | 'cause'>;

export class ResizeLog {
  readonly #clock: Clock;
  readonly #store: Store | undefined;
  #kept: Promise<unknown> = Promise.resolve();
  readonly #entries = new Map<string, Resize[]>();
  /** Since the process began. */
  readonly totals: ResizeTotals = { split: newTotals(), merge: newTotals() };

  constructor(clock: Clock, store?: Store) {
    this.#clock = clock;
    this.#store = store;
  }

  /** Reads what is stored; entries of containers that are gone are forgotten. */
  static async open(
    clock: Clock,
    store: Store | undefined,
    current: (container: ContainerName) => object | undefined,
  ): Promise<ResizeLog> {
    const log = new ResizeLog(clock, store);
    if (store !== undefined) await log.#load(store, current);
    return log;
  }

  /** Resolves when everything so far is stored. */
  async whenStored(): Promise<void> {
    await this.#kept;
  }

  /** Newest first. */
  list(container: ContainerName): readonly Resize[] {
    return (this.#entries.get(nameOf(container)) ?? []).toReversed();
  }

  async #load(
    store: Store,
    current: (container: ContainerName) => object | undefined,
  ): Promise<void> {
    const prefix = encodeTuple([PREFIX]);
    let start: Bytes = prefix;
    const end = Uint8Array.from([...prefix, 0xff]);
    const gone: Bytes[] = [];
    for (let more = true; more; ) {
      const page = await store.scan({ start, end }, PAGE);
      for (const { key, value } of page.entries) {
        const entry: Resize = JSON.parse(bytesToText(value));
        if (current(entry.container) === undefined) gone.push(key);
        else this.#push(entry);
        start = keyAfter(key);
      }
      more = page.more;
    }
    if (gone.length > 0) await store.commit({ deletes: gone });
  }

  #push(entry: Resize): void {
    const name = nameOf(entry.container);
    const entries = this.#entries.get(name) ?? [];
    this.#entries.set(name, entries);
    entries.push(entry);
    const forgotten = entries.length > ENTRIES_MAX ? entries.shift() : undefined;
    if (forgotten !== undefined) this.#keep({ deletes: [keyOf(forgotten)] });
  }

  /** The log is no part of the data: where it cannot be written, the partitions are as they should be. */
  #keep(batch: Parameters<Store['commit']>[0]): void {
    const kept = this.#store?.commit(batch).catch(() => undefined);
    if (kept !== undefined) this.#kept = Promise.all([this.#kept, kept]);
  }

  begin(start: ResizeStart): ResizeRecorder {
    const { databaseRid, rid } = start.container;
    let entry: Resize = {
      ...start,
      container: { databaseRid, rid },
      startedMs: this.#clock.nowMs(),
      state: 'running',
      step: 'begin',
      durationMs: undefined,
      pauseMs: undefined,
      error: undefined,
    };
    let fencedMs: number | undefined;
    this.#push(entry);
    const update = (change: Partial<Resize>): void => {
      const next = { ...entry, ...change };
      const entries = this.#entries.get(nameOf(entry.container)) ?? [];
      const at = entries.indexOf(entry);
      if (at >= 0) entries[at] = next;
      entry = next;
    };
    const end = (change: Partial<Resize>): void => {
      const nowMs = this.#clock.nowMs();
      const durationMs = nowMs - entry.startedMs;
      const pauseMs = entry.pauseMs ?? (fencedMs === undefined ? undefined : nowMs - fencedMs);
      update({ ...change, durationMs, pauseMs });
      this.#keep({ puts: [{ key: keyOf(entry), value: textToBytes(JSON.stringify(entry)) }] });
      const totals = this.totals[entry.kind];
      totals[entry.state === 'done' ? 'done' : 'failed']++;
      totals.durationMs += durationMs;
      totals.pauseMs += pauseMs ?? 0;
    };
    return {
      step: (step) => {
        if (step === 'fence') fencedMs = this.#clock.nowMs();
        const isOver = step === 'done' && fencedMs !== undefined;
        update(isOver ? { step, pauseMs: this.#clock.nowMs() - (fencedMs ?? 0) } : { step });
      },
      done: (bytesCopied) => end({ state: 'done', bytesCopied }),
      failed: (error) =>
        end({ state: 'failed', error: error instanceof Error ? error.message : String(error) }),
    };
  }
}

export interface ResizeRecorder {
  step(step: MoveStep): void;
  done(bytesCopied: number): void;
  failed(error: unknown): void;
}

const PREFIX = 'resize';

function nameOf({ databaseRid, rid }: ContainerName): string {
  return `${databaseRid}/${rid}`;
}

function keyOf({ container, startedMs, children }: Resize): Bytes {
  const { databaseRid, rid } = container;
  return encodeTuple([PREFIX, databaseRid, rid, startedMs, children[0] ?? '']);
}

function newTotals(): KindTotals {
  return { done: 0, failed: 0, durationMs: 0, pauseMs: 0 };
}
