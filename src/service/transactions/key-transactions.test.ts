// Goal: an interactive transaction sees a consistent state and its own writes, and is repeated on conflicts.
// Method: the facade on memory (at once and later) and SQLite; others write between chosen steps; seeded races against a model.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  bytesToText,
  type DomainError,
  FakeClock,
  SCRIPT_ATTEMPTS_MAX,
  seededRandom,
  textToBytes,
} from '../../base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../catalog/index.ts';
import { asyncEngine } from '../../engine/async-engine.ts';
import type { Engine } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { sqliteEngine } from '../../engine/sqlite/index.ts';
import { ANYTHING, type ExecutableQuery } from '../../query/index.ts';
import { NORMAL_CLASS } from '../../throughput/index.ts';
import type { ValueMap } from '../../value/index.ts';
import { DEFAULT_SETTINGS, type KeyTransaction } from '../index.ts';
import { openService, type Service } from '../service.ts';

const directory = mkdtempSync(join(tmpdir(), 'mesocosm-transactions-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const SEED = Number(process.env.MESOCOSM_SEED ?? Date.now() % 1_000_000);

const ENGINES: readonly [string, () => Engine][] = [
  ['memory', memoryEngine],
  ['memory, later', () => asyncEngine(memoryEngine())],
  ['sqlite', () => sqliteEngine({ directory: mkdtempSync(join(directory, 'data-')) })],
];

/** All items of the key, as they are. */
const EVERYTHING: ExecutableQuery = {
  condition: ANYTHING,
  shape: {
    kind: 'streaming',
    rowsOf: (item) => [{ item, keys: [] }],
    order: undefined,
    skip: 0,
    take: Number.POSITIVE_INFINITY,
  },
};

interface Kit {
  readonly service: Service;
  readonly container: ContainerRecord;
  put(pk: string, id: string, n: number): Promise<unknown>;
  remove(pk: string, id: string): Promise<unknown>;
  run<T>(pk: string, work: (transaction: KeyTransaction) => Promise<T>): Promise<T>;
  numbersOf(pk: string): Promise<Record<string, number>>;
}

const bodyOf = (id: string, pk: string, n: number) => ({
  body: textToBytes(JSON.stringify({ id, pk, n })),
  ttlSec: 0,
});

async function withKit(engine: Engine, use: (kit: Kit) => Promise<void>): Promise<void> {
  const service = await openService({
    engine,
    clock: new FakeClock(),
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [],
  });
  try {
    const database = await service.databases.create('d', undefined);
    const container = await service.containers.create(database.rid, {
      id: 'c',
      partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
      home: 'nosql',
      indexingPolicy: DEFAULT_INDEXING_POLICY,
      uniqueKeys: [],
      policies: {},
      throughput: { kind: 'manual', requestUnits: 2000 },
    });
    const run: Kit['run'] = async (pk, work) => {
      const request = { container, partitionKey: [pk], sessionToken: undefined };
      const requestClass = NORMAL_CLASS;
      return (await service.transactions.run({ ...request, requestClass }, work)).result;
    };
    await use({
      service,
      container,
      put: (pk, id, n) =>
        service.items.write(container, {
          kind: 'upsert',
          partitionKey: [pk],
          rowKey: [id],
          ...bodyOf(id, pk, n),
        }),
      remove: (pk, id) =>
        service.items.write(container, { kind: 'delete', partitionKey: [pk], rowKey: [id] }),
      run,
      numbersOf: (pk) => run(pk, async (transaction) => numbers(await rowsOf(transaction))),
    });
  } finally {
    await service.close();
  }
}

async function rowsOf(transaction: KeyTransaction): Promise<ValueMap[]> {
  const page = await transaction.query(EVERYTHING, { continuation: undefined, limit: 1000 });
  return page.rows.map(({ item }) => item?.value() as ValueMap);
}

const numbers = (rows: readonly ValueMap[]): Record<string, number> =>
  Object.fromEntries(rows.map(({ id, n }) => [id, n]).sort()) as Record<string, number>;

const numberOf = async (transaction: KeyTransaction, id: string): Promise<number | undefined> => {
  const item = await transaction.read([id]);
  return item && JSON.parse(bytesToText(item.body)).n;
};

const set = (transaction: KeyTransaction, pk: string, id: string, n: number) =>
  transaction.write([id], { kind: 'upsert', ...bodyOf(id, pk, n) });

describe.each(ENGINES)('transactions on %s', (_, makeEngine) => {
  test('reads and queries see own writes and deletions; others do not before the commit', () =>
    withKit(makeEngine(), async ({ service, container, put, run, numbersOf }) => {
      await put('p', 'a', 1);
      await put('p', 'b', 2);
      await put('q', 'a', 9);
      await run('p', async (transaction) => {
        await set(transaction, 'p', 'a', 10);
        await set(transaction, 'p', 'c', 3);
        await transaction.write(['b'], { kind: 'delete' });
        expect(await numberOf(transaction, 'a')).toBe(10);
        expect(await numberOf(transaction, 'b')).toBeUndefined();
        expect(numbers(await rowsOf(transaction))).toEqual({ a: 10, c: 3 });
        const outside = await service.items.read(
          container,
          { partitionKey: ['p'], rowKey: ['a'] },
          undefined,
        );
        expect(JSON.parse(bytesToText(outside.item?.body ?? new Uint8Array())).n).toBe(1);
      });
      expect(await numbersOf('p')).toEqual({ a: 10, c: 3 });
      expect(await numbersOf('q')).toEqual({ a: 9 });
    }));

  test('what throws leaves nothing behind', () =>
    withKit(makeEngine(), async ({ run, numbersOf }) => {
      const failing = run('p', async (transaction) => {
        await set(transaction, 'p', 'a', 1);
        throw new Error('on purpose');
      });
      await expect(failing).rejects.toThrow('on purpose');
      expect(await numbersOf('p')).toEqual({});
    }));

  test.each<
    [string, (kit: Kit) => Promise<unknown>, (t: KeyTransaction) => Promise<unknown>, number]
  >([
    ['what it read was written', (kit) => kit.put('p', 'a', 5), (t) => t.read(['a']), 2],
    ['what it read was removed', (kit) => kit.remove('p', 'a'), (t) => t.read(['a']), 2],
    ['what it missed was made', (kit) => kit.put('p', 'new', 5), (t) => t.read(['new']), 2],
    ['something appeared that it would have found', (kit) => kit.put('p', 'new', 5), rowsOf, 2],
    ['what it writes was written', (kit) => kit.put('p', 'z', 5), (t) => set(t, 'p', 'z', 1), 2],
    [
      'something else of the key was written',
      (kit) => kit.put('p', 'b', 5),
      (t) => t.read(['a']),
      1,
    ],
    ['another key was written', (kit) => kit.put('q', 'a', 5), rowsOf, 1],
  ])('it is done again where %s', (_what, disturb, look, attempts) =>
    withKit(makeEngine(), async (kit) => {
      await kit.put('p', 'a', 1);
      let count = 0;
      await kit.run('p', async (transaction) => {
        await look(transaction);
        if (++count === 1) await disturb(kit);
        await set(transaction, 'p', 'z', 1);
      });
      expect(count).toBe(attempts);
      expect((await kit.numbersOf('p')).z).toBe(1);
    }),
  );

  test('a write that was decided but not yet durable when it began is waited for', () =>
    withKit(makeEngine(), async ({ put, run }) => {
      await put('p', 'a', 1);
      const pending = put('p', 'a', 2);
      const seen = await run('p', (transaction) => numberOf(transaction, 'a'));
      await pending;
      expect(seen).toBe(2);
    }));

  test('who is disturbed every time is refused in the end, with nothing written', () =>
    withKit(makeEngine(), async ({ put, run, numbersOf }) => {
      let count = 0;
      const refused: DomainError = await run('p', async (transaction) => {
        await transaction.read(['a']);
        await put('p', 'a', ++count);
        await set(transaction, 'p', 'b', 1);
      }).then(
        () => expect.unreachable(),
        (error) => error,
      );
      expect(refused.code).toBe('retryWith');
      expect(await numbersOf('p')).toEqual({ a: SCRIPT_ATTEMPTS_MAX });
    }));

  test('a split while it thinks does not lose or repeat its writes', () =>
    withKit(makeEngine(), async ({ service, container, put, run, numbersOf }) => {
      for (let n = 0; n < 20; n++) await put(`k${n}`, 'a', n);
      let count = 0;
      await run('k3', async (transaction) => {
        const n = (await numberOf(transaction, 'a')) ?? 0;
        if (++count === 1) await service.resizer.split(container, '0');
        await set(transaction, 'k3', 'a', n + 1);
      });
      expect(await numbersOf('k3')).toEqual({ a: 4 });
    }));

  test(`transfers at once keep the sum (MESOCOSM_SEED=${SEED})`, () =>
    withKit(makeEngine(), async ({ put, run, numbersOf }) => {
      const random = seededRandom(SEED);
      const ids = ['a', 'b', 'c', 'd'];
      for (const id of ids) await put('p', id, 100);
      const pick = () => ids[random.below(ids.length)] as string;
      const transfer = async (from: string, to: string, isByQuery: boolean) => {
        await run('p', async (transaction) => {
          const all = isByQuery ? numbers(await rowsOf(transaction)) : {};
          const have = async (id: string) => all[id] ?? (await numberOf(transaction, id)) ?? 0;
          const [a, b] = [await have(from), await have(to)];
          if (from === to) return;
          await set(transaction, 'p', from, a - 1);
          await set(transaction, 'p', to, b + 1);
        }).catch((error: DomainError) => expect(error.code).toBe('retryWith'));
      };
      for (let round = 0; round < 20; round++)
        await Promise.all(
          Array.from({ length: 5 }, () => transfer(pick(), pick(), random.below(2) === 0)),
        );
      const sum = Object.values(await numbersOf('p')).reduce((total, n) => total + n, 0);
      expect(sum).toBe(400);
    }));
});
