/** One history from one seed: draws what happens next, does it, and checks everything at the end. */
import { expect } from 'vitest';
import {
  bytesToText,
  DomainError,
  FakeClock,
  type PartitionPosition,
  type Random,
  type SessionToken,
  seededRandom,
  textToBytes,
} from '../../src/base/index.ts';
import type { ChangeFeedPosition, Operation } from '../../src/service/index.ts';
import { FeedReader, Model, type Name, PageReader } from './model.ts';
import { POINTS, type Point } from './process.ts';
import { World } from './world.ts';

const KEYS = 9;
const IDS = 5;
/** RU/s; a partition serves a thousand. */
const THROUGHPUTS = [1000, 2000, 3000, 4000];

export interface HistoryReport {
  readonly crashes: readonly Point[];
  readonly resizes: number;
  readonly items: number;
}

export interface HistoryOptions {
  /** The point of every crash that is armed by name. */
  readonly crashPoint?: Point;
}

export async function runHistory(
  seed: number,
  steps: number,
  { crashPoint }: HistoryOptions = {},
): Promise<HistoryReport> {
  const history = new History(seed, crashPoint);
  await history.begin();
  for (let step = 0; step < steps; step++) await history.step();
  return history.end();
}

interface Write {
  readonly name: Name;
  readonly text: string | undefined;
}

class History {
  readonly #random: Random;
  readonly #crashPoint: Point | undefined;
  readonly #clock = new FakeClock();
  readonly #world: World;
  readonly #model = new Model();
  readonly #pages = new PageReader();
  readonly #feed = new FeedReader();
  #position: ChangeFeedPosition | undefined;
  #writeCount = 0;
  /** Splits and merges that are not awaited yet. */
  #background: Promise<unknown>[] = [];

  constructor(seed: number, crashPoint: Point | undefined) {
    this.#random = seededRandom(seed);
    this.#crashPoint = crashPoint;
    const isSmall = this.#random.below(2) === 0;
    this.#world = new World({
      random: this.#random,
      clock: this.#clock,
      settings: {
        partitionThroughputLimit: 1000,
        mergesAfterScaleDown: this.#random.below(2) === 0,
        logicalPartitionLimit: 2 ** 30,
        ...(isSmall ? { partitionStorageLimit: 2000 + this.#random.below(3000) } : {}),
      },
    });
  }

  begin(): Promise<void> {
    return this.#world.create(1000);
  }

