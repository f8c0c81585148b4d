/** A service over storage that outlives it: closed and opened, or dead and opened again. */
import { DomainError, type FakeClock, type Random, seededRandom } from '../../src/base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../src/catalog/index.ts';
import { memoryEngine } from '../../src/engine/memory/index.ts';
import {
  DEFAULT_SETTINGS,
  openService,
  type Service,
  type Settings,
} from '../../src/service/index.ts';
import { Life, type Point } from './life.ts';
import { mortalEngine } from './mortal-engine.ts';

/** One step of so many fails, and the move is given up. */
const GIVEN_UP = 40;

export interface WorldOptions {
  readonly random: Random;
  readonly clock: FakeClock;
  readonly settings: Partial<Settings>;
}

export class World {
  readonly #options: WorldOptions;
  readonly #base = memoryEngine();
  #life = new Life();
  #service: Service | undefined;
  #name: Pick<ContainerRecord, 'databaseRid' | 'rid'> | undefined;
  readonly deaths: Point[] = [];
  /** Splits and merges of all lives. */
  reshapeCount = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  get life(): Life {
    return this.#life;
  }

  get service(): Service {
    if (this.#service === undefined) throw new Error('no service');
    return this.#service;
  }

  /** As a request would find it. */
  get container(): ContainerRecord {
    const { databaseRid = 0, rid = 0 } = this.#name ?? {};
    const record = this.service.containers.findByRid(databaseRid, rid);
    if (record === undefined) throw new Error('the container is gone');
    return record;
  }

  async create(requestUnits: number): Promise<void> {
    await this.open();
    const { rid } = await this.service.databases.create('db', undefined);
    this.#name = await this.service.containers.create(rid, {
      id: 'c',
      partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
      encoding: 'json',
      indexingPolicy: DEFAULT_INDEXING_POLICY,
      uniqueKeys: [],
      policies: {},
      // Items live as long as they say.
      defaultTtlSec: -1,
      throughput: { kind: 'manual', requestUnits },
    });
  }

  /** Opens what is stored; may die of it. */
  async open(): Promise<'opened' | 'died'> {
    const { random, clock, settings } = this.#options;
    const life = this.#life;
    const opened = await life.outlive(
      openService({
        engine: mortalEngine(this.#base, life, random),
        clock,
        random: seededRandom(random.below(2 ** 31)),
        settings: { ...DEFAULT_SETTINGS, throughputMode: 'report', ...settings },
        finishers: {},
        onMoveStep: async (step) => {
          await life.point(`move.${step}`);
          if (step === 'done') this.reshapeCount++;
          else if (random.below(GIVEN_UP) === 0) throw new DomainError('unavailable', 'given up');
        },
        onSplitFailure: ({ error }) => {
          if (!(error instanceof DomainError && error.code === 'unavailable')) throw error;
        },
      }),
    );
    if (opened === 'died') return opened;
    this.#service = opened;
    return 'opened';
  }

  /** Ends what is left of the life in peace; may die of it. */
  async close(): Promise<'closed' | 'died'> {
    const closed = await this.#life.outlive(this.service.close());
    return closed === 'died' ? closed : 'closed';
  }

  /** A new life on the same storage. */
  async reincarnate(): Promise<void> {
    const { deathPoint } = this.#life;
    if (deathPoint !== undefined) this.deaths.push(deathPoint);
    await this.#base.close();
    this.#life = new Life();
    this.#service = undefined;
  }

  /** Names of the stores of partitions. */
  async stores(): Promise<readonly string[]> {
    return (await this.#base.list()).filter((name) => name.includes('/'));
  }
}
