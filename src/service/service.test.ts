// Goal: databases, containers, offers, items and feeds behave the same for every API above and survive a restart.
// Method: the facade on a memory engine (kept over a "restart") and on SQLite files.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  bytesToText,
  type DomainError,
  FakeClock,
  type SessionToken,
  seededRandom,
  textToBytes,
} from '../base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../catalog/index.ts';
import type { Engine } from '../engine/index.ts';
import { memoryEngine } from '../engine/memory/index.ts';
import { sqliteEngine } from '../engine/sqlite/index.ts';
import type { PartitionKeyDefinition, Value } from '../value/index.ts';
import { type ContainerSpec, DEFAULT_SETTINGS } from './index.ts';
import type { Operation } from './items/operations.ts';
import type { FeedScope } from './items/scope-range.ts';
import { openService, type Service } from './service.ts';

const directory = mkdtempSync(join(tmpdir(), 'mesocosm-service-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const PK: PartitionKeyDefinition = { paths: ['/pk'], kind: 'Hash', version: 2 };

function spec(id: string, changes: Partial<ContainerSpec> = {}): ContainerSpec {
  return {
    id,
    partitionKey: PK,
    home: 'nosql',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    ...changes,
  };
}

const manual = (requestUnits: number) => ({ kind: 'manual', requestUnits }) as const;

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: DomainError) => error.code,
  );

