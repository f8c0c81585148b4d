// Goal: partitions split and merge under load without an error, a lost or a doubled item.
// Method: writers, readers and paging feeds against a model while partitions are split and merged at random, by seed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  bytesToText,
  DomainError,
  seededRandom,
  systemClock,
  textToBytes,
} from '../../src/base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../src/catalog/index.ts';
import type { Engine } from '../../src/engine/index.ts';
import { memoryEngine } from '../../src/engine/memory/index.ts';
import { sqliteEngine } from '../../src/engine/sqlite/index.ts';
import { DEFAULT_SETTINGS, openService, type Service } from '../../src/service/index.ts';
import { postgresEngine } from '../compat/postgres-engine.ts';
import { isShort } from '../crash/storage.ts';

const ROUNDS = isShort ? 4 : 14;

/** With MESOCOSM_TEST_ENGINE=postgres the tests run on PostgreSQL alone. */
const engines: [string, () => Engine | Promise<Engine>][] =
  process.env.MESOCOSM_TEST_ENGINE === 'postgres'
    ? [['postgres', async () => (await postgresEngine())?.engine as Engine]]
    : [
        ['memory', () => memoryEngine()],
        ['sqlite', () => sqliteEngine({ directory: mkdtempSync(join(directory, 'data-')) })],
      ];

