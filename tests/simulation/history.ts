/** One history from one seed: draws what happens next, lives through it, and checks everything at the end. */
import { expect } from 'vitest';
import {
  bytesToText,
  DomainError,
  FakeClock,
  type Random,
  seededRandom,
  textToBytes,
} from '../../src/base/index.ts';
import type { ChangeFeedPosition, Operation } from '../../src/service/index.ts';
import { POINTS, type Point } from './life.ts';
import { FeedReader, Model, type Name, PageReader } from './model.ts';
import { World } from './world.ts';

const KEYS = 9;
const IDS = 5;
/** RU/s; a partition serves a thousand. */
const THROUGHPUTS = [1000, 2000, 3000, 4000];

export interface HistoryReport {
  readonly deaths: readonly Point[];
  readonly reshapes: number;
  readonly items: number;
}

export interface HistoryOptions {
  /** Every death that is drawn by name is one at this point. */
  readonly fatalPoint?: Point;
}

export async function runHistory(
  seed: number,
  steps: number,
  { fatalPoint }: HistoryOptions = {},
): Promise<HistoryReport> {
  const history = new History(seed, fatalPoint);
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
  readonly #fatalPoint: Point | undefined;
  readonly #clock = new FakeClock();
  readonly #world: World;
  readonly #model = new Model();
  readonly #pages = new PageReader();
  readonly #feed = new FeedReader();
  #position: ChangeFeedPosition | undefined;
  #writeCount = 0;
  /** Splits and merges that nobody waits for yet. */
  #background: Promise<unknown>[] = [];

  constructor(seed: number, fatalPoint: Point | undefined) {
    this.#random = seededRandom(seed);
    this.#fatalPoint = fatalPoint;
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
    else if (drawn < 66) await this.#reshape('split');
    else if (drawn < 71) await this.#reshape('merge');
    else if (drawn < 75) await this.#scale();
    else if (drawn < 83) await this.#readPage();
    else if (drawn < 90) await this.#readFeed();
    else if (drawn < 93) await this.#readItems();
    else if (drawn < 96) await this.#passTime();
    else if (drawn < 97) await this.#restart();
    else await this.#doom();
    if (this.#world.life.isDead) await this.#recover();
  }

  async end(): Promise<HistoryReport> {
    this.#world.life.liveOn();
    await this.#settle();
    await this.#check();
    await this.#restart();
    await this.#settle();
    await this.#check();
    while (this.#pages.isStarted) await this.#readPage();
    for (let more = true; more; ) more = await this.#readFeed();
    this.#feed.check(this.#model);
    const { partitions } = this.#world.container;
    await this.#world.close();
    // What was replaced is removed by then.
    const ids = (await this.#world.stores()).map((name) => name.split('/')[1]);
    expect(ids.sort()).toEqual(partitions.map(({ id }) => id).sort());
    return {
      deaths: this.#world.deaths,
      reshapes: this.#world.reshapeCount,
      items: this.#model.items.size,
    };
  }

  /** Writes of different items side by side. */
  async #writes(): Promise<void> {
    const names = new Set(
      Array.from({ length: 1 + this.#random.below(8) }, () => this.#drawName()),
    );
    const writes = [...names].map((name) => this.#write(name));
    await this.#world.life.outlive(Promise.all(writes));
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
    const address = { partitionKey: [pk], id };
    const write =
      kind === 'delete'
        ? ({ kind, ...address } as const)
        : ({ kind, ...address, body: textToBytes(text), ttlSec: this.#ttlOf(text) } as const);
    const { life, service, container } = this.#world;
    const reply = await service.items.write(container, write).catch((error: unknown) => error);
    if (life.isDead) return;
    if (isRefused) {
      const code = kind === 'create' ? 'itemExists' : 'itemNotFound';
      expect(reply, `${kind} ${name}`).toMatchObject({ code });
    } else {
      if (reply instanceof Error) throw reply;
      this.#done([{ name, text: after }], (reply as { sessionToken: string }).sessionToken);
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
          ? { kind: 'delete', id }
          : { kind: 'upsert', id, body: textToBytes(text), ttlSec: this.#ttlOf(text) },
      );
    }
    this.#begun(writes);
    const { life, service, container } = this.#world;
    const reply = await life.outlive(service.items.transact(container, [pk], operations));
    if (reply !== 'died') this.#done(writes, reply.sessionToken);
  }

  /** Death at a point to come: any, or one of a drawn name, with something under way that leads there. */
  async #doom(): Promise<void> {
    const { life } = this.#world;
    if (this.#fatalPoint === undefined && this.#random.below(2) === 0) {
      life.dieAfter(1 + this.#random.below(60));
      return;
    }
    const drawn = POINTS[this.#random.below(POINTS.length)] as Point;
    const point = this.#fatalPoint ?? drawn;
    life.dieAt(point);
    if (point.startsWith('store')) await this.#restart();
    else await this.#reshape(this.#world.container.partitions.length > 3 ? 'merge' : 'split');
  }

  /** Items expire; most of them are then removed. */
  async #passTime(): Promise<void> {
    this.#clock.advance(this.#random.below(100_000));
    for (const name of this.#model.expire(this.#nowSec)) this.#pages.forget(name);
    const { life, service } = this.#world;
    if (this.#random.below(2) === 0) await life.outlive(service.expirySweeper.round());
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

  #done(writes: readonly Write[], sessionToken: string): void {
    for (const { name, text } of writes) {
      this.#model.unknown.delete(name);
      this.#model.set(name, text);
    }
    this.#model.remember(sessionToken);
  }

  async #reshape(kind: 'split' | 'merge'): Promise<void> {
    const { life, service, container } = this.#world;
    const { partitions } = container;
    const at = this.#random.below(partitions.length);
    const ids = partitions.slice(at, at + 2).map(({ id }) => id);
    const work = (
      kind === 'split'
        ? service.resizer.split(container, ids[0] as string)
        : service.resizer.merge(container, ids)
    ).catch((error: unknown) => {
      // One key, the last partition, or it went away meanwhile.
      if (!(error instanceof DomainError)) throw error;
      expect(['invalidInput', 'partitionGone', 'unavailable']).toContain(error.code);
    });
    if (this.#random.below(2) === 0) await life.outlive(work);
    else this.#background.push(life.outlive(work));
  }

  async #scale(): Promise<void> {
    const { life, service } = this.#world;
    const requestUnits = THROUGHPUTS[this.#random.below(THROUGHPUTS.length)] as number;
    const rid = service.offers.list()[0]?.throughput.offerRid ?? 0;
    const setting = { kind: 'manual', requestUnits } as const;
    await life.outlive(service.offers.replace(rid, { setting, migration: undefined }));
  }

  async #readPage(): Promise<void> {
    const { life, service, container } = this.#world;
    const { continuation } = this.#pages;
    if (!this.#pages.isStarted) this.#pages.start(this.#model);
    const page = await life.outlive(
      service.items.feed(container, {
        scope: { kind: 'container' },
        continuation,
        limit: 1 + this.#random.below(6),
        bytesMax: 1e6,
        sessionToken: this.#model.sessionToken,
      }),
    );
    if (page !== 'died') this.#pages.see(page.items, page.continuation);
  }

  /** Whether there may be more. */
  async #readFeed(): Promise<boolean> {
    const { life, service, container } = this.#world;
    const position = this.#position;
    const page = await life.outlive(
      service.changeFeed.read(container, {
        scope: { kind: 'container' },
        mode: 'latest',
        start: position === undefined ? { kind: 'beginning' } : { kind: 'position', position },
        limit: 1 + this.#random.below(10),
        bytesMax: 1e6,
        sessionToken: this.#model.sessionToken,
      }),
    );
    if (page === 'died') return false;
    this.#feed.see(page.changes);
    this.#position = page.position;
    return page.more;
  }

  /** With the session of everything that was acknowledged. */
  async #readItems(): Promise<void> {
    for (let n = 0; n < 5; n++) {
      const name = this.#drawName();
      const text = await this.#stored(name, this.#model.sessionToken);
      if (text === 'died') return;
      expect(text, name).toBe(this.#model.items.get(name));
    }
  }

  async #stored(name: Name, session: string | undefined): Promise<string | undefined | 'died'> {
    const { life, service, container } = this.#world;
    const [pk = '', id = ''] = name.split('/');
    const read = async () => service.items.read(container, { partitionKey: [pk], id }, session);
    const reply = await life.outlive(read());
    if (reply === 'died') return reply;
    return reply.item && bytesToText(reply.item.body);
  }

  async #restart(): Promise<void> {
    await this.#world.close();
    await this.#recover();
  }

  /** Lives again and again until one comes up; then what nobody knew is known. */
  async #recover(): Promise<void> {
    this.#background = [];
    do {
      await this.#world.reincarnate();
      if (this.#random.below(5) === 0) this.#world.life.dieAfter(1 + this.#random.below(4));
    } while ((await this.#world.open()) === 'died');
    this.#world.life.liveOn();
    for (const name of [...this.#model.unknown.keys()])
      this.#model.resolve(name, await this.#stored(name, this.#model.sessionToken));
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#background);
    this.#background = [];
    await this.#world.service.balancer.settled();
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
      // The first may be one under way that was here before.
      await service.expirySweeper.round();
      await service.expirySweeper.round();
      const route = service.containers.routes(container)[at];
      const statistics = route && (await service.containers.statistics(route));
      expect(statistics?.itemCount).toBe(page.items.length);
      for (const { primary, body } of page.items) {
        const { pk, id: item } = JSON.parse(bytesToText(body));
        const read = await service.items.read(
          container,
          { partitionKey: [pk], id: item },
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
