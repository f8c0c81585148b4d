/**
 * Fills a container through the service layer, straight into a data directory that no server uses: a million items in
 * a minute. `node bench/seed.ts --data DIR --database D --container C --count N`
 */
import { parseArgs } from 'node:util';
import { nosqlHome } from '../src/api/nosql/index.ts';
import { systemClock, systemRandom } from '../src/base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../src/catalog/index.ts';
import { sqliteEngine } from '../src/engine/sqlite/index.ts';
import { openDataDirectory } from '../src/server/data-directory.ts';
import { DEFAULT_SETTINGS, openService, type Service } from '../src/service/index.ts';
import { itemId, itemText, partitionKeyOf } from './load/item.ts';

/** Enough for full groups, below what a partition lets wait. */
const AT_ONCE = 4000;

export interface OpenData {
  readonly service: Service;
  close(): Promise<void>;
}

/** The service on a data directory, without a server. */
export async function openData(data: string): Promise<OpenData> {
  const directory = openDataDirectory(data);
  const engine = sqliteEngine({ directory: directory.storesPath });
  const service = await openService({
    engine,
    clock: systemClock,
    random: systemRandom,
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [nosqlHome],
  });
  return {
    service,
    async close() {
      await service.close();
      await engine.close();
      directory.release();
    },
  };
}

/** Creates what does not exist of database, container and items 0 to count. */
export async function seed(service: Service, names: Names, count: number): Promise<void> {
  const container = await ensureContainer(service, names);
  const { firstNumber = 0 } = names;
  for (let start = 0; start < count; start += AT_ONCE) {
    const writes: Promise<unknown>[] = [];
    for (let at = start; at < Math.min(count, start + AT_ONCE); at++) {
      const number = firstNumber + at;
      const id = itemId(number);
      const key = partitionKeyOf(number);
      const body = Buffer.from(itemText(id, key));
      writes.push(
        service.items.write(container, {
          kind: 'create',
          partitionKey: [key],
          rowKey: [id],
          body,
          ttlSec: 0,
        }),
      );
    }
    await Promise.all(writes);
  }
}

export interface Names {
  readonly database: string;
  readonly container: string;
  /** Number of the first item; 0 where it is left out. */
  readonly firstNumber?: number;
  /** RU/s of a new container; the least where it is left out. */
  readonly throughput?: number;
  /** Whether a new container indexes every path, as by default, or none. */
  readonly isIndexed?: boolean;
}

async function ensureContainer(service: Service, names: Names): Promise<ContainerRecord> {
  const database =
    service.databases.find(names.database) ??
    (await service.databases.create(names.database, undefined));
  return (
    service.containers.find(database, names.container) ??
    service.containers.create(database.rid, {
      id: names.container,
      partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
      home: 'nosql',
      indexingPolicy:
        names.isIndexed === false
          ? { ...DEFAULT_INDEXING_POLICY, indexingMode: 'none' }
          : DEFAULT_INDEXING_POLICY,
      uniqueKeys: [],
      policies: {},
      ...(names.throughput === undefined
        ? {}
        : { throughput: { kind: 'manual', requestUnits: names.throughput } }),
    })
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      database: { type: 'string' },
      container: { type: 'string' },
      count: { type: 'string' },
    },
  });
  const { data, database, container, count } = values;
  if (data === undefined || database === undefined || container === undefined)
    throw new Error('usage: seed.ts --data DIR --database D --container C --count N');
  const open = await openData(data);
  const startedMs = performance.now();
  await seed(open.service, { database, container }, Number(count));
  await open.close();
  const seconds = (performance.now() - startedMs) / 1000;
  console.log(`${count} items into ${database}/${container} in ${seconds.toFixed(1)} s`);
}

if (import.meta.main) await main();
