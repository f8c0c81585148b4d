// Goal: transactions over partitions and containers are applied whole or not at all, and as if one after the other.
// Method: the facade on memory (at once and later) and SQLite; commits are stopped at their steps while others read and write.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  bytesToText,
  type DomainError,
  FakeClock,
  seededRandom,
  textToBytes,
} from '../../base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../catalog/index.ts';
import type { TransactionStep } from '../../cluster/index.ts';
import { asyncEngine } from '../../engine/async-engine.ts';
import type { Engine } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { sqliteEngine } from '../../engine/sqlite/index.ts';
import type { Item } from '../../partition/index.ts';
import { ANYTHING, type ExecutableQuery } from '../../query/index.ts';
import type { ValueMap } from '../../value/index.ts';
import { DEFAULT_SETTINGS } from '../index.ts';
import { openService, type Service } from '../service.ts';
import type { Transaction } from './transactions.ts';

const directory = mkdtempSync(join(tmpdir(), 'mesocosm-transactions-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const ENGINES: readonly [string, () => Engine][] = [
  ['memory', memoryEngine],
  ['memory, later', () => asyncEngine(memoryEngine())],
  ['sqlite', () => sqliteEngine({ directory: mkdtempSync(join(directory, 'data-')) })],
];

const ALL = [{ min: '', max: 'FF' }];
const OPTIONS = { limit: 1000, continuation: undefined, sessionToken: undefined };

/** The numbers of items with at least this number. */
function numbersFrom(least: number): ExecutableQuery {
  return {
    condition: ANYTHING,
    shape: {
      kind: 'streaming',
      rowsOf: (item) => {
        const { n } = item.value() as { n: number };
        return n < least ? [] : [{ value: n, keys: [] }];
      },
      order: undefined,
      skip: 0,
      take: Number.POSITIVE_INFINITY,
    },
  };
}

class Kit {
  readonly service: Service;
  readonly a: ContainerRecord;
  readonly b: ContainerRecord;
  readonly clock: FakeClock;
  /** Called at each step of a commit over partitions. */
  onStep: (step: TransactionStep) => void | Promise<void> = () => undefined;

  constructor(service: Service, a: ContainerRecord, b: ContainerRecord, clock: FakeClock) {
    this.service = service;
    this.a = a;
    this.b = b;
    this.clock = clock;
  }

  begin(): Transaction {
    return this.service.transactions.begin({});
  }

  put(container: ContainerRecord, pk: string, n: number, id = 'x') {
    return this.service.items.write(container, upsert(pk, n, id));
  }

  async number(container: ContainerRecord, pk: string, id = 'x'): Promise<number | undefined> {
    const { item } = await this.service.items.read(container, at(pk, id), undefined);
    return numberOf(item);
  }

  async numbers(container: ContainerRecord, least = 0): Promise<readonly number[]> {
    const { rows } = await this.service.queries.run(container, {
      query: numbersFrom(least),
      ranges: ALL,
      ...OPTIONS,
    });
    return rows.map(({ value }) => value as number).sort((x, y) => x - y);
  }

  current({ databaseRid, rid }: ContainerRecord): ContainerRecord {
    return this.service.containers.findByRid(databaseRid, rid) as ContainerRecord;
  }
}

const at = (pk: string, id = 'x') => ({ partitionKey: [pk], rowKey: [id] });

function upsert(pk: string, n: number, id = 'x', more: ValueMap = {}) {
  const body = textToBytes(JSON.stringify({ id, pk, n, ...more }));
  return { kind: 'upsert' as const, ...at(pk, id), body, ttlSec: 0 };
}

function numberOf(item: Item | undefined): number | undefined {
  return item && (JSON.parse(bytesToText(item.body)) as { n: number }).n;
}

async function withKit(engine: Engine, use: (kit: Kit) => Promise<void>): Promise<void> {
  const clock = new FakeClock();
  const kits: Kit[] = [];
  const service = await openService({
    engine,
    clock,
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report', partitionThroughputLimit: 1000 },
    homes: [],
    onTransactionStep: (step) => kits[0]?.onStep(step),
  });
  try {
    const database = await service.databases.create('d', undefined);
    const create = (id: string, uniqueKeys: readonly { paths: string[] }[]) =>
      service.containers.create(database.rid, {
        id,
        partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
        home: 'nosql',
        indexingPolicy: DEFAULT_INDEXING_POLICY,
        uniqueKeys,
        policies: {},
        throughput: { kind: 'manual', requestUnits: 4000 },
      });
    const kit = new Kit(
      service,
      await create('a', []),
      await create('b', [{ paths: ['/u'] }]),
      clock,
    );
    expect(kit.a.partitions).toHaveLength(4);
    kits.push(kit);
    await use(kit);
  } finally {
    await service.close();
    await engine.close();
  }
}

const code = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: DomainError) => error.code,
  );

