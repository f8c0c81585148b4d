/** A service in memory, and queries run over its containers page by page. */
import { rowText } from '../../src/api/nosql/feed.ts';
import { FakeClock, seededRandom, textToBytes } from '../../src/base/index.ts';
import { type ContainerRecord, normalizeIndexingPolicy } from '../../src/catalog/index.ts';
import { memoryEngine } from '../../src/engine/memory/index.ts';
import type { ExecutableQuery, HashRange } from '../../src/query/index.ts';
import {
  type ContainerSpec,
  DEFAULT_SETTINGS,
  openService,
  type QueryPage,
  type Service,
} from '../../src/service/index.ts';
import type { Value, ValueMap } from '../../src/value/index.ts';

/** The rows of a page of the NoSQL API, parsed. */
export function parsedRows<T = Value>({ rows }: Pick<QueryPage, 'rows'>): T[] {
  return rows.map((row) => JSON.parse(rowText(row)));
}

export const EVERYWHERE: readonly HashRange[] = [{ min: '', max: 'FF' }];

type WorldOptions = Partial<Parameters<typeof openService>[0]>;

/** Items of a world have their partition key under `pk`. */
export class World {
  readonly clock: FakeClock;
  readonly service: Service;
  readonly #databaseRid: number;

  private constructor(clock: FakeClock, service: Service, databaseRid: number) {
    this.clock = clock;
    this.service = service;
    this.#databaseRid = databaseRid;
  }

  static async open(seed: number, options: WorldOptions = {}): Promise<World> {
    const world = await World.reopen(seed, options);
    const { rid } = await world.service.databases.create('db', undefined);
    return new World(world.clock, world.service, rid);
  }

  /** On an engine that a world before has used. */
  static async reopen(seed: number, options: WorldOptions): Promise<World> {
    const clock = new FakeClock();
    const service = await openService({
      engine: memoryEngine(),
      clock,
      random: seededRandom(seed),
      settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
      homes: [],
      ...options,
    });
    return new World(clock, service, service.databases.list()[0]?.rid ?? 0);
  }

  newContainer(
    id: string,
    { requestUnits = 1000, ...spec }: Partial<ContainerSpec> & { requestUnits?: number } = {},
  ): Promise<ContainerRecord> {
    return this.service.containers.create(this.#databaseRid, {
      id,
      partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
      home: 'nosql',
      indexingPolicy: normalizeIndexingPolicy({}),
      uniqueKeys: [],
      policies: {},
      throughput: { kind: 'manual', requestUnits },
      ...spec,
    });
  }

  /** The container as it is now, with the partitions of today. */
  current({ databaseRid, rid }: ContainerRecord): ContainerRecord {
    return this.service.containers.findByRid(databaseRid, rid) as ContainerRecord;
  }

  async create(container: ContainerRecord, item: ValueMap, ttlSec = 0): Promise<void> {
    await this.service.items.write(container, {
      kind: 'create',
      partitionKey: [item.pk as Value],
      rowKey: [item.id as string],
      body: textToBytes(JSON.stringify(item)),
      ttlSec,
    });
  }

  async *pages(
    container: ContainerRecord,
    program: ExecutableQuery,
    limit: number,
    ranges = EVERYWHERE,
  ): AsyncGenerator<QueryPage> {
    let continuation: string | undefined;
    do {
      const request = { query: program, ranges, continuation, limit, sessionToken: undefined };
      const page = await this.service.queries.run(container, request);
      yield page;
      continuation = page.continuation;
    } while (continuation !== undefined);
  }

  close(): Promise<void> {
    return this.service.close();
  }
}
