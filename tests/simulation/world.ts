/** A service over storage that stays when the service is closed or crashes. */
import { DomainError, type FakeClock, type Random, seededRandom } from '../../src/base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../src/catalog/index.ts';
import { memoryEngine } from '../../src/engine/memory/index.ts';
import {
  DEFAULT_SETTINGS,
  type HomeApi,
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
  readonly homes?: readonly HomeApi[];
}

export class World {
  readonly #options: WorldOptions;
  readonly #base = memoryEngine();
  #process = new SimulatedProcess();
  #service: Service | undefined;
  readonly #names: Pick<ContainerRecord, 'databaseRid' | 'rid'>[] = [];
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

  /** The first container as a request finds it. */
  get container(): ContainerRecord {
    return this.containers[0] as ContainerRecord;
  }

  /** All containers as a request finds them. */
  get containers(): readonly ContainerRecord[] {
    return this.#names.map(({ databaseRid, rid }) => {
      const record = this.service.containers.findByRid(databaseRid, rid);
      if (record === undefined) throw new Error('the container is gone');
      return record;
    });
  }

  /** @param count - of containers. */
  async create(requestUnits: number, count = 1): Promise<void> {
    await this.open();
    const { rid } = await this.service.databases.create('db', undefined);
    for (let number = 0; number < count; number++)
      this.#names.push(await this.#createContainer(rid, `c${number}`, requestUnits));
  }

  #createContainer(databaseRid: number, id: string, requestUnits: number) {
    return this.service.containers.create(databaseRid, {
      id,
      partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
      home: 'nosql',
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
        homes: this.#options.homes ?? [],
        onMoveStep: async (step) => {
          await process.point(`move.${step}`);
          if (step === 'done') this.resizeCount++;
          else if (random.below(GIVEN_UP) === 0) throw new DomainError('unavailable', 'given up');
        },
        onTransactionStep: (step) => process.point(`transaction.${step}`),
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

  /** Stored entries of all partitions that begin with one of these bytes; after `close`. */
  async entries(prefixes: readonly number[]): Promise<readonly string[]> {
    const found: string[] = [];
    for (const name of await this.stores()) {
      const store = await this.#base.open(name);
      for (const prefix of prefixes) {
        const range = { start: Uint8Array.of(prefix), end: Uint8Array.of(prefix + 1) };
        const { keys } = await store.scanKeys(range, { limit: 10, bytesMax: 1e6 });
        for (const key of keys) found.push(`${name} ${Buffer.from(key, 'latin1').toString('hex')}`);
      }
      await store.close();
    }
    return found;
  }

  /** Names of the stores of partitions. */
  async stores(): Promise<readonly string[]> {
    return (await this.#base.list()).filter((name) => name.includes('/'));
  }
}