/** Keys in all partitions. */
const KEYS = Array.from({ length: 12 }, (_, number) => `k${number}`);

describe.each(ENGINES)('on %s', (_, engine) => {
  test('reads see own writes, others see all of them after the commit', () =>
    withKit(engine(), async (kit) => {
      await kit.put(kit.a, 'k1', 10);
      const open = kit.begin();
      for (const key of KEYS) await open.write(kit.a, upsert(key, 5));
      await open.write(kit.b, upsert('k1', 7));
      await open.write(kit.a, { kind: 'delete', ...at('k2') });
      expect((await open.readMany(kit.a, [at('k1'), at('k2'), at('k3')])).map(numberOf)).toEqual([
        5,
        undefined,
        5,
      ]);
      const page = await open.query(kit.a, { query: numbersFrom(0), ranges: ALL, ...OPTIONS });
      expect(page.rows.map(({ value }) => value)).toEqual(Array(11).fill(5));
      expect(await kit.numbers(kit.a)).toEqual([10]);
      const { charge } = await open.commit();
      expect(charge).toBeGreaterThan(60);
      expect(await kit.numbers(kit.a)).toEqual(Array(11).fill(5));
      expect(await kit.number(kit.b, 'k1')).toBe(7);
      expect(kit.service.transactions.openCount).toBe(0);
    }));

  test('a refused operation and an abort leave nothing', () =>
    withKit(engine(), async (kit) => {
      await kit.put(kit.a, 'k1', 10);
      const open = kit.begin();
      await open.write(kit.a, upsert('k2', 5));
      const create = { ...upsert('k1', 1), kind: 'create' as const };
      expect(await code(open.write(kit.a, create))).toBe('itemExists');
      await open.abort();
      expect(await code(open.commit())).toBe('retryWith');
      expect(await kit.numbers(kit.a)).toEqual([10]);
    }));

  test('a commit is refused where others wrote what was read, and only there', () =>
    withKit(engine(), async (kit) => {
      for (const key of KEYS) await kit.put(kit.a, key, 1);
      for (const changed of ['k1', 'k4', 'k9']) {
        const open = kit.begin();
        for (const key of KEYS) await open.read(kit.a, at(key));
        await open.write(kit.a, upsert('k0', 2));
        await open.write(kit.b, upsert('k0', 2));
        await kit.put(kit.a, changed, 1);
        expect(await code(open.commit())).toBe('retryWith');
      }
      const open = kit.begin();
      await open.read(kit.a, at('k1'));
      for (const key of KEYS) await open.write(kit.b, upsert(key, 3));
      await kit.put(kit.a, 'k1', 5, 'another item of the same key');
      expect(await code(open.commit())).toBe('done');
      expect(await kit.numbers(kit.b)).toEqual(Array(12).fill(3));
      expect(await kit.number(kit.a, 'k0')).toBe(1);
    }));

  test('two that read what the other writes do not both commit', () =>
    withKit(engine(), async (kit) => {
      await kit.put(kit.a, 'k1', 1);
      await kit.put(kit.b, 'k2', 1);
      const [first, second] = [kit.begin(), kit.begin()];
      for (const open of [first, second]) {
        await open.read(kit.a, at('k1'));
        await open.read(kit.b, at('k2'));
      }
      await first.write(kit.a, upsert('k1', 0));
      await second.write(kit.b, upsert('k2', 0));
      const ends = await Promise.all([code(first.commit()), code(second.commit())]);
      expect(ends.filter((end) => end === 'done').length).toBeLessThan(2);
      expect(ends).toContain('retryWith');
    }));

  test('a query is valid until an item that it concerns is written', () =>
    withKit(engine(), async (kit) => {
      for (const key of KEYS) await kit.put(kit.a, key, 1);
      const attempt = async (other: () => Promise<unknown>) => {
        const open = kit.begin();
        await open.query(kit.a, { query: numbersFrom(5), ranges: ALL, ...OPTIONS });
        await open.write(kit.a, upsert('k1', 6));
        await open.write(kit.b, upsert('k1', 6));
        await other();
        return code(open.commit());
      };
      expect(await attempt(() => kit.put(kit.a, 'k3', 2))).toBe('done');
      expect(await attempt(() => kit.put(kit.a, 'k3', 9))).toBe('retryWith');
      expect(await attempt(() => kit.put(kit.a, 'k3', 2))).toBe('retryWith');
      expect(await attempt(() => kit.put(kit.b, 'k9', 9))).toBe('done');
    }));

  test('while it is prepared others read the state before, and writers wait', () =>
    withKit(engine(), async (kit) => {
      for (const key of KEYS) await kit.put(kit.a, key, 1);
      const open = kit.begin();
      for (const key of KEYS) await open.write(kit.a, upsert(key, 2));
      let writes: Promise<unknown>[] = [];
      kit.onStep = async (step) => {
        if (step !== 'prepared') return;
        expect(await kit.numbers(kit.a)).toEqual(Array(12).fill(1));
        writes = KEYS.map((key) => kit.put(kit.a, key, 3));
        // Items that nobody holds are written at once.
        await kit.put(kit.a, 'other', 1);
        const other = kit.begin();
        await other.write(kit.a, upsert('other', 5));
        await other.write(kit.b, upsert('other', 5));
        kit.onStep = () => undefined;
        await other.commit();
      };
      const end = await code(open.commit());
      await Promise.all(writes);
      // The coordinator holds nothing: its items may be written before it decides.
      expect(['done', 'retryWith']).toContain(end);
      expect(await kit.numbers(kit.a)).toEqual([...Array(12).fill(3), 5]);
    }));

  test('after the outcome others may see one partition before another', () =>
    withKit(engine(), async (kit) => {
      for (const key of KEYS) await kit.put(kit.a, key, 1);
      const open = kit.begin();
      for (const key of KEYS) await open.write(kit.a, upsert(key, 2));
      let seen: readonly number[] = [];
      kit.onStep = async (step) => {
        if (step === 'committed') seen = await kit.numbers(kit.a);
      };
      await open.commit();
      expect(new Set(seen)).toEqual(new Set([1, 2]));
      expect(await kit.numbers(kit.a)).toEqual(Array(12).fill(2));
    }));

  test('splits and merges wait for prepared transactions', () =>
    withKit(engine(), async (kit) => {
      for (const key of KEYS) await kit.put(kit.a, key, 1);
      for (const stop of ['prepare', 'prepared', 'committed'] as const) {
        const open = kit.begin();
        for (const key of KEYS) await open.write(kit.a, upsert(key, 2));
        const { service } = kit;
        const resizes: Promise<unknown>[] = [];
        kit.onStep = async (step) => {
          if (step !== stop) return;
          kit.onStep = () => undefined;
          const { partitions } = kit.current(kit.a);
          const ids = partitions.map(({ id }) => id);
          resizes.push(
            service.resizer.split(kit.a, ids[0] as string).catch(() => undefined),
            service.resizer.merge(kit.a, ids.slice(1, 3)).catch(() => undefined),
          );
          for (let turn = 0; turn < 50; turn++)
            await new Promise((resolve) => setImmediate(resolve));
        };
        expect(await code(open.commit())).toBe('done');
        await Promise.all(resizes);
        expect(await kit.numbers(kit.current(kit.a))).toEqual(Array(12).fill(2));
        await Promise.all(KEYS.map((key) => kit.put(kit.current(kit.a), key, 1)));
      }
    }));

  test('unique keys hold, and a violation leaves nothing', () =>
    withKit(engine(), async (kit) => {
      await kit.service.items.write(kit.b, upsert('k1', 1, 'x', { u: 'taken' }));
      const open = kit.begin();
      const taken = upsert('k1', 2, 'y', { u: 'taken' });
      expect(await code(open.write(kit.b, taken))).toBe('uniqueKeyViolation');
      await open.write(kit.b, upsert('k1', 2, 'y', { u: 'later' }));
      for (const key of KEYS) await open.write(kit.a, upsert(key, 2));
      await kit.service.items.write(kit.b, upsert('k1', 1, 'w', { u: 'later' }));
      expect(await code(open.commit())).toBe('uniqueKeyViolation');
      expect(await kit.numbers(kit.a)).toEqual([]);
      await kit.service.items.write(kit.b, { kind: 'delete', ...at('k1', 'w') });
      const next = kit.begin();
      await next.write(kit.b, upsert('k1', 2, 'x', { u: 'free' }));
      await next.write(kit.b, upsert('k1', 2, 'y', { u: 'taken' }));
      for (const key of KEYS) await next.write(kit.a, upsert(key, 2));
      expect(await code(next.commit())).toBe('done');
      expect(await kit.numbers(kit.b)).toEqual([2, 2]);
      const last = { ...upsert('k1', 2, 'z', { u: 'taken' }) };
      expect(await code(kit.service.items.write(kit.b, last))).toBe('uniqueKeyViolation');
    }));
});

