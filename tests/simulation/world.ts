/** A service over storage that stays when the service is closed or crashes. */
import { DomainError, type FakeClock, type Random, seededRandom } from '../../src/base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../src/catalog/index.ts';
import { memoryEngine } from '../../src/engine/memory/index.ts';
import {
  DEFAULT_SETTINGS,
  openService,
  type Service,
  type Settings,
} from '../../src/service/index.ts';
import { crashEngine } from './crash-engine.ts';
import { type Point, SimulatedProcess } from './process.ts';

/** One of so many steps fails, and the move is given up. */
const GIVEN_UP = 40;

export interface WorldOptions {
  readonly random: Random;
  readonly clock: FakeClock;
  readonly settings: Partial<Settings>;
}

export class World {
  readonly #options: WorldOptions;
  readonly #base = memoryEngine();
  #process = new SimulatedProcess();
  #service: Service | undefined;
  #name: Pick<ContainerRecord, 'databaseRid' | 'rid'> | undefined;
  readonly crashes: Point[] = [];
  /** Splits and merges of all processes. */
  resizeCount = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  get process(): SimulatedProcess {
    return this.#process;
  }

  get service(): Service {
    if (this.#service === undefined) throw new Error('no service');
    return this.#service;
  }

  /** The container as a request finds it. */
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
      // Items expire only where they say so themselves.
      defaultTtlSec: -1,
      throughput: { kind: 'manual', requestUnits },
    });
  }

  /** Opens the stored data; may crash while it does. */
  async open(): Promise<'opened' | 'crashed'> {
    const { random, clock, settings } = this.#options;
    const process = this.#process;
    const opened = await process.untilCrash(
      openService({
        engine: crashEngine(this.#base, process, random),
        clock,
        random: seededRandom(random.below(2 ** 31)),
        settings: { ...DEFAULT_SETTINGS, throughputMode: 'report', ...settings },
        finishers: {},
        onMoveStep: async (step) => {
          await process.point(`move.${step}`);
          if (step === 'done') this.resizeCount++;
          else if (random.below(GIVEN_UP) === 0) throw new DomainError('unavailable', 'given up');
        },
        onSplitFailure: ({ error }) => {
          if (!(error instanceof DomainError && error.code === 'unavailable')) throw error;
        },
      }),
    );
    if (opened === 'crashed') return opened;
    this.#service = opened;
    return 'opened';
  }

  /** Closes the service in order; may crash while it does. */
  async close(): Promise<'closed' | 'crashed'> {
    const closed = await this.#process.untilCrash(this.service.close());
    return closed === 'crashed' ? closed : 'closed';
  }

  /** Begins a new process on the same storage. */
  async startProcess(): Promise<void> {
    const { crashedAt } = this.#process;
    if (crashedAt !== undefined) this.crashes.push(crashedAt);
    await this.#base.close();
    this.#process = new SimulatedProcess();
    this.#service = undefined;
  }

  /** Names of the stores of partitions. */
  async stores(): Promise<readonly string[]> {
    return (await this.#base.list()).filter((name) => name.includes('/'));
  }
}
