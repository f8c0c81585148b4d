// Goal: a sequence of writes ends as its mode says, over partitions and splits, and applies nothing twice.
// Method: the facade on memory (at once and later) and SQLite; counters that show every application.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { bytesToText, FakeClock, seededRandom, textToBytes } from '../../base/index.ts';
import { type ContainerRecord, DEFAULT_INDEXING_POLICY } from '../../catalog/index.ts';
import type { HomeApi, SequenceReply } from '../../cluster/index.ts';
import { asyncEngine } from '../../engine/async-engine.ts';
import type { Engine } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { sqliteEngine } from '../../engine/sqlite/index.ts';
import { jsonCodec, type ValueMap } from '../../value/index.ts';
import { DEFAULT_SETTINGS } from '../index.ts';
import { openService, type Service } from '../service.ts';
import type { ItemWrite } from './operations.ts';

const directory = mkdtempSync(join(tmpdir(), 'mesocosm-sequence-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const SEED = Number(process.env.MESOCOSM_SEED ?? 41);

const ENGINES: readonly [string, () => Engine][] = [
  ['memory', memoryEngine],
  ['memory, later', () => asyncEngine(memoryEngine())],
  ['sqlite', () => sqliteEngine({ directory: mkdtempSync(join(directory, 'data-')) })],
];

const home: HomeApi = {
  name: 'nosql',
  codec: jsonCodec,
  updaters: {
    /** Counts up, to a limit. */
    'test.count': ([current], args) => {
      const { id, pk, max } = JSON.parse(bytesToText(args));
      const n = current === undefined ? 0 : JSON.parse(bytesToText(current.body)).n;
      if (n >= max) return { kind: 'keep', reply: n };
      return { kind: 'put', ...bodyOf(id, pk, n + 1), reply: n + 1 };
    },
  },
};

const bodyOf = (id: string, pk: string, n: number) => ({
  body: textToBytes(JSON.stringify({ id, pk, n })),
  ttlSec: 0,
});

const create = (pk: string, id: string, n = 0): ItemWrite => ({
  kind: 'create',
  partitionKey: [pk],
  rowKey: [id],
  ...bodyOf(id, pk, n),
});

const count = (pk: string, id: string, max = 1_000_000): ItemWrite => ({
  kind: 'update',
  updater: 'test.count',
  args: textToBytes(JSON.stringify({ id, pk, max })),
  createsAbsent: true,
  partitionKey: [pk],
  rowKey: [id],
});

async function open(
  makeEngine: () => Engine,
  changes: { requestUnits?: number; enforce?: boolean; uniqueKeys?: ContainerRecord['uniqueKeys'] },
): Promise<{ service: Service; container: () => ContainerRecord }> {
  const service = await openService({
    engine: makeEngine(),
    clock: new FakeClock(),
    random: seededRandom(SEED),
    settings: {
      ...DEFAULT_SETTINGS,
      throughputMode: changes.enforce === true ? 'enforce' : 'report',
    },
    homes: [home],
  });
  const database = await service.databases.create('db', undefined);
  const { rid } = await service.containers.create(database.rid, {
    id: 'c',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home: 'nosql',
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: changes.uniqueKeys ?? [],
    policies: {},
    throughput: { kind: 'manual', requestUnits: changes.requestUnits ?? 30_000 },
  });
  const container = () => service.containers.findByRid(database.rid, rid) as ContainerRecord;
  return { service, container };
}

const printed = ({ results }: SequenceReply): readonly string[] =>
  results.map((result) =>
    'effect' in result ? result.effect.kind : 'error' in result ? result.error.code : 'notRun',
  );

async function numberOf(service: Service, container: ContainerRecord, pk: string, id: string) {
  const { item } = await service.items.read(
    container,
    { partitionKey: [pk], rowKey: [id] },
    undefined,
  );
  return item && (JSON.parse(bytesToText(item.body)) as ValueMap).n;
}

describe.each(ENGINES)('on %s', (_, makeEngine) => {
  test('each, untilRefused and all, over three partitions', async () => {
    const { service, container } = await open(makeEngine, {});
    expect(container().partitions.length).toBe(3);
    const { items } = service;
    const keys = Array.from({ length: 12 }, (_, at) => `pk${at}`);
    const writes = keys.map((pk) => create(pk, 'x'));
    await items.write(container(), create('pk5', 'x'));
    const ended = (mode: 'all' | 'untilRefused' | 'each', list: readonly ItemWrite[]) =>
      items.sequence(container(), list, mode).then(printed);
    const created = Array<string>(12).fill('created');
    const first = writes.map((write) => ({ ...write, rowKey: ['x'] }));
    expect(await ended('untilRefused', first)).toEqual([
      ...created.slice(0, 5),
      'itemExists',
      ...Array<string>(6).fill('notRun'),
    ]);
    for (const [at, pk] of keys.entries())
      expect(await numberOf(service, container(), pk, 'x')).toBe(at <= 5 ? 0 : undefined);
    expect(await ended('each', first)).toEqual([
      ...Array<string>(6).fill('itemExists'),
      ...created.slice(6),
    ]);
    await expect(ended('all', first)).rejects.toMatchObject({ code: 'invalidInput' });
    const one = [create('pk5', 'y'), count('pk5', 'z'), create('pk5', 'x'), create('pk5', 'w')];
    expect(await ended('all', one)).toEqual(['notRun', 'notRun', 'itemExists', 'notRun']);
    expect(await numberOf(service, container(), 'pk5', 'y')).toBe(undefined);
    expect(await ended('all', one.slice(0, 2))).toEqual(['created', 'created']);
    await service.close();
  });

  test('a write sees those before it, is charged as alone, and replies', async () => {
    const { service, container } = await open(makeEngine, {});
    const { items } = service;
    const list = [
      create('a', 'x'),
      count('a', 'x', 2),
      count('a', 'x', 2),
      count('a', 'x', 2),
      create('a', 'x'),
      { kind: 'delete', partitionKey: ['a'], rowKey: ['x'] } as const,
    ];
    const alone: number[] = [];
    for (const write of list.map((each) => ({ ...each, partitionKey: ['b'] })))
      await items.write(container(), write).then(
        ({ charge }) => alone.push(charge),
        () => alone.push(1),
      );
    const reply = await items.sequence(container(), list, 'each');
    expect(printed(reply)).toEqual([
      'created',
      'replaced',
      'replaced',
      'kept',
      'itemExists',
      'deleted',
    ]);
    expect(reply.results.map((each) => ('effect' in each ? each.effect.reply : undefined))).toEqual(
      [undefined, 1, 2, 2, undefined, undefined],
    );
    const charges = reply.results.map((each) => ('effect' in each ? each.charge : 1));
    expect(charges).toEqual(alone);
    expect(reply.charge).toBeCloseTo(
      alone.reduce((sum, each) => sum + each, 0),
      6,
    );
    expect(reply).toMatchObject({ partitionId: expect.any(String), others: undefined });
    await service.close();
  });

  test('one item is counted up a thousand times, and 2,500 items are created', async () => {
    const { service, container } = await open(makeEngine, {});
    const counts = await service.items.sequence(
      container(),
      Array.from({ length: 1000 }, () => count('a', 'x')),
      'untilRefused',
    );
    expect(counts.results.map((each) => 'effect' in each && each.effect.reply)).toEqual(
      Array.from({ length: 1000 }, (_, at) => at + 1),
    );
    const creates = await service.items.sequence(
      container(),
      Array.from({ length: 2500 }, (_, at) => create(`pk${at % 50}`, `${at}`)),
      'each',
    );
    expect(new Set(printed(creates))).toEqual(new Set(['created']));
    // One command for each partition and a thousand writes.
    expect(creates.others).toHaveLength(2);
    await service.close();
  });

  test('a refused item of a container with unique keys takes no value from the others', async () => {
    const { service, container } = await open(makeEngine, {
      uniqueKeys: [{ paths: ['/n'] }, { paths: ['/id'] }],
    });
    const ended = await service.items.sequence(
      container(),
      [create('a', '1', 7), create('a', '2', 7), create('a', '2', 8), create('b', '1', 7)],
      'each',
    );
    expect(printed(ended)).toEqual(['created', 'uniqueKeyViolation', 'created', 'created']);
    expect(
      printed(
        await service.items.sequence(
          container(),
          [create('a', '3', 9), { kind: 'delete', partitionKey: ['a'], rowKey: ['1'] }],
          'each',
        ),
      ),
    ).toEqual(['created', 'deleted']);
    expect((await service.items.write(container(), create('a', '4', 7))).effect.kind).toBe(
      'created',
    );
    await service.close();
  });

  test(`splits in the middle apply every write once (seed ${SEED})`, async () => {
    const { service, container } = await open(makeEngine, { requestUnits: 1000 });
    const random = seededRandom(SEED);
    const model = new Map<string, number>();
    let isDone = false;
    const writer = async (mode: 'untilRefused' | 'each'): Promise<void> => {
      while (!isDone) {
        const stale = container();
        const writes = Array.from({ length: 1 + random.below(60) }, () =>
          count(`pk${random.below(20)}`, `${mode}${random.below(3)}`),
        );
        const { results } = await service.items.sequence(stale, writes, mode);
        results.forEach((result, at) => {
          if (!('effect' in result)) expect.fail(`seed ${SEED}: ${JSON.stringify(result)}`);
          const { partitionKey, rowKey } = writes[at] as ItemWrite;
          const name = `${partitionKey[0]}/${rowKey[0]}`;
          const n = (model.get(name) ?? 0) + 1;
          model.set(name, n);
          expect(result.effect.reply).toBe(n);
        });
      }
    };
    const writers = Promise.all([writer('each'), writer('untilRefused')]);
    while (model.size < 40) await new Promise((resolve) => setImmediate(resolve));
    // The widest partition has several of the twenty keys.
    for (let splits = 0; splits < 4; splits++) {
      // Hashes have their top two bits cleared.
      const at = (hash: string): number =>
        Math.min(0x4000, Number.parseInt(hash.padEnd(4, '0').slice(0, 4), 16));
      const widthOf = ({ min, max }: { min: string; max: string }): number => at(max) - at(min);
      const [widest] = [...container().partitions].sort((a, b) => widthOf(b) - widthOf(a));
      await service.resizer.split(container(), (widest as { id: string }).id);
    }
    isDone = true;
    await writers;
    expect(container().partitions.length).toBeGreaterThan(3);
    for (const [name, n] of model) {
      const [pk, id] = name.split('/') as [string, string];
      expect(await numberOf(service, container(), pk, id), `seed ${SEED}, ${name}`).toBe(n);
    }
    await service.close();
  });
});

test('a sequence of which nothing is run throws; otherwise refusals are results', async () => {
  const { service, container } = await open(memoryEngine, { enforce: true, requestUnits: 400 });
  const many = Array.from({ length: 3000 }, (_, at) => create('a', `${at}`));
  const first = await service.items.sequence(container(), many, 'untilRefused');
  expect(printed(first)[1000]).toBe('throttled');
  expect(new Set(printed(first).slice(1001))).toEqual(new Set(['notRun']));
  await expect(service.items.sequence(container(), many, 'each')).rejects.toMatchObject({
    code: 'throttled',
  });
  await service.close();
});