describe.each(ENGINES)('unique values of a transaction on %s', (_, engine) => {
  const taking = (id: string, u: string) => upsert('k1', 1, id, { u });

  test.each([
    ['one partition', []],
    ['several partitions', KEYS],
  ])('are exchanged by a commit in %s', (_in, others) =>
    withKit(engine(), async (kit) => {
      const { items } = kit.service;
      for (const [id, u] of ['ax', 'by', 'cz']) await items.write(kit.b, taking(id ?? '', u ?? ''));
      const open = kit.begin();
      for (const [id, u] of ['at', 'bx', 'cy', 'az'])
        await open.write(kit.b, taking(id ?? '', u ?? ''));
      for (const key of others) await open.write(kit.a, upsert(key, 2));
      expect(await code(open.commit())).toBe('done');
      for (const u of 'xyz')
        expect(await code(items.write(kit.b, taking('d', u)))).toBe('uniqueKeyViolation');
      expect(await code(items.write(kit.b, taking('d', 't')))).toBe('done');
      await items.write(kit.b, { kind: 'delete', ...at('k1', 'a') });
      expect(await code(items.write(kit.b, taking('e', 'z')))).toBe('done');
    }),
  );

  test('are refused at the write that another item has, stored or written by itself', () =>
    withKit(engine(), async (kit) => {
      await kit.service.items.write(kit.b, taking('a', 'x'));
      const open = kit.begin();
      await open.write(kit.b, taking('b', 'y'));
      for (const u of 'xy')
        expect(await code(open.write(kit.b, taking('c', u)))).toBe('uniqueKeyViolation');
      await open.write(kit.b, taking('b', 'y'));
      await open.write(kit.b, taking('b', 'z'));
      await open.write(kit.b, taking('c', 'y'));
      await open.write(kit.b, { kind: 'delete', ...at('k1', 'a') });
      await open.write(kit.b, taking('d', 'x'));
      expect(await code(open.write(kit.b, taking('a', 'x')))).toBe('uniqueKeyViolation');
      expect(await code(open.commit())).toBe('done');
    }));
});