const directory = mkdtempSync(join(tmpdir(), 'mesocosm-split-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const seed = Number(process.env.MESOCOSM_SEED ?? 4);

const open = (engine: Engine): Promise<Service> =>
  openService({
    engine,
    clock: systemClock,
    random: seededRandom(seed),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [],
  });

async function newContainer(service: Service): Promise<ContainerRecord> {
  const database = await service.databases.create('db', undefined);
  return service.containers.create(database.rid, {
    id: 'c',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home: 'nosql',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    throughput: { kind: 'manual', requestUnits: 1000 },
  });
}

/** As a request would: the container as it now is. */
function current(service: Service, container: ContainerRecord): ContainerRecord {
  return service.containers.findByRid(container.databaseRid, container.rid) as ContainerRecord;
}

async function allItems(service: Service, container: ContainerRecord): Promise<string[]> {
  const found: string[] = [];
  let continuation: string | undefined;
  do {
    const page = await service.items.feed(current(service, container), {
      scope: { kind: 'container' },
      continuation,
      limit: 7,
      bytesMax: 1_000_000,
      sessionToken: undefined,
    });
    found.push(...page.items.map(({ body }) => bytesToText(body)));
    continuation = page.continuation;
    // Every request arrives in another turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
  } while (continuation !== undefined);
  return found;
}

describe.each(engines)('on %s', (_, makeEngine) => {
  test(`nothing is lost or doubled while partitions split and merge (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const engine = await makeEngine();
    let service = await open(engine);
    const container = await newContainer(service);
    const model = new Map<string, string>();
    /** Keys that were deleted while a feed was read: created again they have a new place in it. */
    const deleted = new Set<string>();
    let isDone = false;
    const writer = async (name: number): Promise<void> => {
      for (let count = 0; !isDone; count++) {
        const pk = `pk${random.below(30)}`;
        const id = `w${name}-${random.below(40)}`;
        const address = { partitionKey: [pk], rowKey: [id] };
        const text = JSON.stringify({ id, pk, count });
        if (random.below(4) === 0) {
          const write = service.items.write(current(service, container), {
            kind: 'delete',
            ...address,
          });
          const wasThere = await write.then(
            () => true,
            (error: DomainError) => {
              expect(error.code).toBe('itemNotFound');
              return false;
            },
          );
          expect(wasThere).toBe(model.delete(`${pk}/${id}`));
          deleted.add(`${pk}/${id}`);
        } else {
          await service.items.write(current(service, container), {
            kind: 'upsert',
            ...address,
            body: textToBytes(text),
            ttlSec: 0,
          });
          model.set(`${pk}/${id}`, text);
          const read = await service.items.read(current(service, container), address, undefined);
          expect(read.item && bytesToText(read.item.body)).toBe(text);
        }
      }
    };
    const pager = async (): Promise<void> => {
      while (!isDone) {
        deleted.clear();
        const items = await allItems(service, container);
        const keys = items.map((text) => JSON.parse(text)).map(({ pk, id }) => `${pk}/${id}`);
        const seen = new Set<string>();
        const doubled = keys.filter((key) => {
          const isDoubled = seen.has(key) && !deleted.has(key);
          seen.add(key);
          return isDoubled;
        });
        expect(doubled).toEqual([]);
      }
    };
    const requestClass = Promise.all([
      ...Array.from({ length: 6 }, (_, name) => writer(name)),
      pager(),
    ]);
    let splits = 0;
    while (model.size < 50) await new Promise((resolve) => setImmediate(resolve));
    for (let round = 0; round < ROUNDS; round++) {
      const { partitions } = current(service, container);
      const at = random.below(partitions.length);
      try {
        if (partitions.length > 4 && random.below(2) === 0) {
          const pair = partitions.slice(Math.max(0, at - 1), Math.max(0, at - 1) + 2);
          await service.resizer.merge(
            container,
            pair.map(({ id }) => id),
          );
        } else {
          await service.resizer.split(container, partitions[at]?.id as string);
          splits++;
        }
      } catch (error) {
        expect((error as DomainError).message).toMatch(/cannot be split/);
      }
    }
    isDone = true;
    await requestClass;
    expect(splits).toBeGreaterThan(isShort ? 1 : 3);
    expect((await allItems(service, container)).sort()).toEqual([...model.values()].sort());
    await service.close();
    service = await open(engine);
    expect((await allItems(service, container)).sort()).toEqual([...model.values()].sort());
    const stores = (await engine.list()).filter((name) => name.includes('/'));
    expect(stores).toHaveLength(current(service, container).partitions.length);
    await service.close();
    await engine.close();
  });

  test('children tile the range, name their ancestors and go on with the LSN; old ids keep their ranges', async () => {
    const engine = await makeEngine();
    let service = await open(engine);
    const container = await newContainer(service);
    for (let n = 0; n < 40; n++)
      await service.items.write(container, {
        kind: 'create',
        partitionKey: [`pk${n}`],
        rowKey: ['x'],
        body: textToBytes('{}'),
        ttlSec: 0,
      });
    const before = await service.items.read(
      container,
      { partitionKey: ['pk1'], rowKey: ['x'] },
      undefined,
    );
    expect(await service.resizer.split(container, '0')).toEqual(['1', '2']);
    const split = current(service, container);
    expect(split.partitions.map(({ id, parents }) => [id, parents])).toEqual([
      ['1', ['0']],
      ['2', ['0']],
    ]);
    const instances = [container, split].map(({ partitions }) =>
      partitions.map(({ instance }) => instance),
    );
    expect(instances).toEqual([['local'], ['local', 'local']]);
    expect(split.partitions[0]?.min).toBe('');
    expect(split.partitions[0]?.max).toBe(split.partitions[1]?.min);
    expect(split.partitions[1]?.max).toBe('FF');
    const after = await service.items.read(container, { partitionKey: ['pk1'], rowKey: ['x'] }, [
      before,
    ]);
    expect(after.item?.etag).toBe(before.item?.etag);
    expect(after.lsn).toBe(40);
    const [low, high] = split.partitions.map(({ min, max }) => ({ min, max }));
    expect(await service.resizer.merge(container, ['2', '1'])).toEqual(['3']);
    expect(current(service, container).partitions.map(({ id, parents }) => [id, parents])).toEqual([
      ['3', ['0', '1', '2']],
    ]);
    await service.close();
    // Clients may hold the ids of parents over a restart.
    service = await open(engine);
    const merged = current(service, container);
    const whole = { min: '', max: 'FF' };
    const ranges = ['0', '1', '2', '3'].map((id) => service.queries.rangeOf(merged, id));
    expect(ranges.map(({ min, max }) => ({ min, max }))).toEqual([whole, low, high, whole]);
    expect(() => service.queries.rangeOf(merged, '4')).toThrow(DomainError);
    await service.close();
    await engine.close();
  });
});