  async step(): Promise<void> {
    const drawn = this.#random.below(100);
    if (drawn < 52) await this.#writes();
    else if (drawn < 58) await this.#transaction();
    else if (drawn < 66) await this.#resize('split');
    else if (drawn < 71) await this.#resize('merge');
    else if (drawn < 75) await this.#scale();
    else if (drawn < 83) await this.#readPage();
    else if (drawn < 90) await this.#readFeed();
    else if (drawn < 93) await this.#readItems();
    else if (drawn < 96) await this.#passTime();
    else if (drawn < 97) await this.#restart();
    else await this.#armCrash();
    if (this.#world.process.hasCrashed) await this.#recover();
  }

  async end(): Promise<HistoryReport> {
    this.#world.process.disarm();
    await this.#finishBackground();
    await this.#check();
    await this.#restart();
    await this.#finishBackground();
    await this.#check();
    while (this.#pages.isStarted) await this.#readPage();
    for (let more = true; more; ) more = await this.#readFeed();
    this.#feed.check(this.#model);
    const { partitions } = this.#world.container;
    await this.#world.close();
    // The stores of replaced partitions are removed by then.
    const ids = (await this.#world.stores()).map((name) => name.split('/')[1]);
    expect(ids.sort()).toEqual(partitions.map(({ id }) => id).sort());
    return {
      crashes: this.#world.crashes,
      resizes: this.#world.resizeCount,
      items: this.#model.items.size,
    };
  }

  /** Concurrent writes of different items. */
  async #writes(): Promise<void> {
    const names = new Set(
      Array.from({ length: 1 + this.#random.below(8) }, () => this.#drawName()),
    );
    const writes = [...names].map((name) => this.#write(name));
    await this.#world.process.untilCrash(Promise.all(writes));
  }

  async #write(name: Name): Promise<void> {
    const [pk = '', id = ''] = name.split('/');
    const isThere = this.#model.items.has(name);
    const kind = (['create', 'upsert', 'upsert', 'replace', 'delete'] as const)[
      this.#random.below(5)
    ] as 'create' | 'upsert' | 'replace' | 'delete';
    const isRefused = kind === 'create' ? isThere : kind !== 'upsert' && !isThere;
    const text = this.#newText(pk, id);
    const after = kind === 'delete' ? undefined : text;
    if (!isRefused) this.#begun([{ name, text: after }]);
    const address = { partitionKey: [pk], rowKey: [id] };
    const write =
      kind === 'delete'
        ? ({ kind, ...address } as const)
        : ({ kind, ...address, body: textToBytes(text), ttlSec: this.#ttlOf(text) } as const);
    const { process, service, container } = this.#world;
    const reply = await service.items.write(container, write).catch((error: unknown) => error);
    if (process.hasCrashed) return;
    if (isRefused) {
      const code = kind === 'create' ? 'itemExists' : 'itemNotFound';
      expect(reply, `${kind} ${name}`).toMatchObject({ code });
    } else {
      if (reply instanceof Error) throw reply;
      this.#done([{ name, text: after }], reply as PartitionPosition);
    }
  }

  async #transaction(): Promise<void> {
    const pk = `k${this.#random.below(KEYS)}`;
    const ids = new Set(
      Array.from({ length: 2 + this.#random.below(3) }, () => `i${this.#random.below(IDS)}`),
    );
    const writes: Write[] = [];
    const operations: Operation[] = [];
    for (const id of ids) {
      const name = `${pk}/${id}`;
      const isDeletion = this.#model.items.has(name) && this.#random.below(3) === 0;
      const text = this.#newText(pk, id);
      writes.push({ name, text: isDeletion ? undefined : text });
      operations.push(
        isDeletion
          ? { kind: 'delete', rowKey: [id] }
          : { kind: 'upsert', rowKey: [id], body: textToBytes(text), ttlSec: this.#ttlOf(text) },
      );
    }
    this.#begun(writes);
    const { process, service, container } = this.#world;
    const reply = await process.untilCrash(service.items.transact(container, [pk], operations));
    if (reply !== 'crashed') this.#done(writes, reply);
  }

  /** Arms a crash at some later point, or at a named one and starts work that reaches it. */
  async #armCrash(): Promise<void> {
    const { process } = this.#world;
    if (this.#crashPoint === undefined && this.#random.below(2) === 0) {
      process.crashAfter(1 + this.#random.below(60));
      return;
    }
    const drawn = POINTS[this.#random.below(POINTS.length)] as Point;
    const point = this.#crashPoint ?? drawn;
    process.crashAt(point);
    if (point.startsWith('store')) await this.#restart();
    else await this.#resize(this.#world.container.partitions.length > 3 ? 'merge' : 'split');
  }

  /** Items expire; most of them are then removed. */
  async #passTime(): Promise<void> {
    this.#clock.advance(this.#random.below(100_000));
    for (const name of this.#model.expire(this.#nowSec)) this.#pages.forget(name);
    const { process, service } = this.#world;
    if (this.#random.below(2) === 0) await process.untilCrash(service.expirySweeper.round());
  }

  get #nowSec(): number {
    return Math.floor(this.#clock.nowMs() / 1000);
  }

  #begun(writes: readonly Write[]): void {
    for (const { name, text } of writes) {
      this.#model.unknown.set(name, text);
      if (text === undefined) this.#pages.forget(name);
    }
  }

  #done(writes: readonly Write[], seen: PartitionPosition): void {
    for (const { name, text } of writes) {
      this.#model.unknown.delete(name);
      this.#model.set(name, text);
    }
    this.#model.remember(seen);
  }

  async #resize(kind: 'split' | 'merge'): Promise<void> {
    const { process, service, container } = this.#world;
    const { partitions } = container;
    const at = this.#random.below(partitions.length);
    const ids = partitions.slice(at, at + 2).map(({ id }) => id);
    const work = (
      kind === 'split'
        ? service.resizer.split(container, ids[0] as string)
        : service.resizer.merge(container, ids)
    ).catch((error: unknown) => {
      // Allowed: a partition of one key, the last partition, or one that is gone by now.
      if (!(error instanceof DomainError)) throw error;
      expect(['invalidInput', 'partitionGone', 'unavailable']).toContain(error.code);
    });
    if (this.#random.below(2) === 0) await process.untilCrash(work);
    else this.#background.push(process.untilCrash(work));
  }

  async #scale(): Promise<void> {
    const { process, service } = this.#world;
    const requestUnits = THROUGHPUTS[this.#random.below(THROUGHPUTS.length)] as number;
    const rid = service.offers.list()[0]?.throughput.offerRid ?? 0;
    const setting = { kind: 'manual', requestUnits } as const;
    await process.untilCrash(service.offers.replace(rid, { setting, migration: undefined }));
  }

  async #readPage(): Promise<void> {
    const { process, service, container } = this.#world;
    const { continuation } = this.#pages;
    if (!this.#pages.isStarted) this.#pages.start(this.#model);
    const page = await process.untilCrash(
      service.items.feed(container, {
        scope: { kind: 'container' },
        continuation,
        limit: 1 + this.#random.below(6),
        bytesMax: 1e6,
        sessionToken: this.#model.sessionToken,
      }),
    );
    if (page !== 'crashed') this.#pages.see(page.items, page.continuation);
  }

  /** Returns whether there may be more. */
  async #readFeed(): Promise<boolean> {
    const { process, service, container } = this.#world;
    const position = this.#position;
    const page = await process.untilCrash(
      service.changeFeed.read(container, {
        scope: { kind: 'container' },
        mode: 'latest',
        start: position === undefined ? { kind: 'beginning' } : { kind: 'position', position },
        limit: 1 + this.#random.below(10),
        bytesMax: 1e6,
        sessionToken: this.#model.sessionToken,
      }),
    );
    if (page === 'crashed') return false;
    this.#feed.see(page.changes);
    this.#position = page.position;
    return page.more;
  }

  /** Reads with the session token of everything that was acknowledged. */
  async #readItems(): Promise<void> {
    for (let n = 0; n < 5; n++) {
      const name = this.#drawName();
      const text = await this.#stored(name, this.#model.sessionToken);
      if (text === 'crashed') return;
      expect(text, name).toBe(this.#model.items.get(name));
    }
  }

  async #stored(name: Name, session: SessionToken): Promise<string | undefined | 'crashed'> {
    const { process, service, container } = this.#world;
    const [pk = '', id = ''] = name.split('/');
    const read = async () =>
      service.items.read(container, { partitionKey: [pk], rowKey: [id] }, session);
    const reply = await process.untilCrash(read());
    if (reply === 'crashed') return reply;
    return reply.item && bytesToText(reply.item.body);
  }

  async #restart(): Promise<void> {
    await this.#world.close();
    await this.#recover();
  }

  /** Starts processes until one opens the data; then reads the outcome of the writes that were not acknowledged. */
  async #recover(): Promise<void> {
    this.#background = [];
    do {
      await this.#world.startProcess();
      if (this.#random.below(5) === 0) this.#world.process.crashAfter(1 + this.#random.below(4));
    } while ((await this.#world.open()) === 'crashed');
    this.#world.process.disarm();
    for (const name of [...this.#model.unknown.keys()])
      this.#model.resolve(name, await this.#stored(name, this.#model.sessionToken));
  }

  async #finishBackground(): Promise<void> {
    await Promise.all(this.#background);
    this.#background = [];
    await this.#world.service.balancer.whenIdle();
  }

  /** Every item once, each in the partition that owns its key; partitions tile the hash space and count right. */
  async #check(): Promise<void> {
    const { service, container } = this.#world;
    const { partitions } = container;
    expect(partitions[0]?.min).toBe('');
    const found: string[] = [];
    for (const [at, { id, max }] of partitions.entries()) {
      expect(max).toBe(partitions[at + 1]?.min ?? 'FF');
      const scope = { kind: 'partition', id } as const;
      const rest = { continuation: undefined, limit: 10_000, bytesMax: 1e9 };
      const page = await service.items.feed(container, { scope, sessionToken: undefined, ...rest });
      found.push(...page.items.map(({ body }) => bytesToText(body)));
      // The first call may join a round that began before.
      await service.expirySweeper.round();
      await service.expirySweeper.round();
      const route = service.containers.routes(container)[at];
      const statistics = route && (await service.containers.statistics(route));
      expect(statistics?.itemCount).toBe(page.items.length);
      for (const { primary, body } of page.items) {
        const { pk, id: item } = JSON.parse(bytesToText(body));
        const read = await service.items.read(
          container,
          { partitionKey: [pk], rowKey: [item] },
          undefined,
        );
        expect(read.item?.primary).toEqual(primary);
        expect(read.partitionId).toBe(id);
      }
    }
    expect(found.sort()).toEqual([...this.#model.items.values()].sort());
  }

  #drawName(): Name {
    return `k${this.#random.below(KEYS)}/i${this.#random.below(IDS)}`;
  }

  #newText(pk: string, id: string): string {
    const text = 'x'.repeat(this.#random.below(150));
    const end =
      this.#random.below(4) === 0 ? this.#nowSec + 1 + this.#random.below(200) : undefined;
    return JSON.stringify({ id, pk, write: this.#writeCount++, text, end });
  }

  #ttlOf(text: string): number {
    const { end } = JSON.parse(text);
    return end === undefined ? 0 : end - this.#nowSec;
  }
}