test('one partition takes one commit, two take three', async () => {
  const engine = memoryEngine();
  let commits = 0;
  const counting: Engine = {
    open: async (name) => {
      const store = await engine.open(name);
      const commit = store.commit.bind(store);
      store.commit = (batch) => {
        commits++;
        return commit(batch);
      };
      return store;
    },
    list: () => engine.list(),
    drop: (name) => engine.drop(name),
    close: () => engine.close(),
  };
  await withKit(counting, async (kit) => {
    const write = async (...writes: readonly (readonly [ContainerRecord, string])[]) => {
      const open = kit.begin();
      for (const [container, id] of writes) await open.write(container, upsert('k1', 1, id));
      commits = 0;
      const { charge } = await open.commit();
      return { commits, charge };
    };
    // The first use of a partition stores what it is.
    await write([kit.a, 'x'], [kit.b, 'x']);
    const one = await write([kit.a, 'x'], [kit.a, 'y']);
    const two = await write([kit.a, 'x'], [kit.b, 'x']);
    expect(one.commits).toBe(1);
    expect(two.commits).toBe(3);
    const reading = kit.begin();
    await reading.readMany(
      kit.a,
      KEYS.map((key) => at(key)),
    );
    commits = 0;
    await reading.commit();
    expect(commits).toBe(0);
  });
});

test('more items than a command takes go in chunks under one outcome', () =>
  withKit(memoryEngine(), async (kit) => {
    const COUNT = 11_000;
    const fill = kit.begin();
    for (let n = 0; n < COUNT; n++) await fill.write(kit.a, upsert('k1', n, `i${n}`));
    await fill.write(kit.a, upsert('k2', 1));
    await fill.commit();
    expect(await kit.number(kit.a, 'k1', 'i10999')).toBe(10_999);
    const open = kit.begin();
    for (let n = 0; n < COUNT; n++)
      await open.write(kit.a, { kind: 'delete', ...at('k1', `i${n}`) });
    await open.write(kit.a, { kind: 'delete', ...at('k2') });
    await kit.put(kit.a, 'k1', 1, 'i10998');
    expect(await code(open.commit())).toBe('retryWith');
    expect(await kit.number(kit.a, 'k1', 'i0')).toBe(0);
    const again = kit.begin();
    for (let n = 0; n < COUNT; n++)
      await again.write(kit.a, { kind: 'delete', ...at('k1', `i${n}`) });
    await again.commit();
    expect(await kit.numbers(kit.a)).toEqual([1]);
  }));

test('a transaction that takes too long is aborted', () =>
  withKit(memoryEngine(), async (kit) => {
    const open = kit.service.transactions.begin({ timeoutMs: 1000 });
    await open.write(kit.a, upsert('k1', 1));
    kit.clock.advance(1001);
    expect(await code(open.commit())).toBe('retryWith');
    expect(kit.service.transactions.openCount).toBe(0);
    expect(await kit.numbers(kit.a)).toEqual([]);
  }));
