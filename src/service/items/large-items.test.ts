// Goal: items of 16 MB are written, read, indexed, moved and read again after a restart; larger ones are refused.
// Method: the facade on memory and SQLite, with JSON and BSON bodies.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { BODY_BYTES_MAX, FakeClock, seededRandom } from '../../base/index.ts';
import {
  type ContainerRecord,
  DEFAULT_INDEXING_POLICY,
  type HomeName,
} from '../../catalog/index.ts';
import type { Engine } from '../../engine/index.ts';
import { memoryEngine } from '../../engine/memory/index.ts';
import { sqliteEngine } from '../../engine/sqlite/index.ts';
import { bsonCodec, jsonCodec, type ValueMap } from '../../value/index.ts';
import { DEFAULT_SETTINGS } from '../index.ts';
import { openService, type Service } from '../service.ts';

const directory = mkdtempSync(join(tmpdir(), 'mesocosm-large-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const ENGINES: readonly [string, () => Engine][] = [
  ['memory', memoryEngine],
  ['sqlite', () => sqliteEngine({ directory: mkdtempSync(join(directory, 'data-')) })],
];

const BODY_BYTES = 16 * 1024 * 1024;

const open = (engine: Engine): Promise<Service> =>
  openService({
    engine,
    clock: new FakeClock(),
    random: seededRandom(1),
    settings: { ...DEFAULT_SETTINGS, throughputMode: 'report' },
    homes: [
      { name: 'nosql', codec: jsonCodec },
      { name: 'mongo', codec: bsonCodec },
    ],
  });

async function newContainer(service: Service, home: HomeName): Promise<ContainerRecord> {
  const { rid } = await service.databases.create(home, undefined);
  return service.containers.create(rid, {
    id: 'c',
    partitionKey: { paths: ['/pk'], kind: 'Hash', version: 2 },
    home,
    indexingPolicy: DEFAULT_INDEXING_POLICY,
    uniqueKeys: [],
    policies: {},
    throughput: { kind: 'manual', requestUnits: 1000 },
  });
}

/** A document whose body has about this many bytes: some values, and one long text. */
function documentOf(pk: string, bytes: number): ValueMap {
  const values = Array.from({ length: 1000 }, (_, at) => ({ n: at, name: `value ${at}` }));
  return { id: 'large', pk, values, text: 'x'.repeat(bytes - 60_000) };
}

describe.each(ENGINES)('on %s', (_, makeEngine) => {
  test.each<[HomeName, typeof jsonCodec]>([
    ['nosql', jsonCodec],
    ['mongo', bsonCodec],
  ])('items of %s', async (home, codec) => {
    const engine = makeEngine();
    let service = await open(engine);
    const container = await newContainer(service, home);
    const current = () =>
      service.containers.findByRid(container.databaseRid, container.rid) as ContainerRecord;
    const bodies = ['a', 'b'].map((pk) => codec.encode(documentOf(pk, BODY_BYTES)));
    const written = await service.items.sequence(
      container,
      bodies.map((body, at) => ({
        kind: 'upsert',
        partitionKey: ['ab'[at]],
        rowKey: ['large'],
        body,
        ttlSec: 0,
      })),
      'each',
    );
    expect(written.results.map((result) => 'effect' in result && result.effect.kind)).toEqual([
      'created',
      'created',
    ]);
    const check = async () => {
      for (const [at, body] of bodies.entries()) {
        const address = { partitionKey: ['ab'[at]], rowKey: ['large'] };
        const { item } = await service.items.read(current(), address, undefined);
        expect(item && Buffer.compare(item.body, body)).toBe(0);
      }
    };
    await check();
    const [partition] = current().partitions;
    await service.resizer.split(current(), partition?.id as string);
    expect(current().partitions.length).toBe(2);
    await check();
    bodies[1] = codec.encode(documentOf('b', BODY_BYTES - 1_000_000));
    await service.items.write(current(), {
      kind: 'replace',
      partitionKey: ['b'],
      rowKey: ['large'],
      body: bodies[1],
      ttlSec: 0,
    });
    await service.close();
    service = await open(engine);
    await check();
    await expect(
      service.items.write(current(), {
        kind: 'upsert',
        partitionKey: ['a'],
        rowKey: ['large'],
        body: new Uint8Array(BODY_BYTES_MAX + 1),
        ttlSec: 0,
      }),
    ).rejects.toMatchObject({ code: 'tooLarge' });
    await service.close();
  });
});