describe.each<[string, () => { make: () => Engine }]>([
  [
    'memory',
    () => {
      const engine = memoryEngine();
      return { make: () => engine };
    },
  ],
  [
    'sqlite',
    () => {
      const data = mkdtempSync(join(directory, 'data-'));
      return { make: () => sqliteEngine({ directory: data }) };
    },
  ],
])('service on %s', (_, prepare) => {
  const open = (make: () => Engine): Promise<Service> =>
    openService({
      engine: make(),
      clock: new FakeClock(),
      random: seededRandom(1),
      settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
      homes: [],
    });

  async function withService(use: (service: Service) => Promise<void>): Promise<void> {
    const { make } = prepare();
    const service = await open(make);
    try {
      await use(service);
    } finally {
      await service.close();
    }
  }

  const write = (
    service: Service,
    container: ContainerRecord,
    partitionKey: readonly Value[],
    id: string,
  ) =>
    service.items.write(container, {
      kind: 'create',
      partitionKey,
      rowKey: [id],
      body: textToBytes(JSON.stringify(id)),
      ttlSec: 0,
    });

  async function collect(
    service: Service,
    container: ContainerRecord,
    scope: FeedScope,
    limit: number,
  ): Promise<string[]> {
    const ids: string[] = [];
    let continuation: string | undefined;
    do {
      const page = await service.items.feed(container, {
        scope,
        continuation,
        limit,
        bytesMax: 1_000_000,
        sessionToken: undefined,
      });
      ids.push(...page.items.map(({ body }) => JSON.parse(bytesToText(body))));
      continuation = page.continuation;
    } while (continuation !== undefined);
    return ids;
  }

  test('what was made is there after a restart', async () => {
    const { make } = prepare();
    let service = await open(make);
    const database = await service.databases.create('db', manual(1000));
    const shared = await service.containers.create(database.rid, spec('shared'));
    const own = await service.containers.create(
      database.rid,
      spec('own', { throughput: manual(25_000) }),
    );
    await write(service, own, ['a'], '1');
    const inOwn = { databaseRid: database.rid, containerRid: own.rid, userRid: 0 };
    const inShared = { ...inOwn, containerRid: shared.rid };
    const script = { id: 'p', properties: { body: 'function () {}' } };
    const kept = await service.resources.create(inOwn, 'storedProcedure', script);
    await service.resources.create(inShared, 'trigger', script);
    await service.close();
    service = await open(make);
    expect(service.resources.list(inOwn, 'storedProcedure')).toEqual([kept]);
    expect(service.resources.list(inShared, 'trigger')).toHaveLength(1);
    expect(service.databases.list()).toEqual([database]);
    expect(
      service.containers
        .list(database)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['own', 'shared']);
    expect(service.containers.find(database, 'shared')).toEqual(shared);
    const again = service.containers.find(database, 'own') as ContainerRecord;
    expect(again).toEqual(own);
    const { item } = await service.items.read(
      again,
      { partitionKey: ['a'], rowKey: ['1'] },
      undefined,
    );
    expect(item && bytesToText(item.body)).toBe('"1"');
    await service.containers.delete(shared);
    await service.close();
    service = await open(make);
    expect(service.resources.list(inOwn, 'storedProcedure')).toEqual([kept]);
    expect(service.resources.list(inShared, 'trigger')).toEqual([]);
    await service.close();
  });

  test('names are unique, missing owners are named', () =>
    withService(async (service) => {
      const database = await service.databases.create('db', undefined);
      expect(await codeOf(service.databases.create('db', undefined))).toBe('databaseExists');
      const container = await service.containers.create(database.rid, spec('c'));
      expect(await codeOf(service.containers.create(database.rid, spec('c')))).toBe(
        'containerExists',
      );
      await service.containers.delete(container);
      expect(await codeOf(service.containers.delete(container))).toBe('containerNotFound');
      expect(service.containers.find(database, 'c')).toBeUndefined();
      await service.databases.delete(database.rid);
      expect(await codeOf(service.databases.delete(database.rid))).toBe('databaseNotFound');
      expect(await codeOf(service.containers.create(database.rid, spec('c')))).toBe(
        'databaseNotFound',
      );
    }));

  test('a transaction is charged by its operations, bounded, and applied whole', () =>
    withService(async (service) => {
      const database = await service.databases.create('db', undefined);
      const container = await service.containers.create(database.rid, spec('c'));
      const create = (id: string): Operation => ({
        kind: 'create',
        rowKey: [id],
        body: textToBytes(JSON.stringify(id)),
        ttlSec: 0,
      });
      const transact = (operations: readonly Operation[]) =>
        service.items.transact(container, ['a'], operations);
      const reply = await transact([create('1'), { kind: 'read', rowKey: ['1'] }]);
      expect(reply.outcomes.map(({ kind, charge }) => [kind, charge])).toEqual([
        ['created', 3.71],
        ['read', 1],
      ]);
      expect(reply).toMatchObject({ charge: 4.71, lsn: 1, partitionId: '0' });
      expect(await codeOf(transact([]))).toBe('invalidInput');
      expect(await codeOf(transact(Array.from({ length: 101 }, (_, at) => create(`${at}`))))).toBe(
        'invalidInput',
      );
      const large = { ...create('2'), body: new Uint8Array(2 * 1024 * 1024 + 1) };
      expect(await codeOf(transact([large]))).toBe('tooLarge');
      expect(await codeOf(transact([create('3'), create('1')]))).toBe('itemExists');
      expect(await collect(service, container, { kind: 'container' }, 10)).toEqual(['1']);
    }));

  test('a container made again under the same name is empty', () =>
    withService(async (service) => {
      const database = await service.databases.create('db', undefined);
      const first = await service.containers.create(database.rid, spec('c'));
      await write(service, first, ['a'], '1');
      await service.containers.delete(first);
      const second = await service.containers.create(database.rid, spec('c'));
      expect(await collect(service, second, { kind: 'container' }, 10)).toEqual([]);
      expect(second.rid).not.toBe(first.rid);
    }));

  test.each([
    [400, 1],
    [10_000, 1],
    [10_100, 2],
    [25_000, 3],
    [100_000, 10],
    [250_000, 25],
  ])('%d RU/s make %d partitions that tile the space', (requestUnits, count) =>
    withService(async (service) => {
      const database = await service.databases.create('db', undefined);
      const container = await service.containers.create(
        database.rid,
        spec('c', { throughput: manual(requestUnits) }),
      );
      expect(container.partitions).toHaveLength(count);
      expect(container.partitions.map(({ id }) => id)).toEqual(
        Array.from({ length: count }, (_, index) => `${index}`),
      );
      let end = '';
      for (const { min, max } of container.partitions) {
        expect(min).toBe(end);
        end = max;
      }
      expect(end).toBe('FF');
    }),
  );

  test.each<[Partial<ContainerSpec>, string]>([
    [{ throughput: manual(399) }, 'invalidInput'],
    [{ throughput: manual(450) }, 'invalidInput'],
    [{ throughput: manual(1_000_100) }, 'invalidInput'],
    [{ partitionKey: undefined, throughput: manual(10_000) }, 'ok'],
    [{ partitionKey: undefined, throughput: manual(10_100) }, 'invalidInput'],
    [{ throughput: { kind: 'autoscale', requestUnitsMax: 900 } }, 'invalidInput'],
    [{ throughput: { kind: 'autoscale', requestUnitsMax: 4000 } }, 'ok'],
  ])('throughput %j: %s', (changes, code) =>
    withService(async (service) => {
      const database = await service.databases.create('db', undefined);
      expect(await codeOf(service.containers.create(database.rid, spec('c', changes)))).toBe(code);
    }),
  );

  test('kinds: without a key or below 1,000 RU/s fixed, else unlimited', () =>
    withService(async (service) => {
      const database = await service.databases.create('db', undefined);
      const kindOf = async (changes: Partial<ContainerSpec>, id: string) =>
        (await service.containers.create(database.rid, spec(id, changes))).kind;
      expect(await kindOf({}, 'default')).toBe('fixed');
      expect(await kindOf({ throughput: manual(1000) }, 'thousand')).toBe('unlimited');
      expect(await kindOf({ partitionKey: undefined, throughput: manual(5000) }, 'no key')).toBe(
        'fixed',
      );
    }));

  test('every item is in a feed once, whatever the page size and scope', () =>
    withService(async (service) => {
      const database = await service.databases.create('db', undefined);
      const container = await service.containers.create(
        database.rid,
        spec('c', { throughput: manual(40_000) }),
      );
      const ids = Array.from({ length: 60 }, (_, n) => `item-${n}`);
      await Promise.all(ids.map((id, n) => write(service, container, [`pk-${n % 20}`], id)));
      for (const limit of [1, 7, 100]) {
        const all = await collect(service, container, { kind: 'container' }, limit);
        expect([...all].sort()).toEqual([...ids].sort());
        const byPartition: string[] = [];
        for (const { id } of container.partitions)
          byPartition.push(
            ...(await collect(service, container, { kind: 'partition', id }, limit)),
          );
        expect(byPartition).toEqual(all);
        expect(
          await collect(service, container, { kind: 'partitionKey', values: ['pk-3'] }, limit),
        ).toEqual(['item-23', 'item-3', 'item-43']);
      }
    }));

  test('a hierarchical key is read by any prefix of it', () =>
    withService(async (service) => {
      const database = await service.databases.create('db', undefined);
      const container = await service.containers.create(
        database.rid,
        spec('c', {
          partitionKey: { paths: ['/t', '/u', '/s'], kind: 'MultiHash', version: 2 },
          throughput: manual(30_000),
        }),
      );
      for (const tenant of ['t1', 't2'])
        for (const user of ['u1', 'u2'])
          for (const session of ['s1', 's2'])
            await write(service, container, [tenant, user, session], `${tenant}${user}${session}`);
      const at = (...values: string[]) =>
        collect(service, container, { kind: 'partitionKey', values }, 2);
      expect((await at('t1')).sort()).toEqual(['t1u1s1', 't1u1s2', 't1u2s1', 't1u2s2']);
      expect((await at('t2', 'u1')).sort()).toEqual(['t2u1s1', 't2u1s2']);
      expect(await at('t2', 'u1', 's2')).toEqual(['t2u1s2']);
      expect(await at('t3')).toEqual([]);
    }));

  test.each(['', 'x', 'e30=', Buffer.from('{"v":1,"left":[["FF",""]]}').toString('base64')])(
    'the continuation %j is refused',
    (continuation) =>
      withService(async (service) => {
        const database = await service.databases.create('db', undefined);
        const container = await service.containers.create(database.rid, spec('c'));
        const request = { scope: { kind: 'container' }, limit: 1, bytesMax: 1 } as const;
        await expect(
          service.items.feed(container, { ...request, continuation, sessionToken: undefined }),
        ).rejects.toThrow('Invalid Continuation Token');
      }),
  );

  test('a session token from the future is not available', () =>
    withService(async (service) => {
      const database = await service.databases.create('db', undefined);
      const container = await service.containers.create(database.rid, spec('c'));
      const seen = await write(service, container, ['a'], '1');
      expect(seen).toMatchObject({ partitionId: '0', lsn: 1 });
      const read = async (token: SessionToken) =>
        service.items.read(container, { partitionKey: ['a'], rowKey: ['1'] }, token);
      expect((await read([seen])).item?.lsn).toBe(1);
      expect(await codeOf(read([{ partitionId: '0', lsn: 2 }]))).toBe('sessionNotAvailable');
    }));

  test('a refused write carries the response info of its partition', () =>
    withService(async (service) => {
      const database = await service.databases.create('db', undefined);
      const container = await service.containers.create(database.rid, spec('c'));
      await write(service, container, ['a'], '1');
      const refusal = await write(service, container, ['a'], '1').catch((e: DomainError) => e);
      expect((refusal as DomainError).responseInfo).toEqual({
        partitionId: '0',
        lsn: 1,
        charge: 1,
      });
    }));
});
