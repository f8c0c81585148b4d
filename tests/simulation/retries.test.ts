// Goal: a write that a client sends again until it is answered is applied once, over crashes, splits and merges.
// Method: clients that count up with a note for every statement, in worlds that crash at points drawn from a seed.
import { expect, test } from 'vitest';
import {
  bytesToText,
  FakeClock,
  type Random,
  seededRandom,
  textToBytes,
} from '../../src/base/index.ts';
import type { HomeApi } from '../../src/service/index.ts';
import { jsonCodec } from '../../src/value/index.ts';
import { World } from './world.ts';

const only = process.env.MESOCOSM_SEED;
const SEEDS = process.env.MESOCOSM_LONG === undefined ? 40 : 500;
const seeds =
  only === undefined ? Array.from({ length: SEEDS }, (_, at) => at + 1) : [Number(only)];

const STATEMENTS = 60;
const KEYS = 5;

const home: HomeApi = {
  name: 'nosql',
  codec: jsonCodec,
  updaters: {
    'test.count': ([current], args) => {
      const { pk } = JSON.parse(bytesToText(args));
      const n = 1 + (current === undefined ? 0 : JSON.parse(bytesToText(current.body)).n);
      const body = textToBytes(JSON.stringify({ id: 'n', pk, n }));
      return { kind: 'put', body, ttlSec: 0, reply: textToBytes(`${n}`) };
    },
  },
};

async function restart(world: World): Promise<void> {
  do await world.startProcess();
  while ((await world.open()) === 'crashed');
}

/** Sends a statement once; `crashed` where the process ended before the response. */
async function send(world: World, clock: FakeClock, pk: string, owner: string): Promise<string> {
  const { service, container, process } = world;
  const reply = await process.untilCrash(
    service.items.write(container, {
      kind: 'update',
      updater: 'test.count',
      args: textToBytes(JSON.stringify({ pk })),
      createsAbsent: true,
      partitionKey: [pk],
      rowKey: ['n'],
      note: { owner: textToBytes(owner), expiresAtSec: Math.floor(clock.nowMs() / 1000) + 600 },
    }),
  );
  return reply === 'crashed' ? reply : bytesToText(reply.effect.reply as Uint8Array);
}

function resize(world: World, random: Random): Promise<unknown> {
  const { service, container } = world;
  const { partitions } = container;
  const ids = partitions.map(({ id }) => id);
  const at = random.below(ids.length);
  const isMerge = ids.length > 3;
  const started = isMerge
    ? service.resizer.merge(container, ids.slice(0, 2))
    : service.resizer.split(container, ids[at] as string);
  // A move is given up at random steps.
  return started.catch(() => undefined);
}

async function play(seed: number): Promise<number> {
  const random = seededRandom(seed);
  const clock = new FakeClock();
  const world = new World({
    random,
    clock,
    homes: [home],
    settings: { partitionThroughputLimit: 1000, logicalPartitionLimit: 2 ** 30 },
  });
  await world.create(1000);
  const counts = new Map<string, number>();
  for (let statement = 0; statement < STATEMENTS; statement++) {
    if (random.below(4) === 0) world.process.crashAfter(1 + random.below(25));
    if (random.below(3) === 0) void resize(world, random);
    const pk = `k${random.below(KEYS)}`;
    const expected = (counts.get(pk) ?? 0) + 1;
    counts.set(pk, expected);
    const owner = `statement ${statement}`;
    let reply = await send(world, clock, pk, owner);
    while (reply === 'crashed') {
      await restart(world);
      reply = await send(world, clock, pk, owner);
    }
    expect(reply, `seed ${seed}, statement ${statement}`).toBe(`${expected}`);
    // Some clients lose the response and ask again.
    if (random.below(3) > 0) continue;
    const again = await send(world, clock, pk, owner);
    if (again === 'crashed') await restart(world);
    else expect(again, `seed ${seed}, statement ${statement} again`).toBe(`${expected}`);
  }
  // A process that lives is ended in order: a resize under way would open stores that the next process has.
  if (!world.process.hasCrashed) {
    world.process.disarm();
    await world.close();
  }
  await restart(world);
  for (const [pk, n] of counts) {
    const { item } = await world.service.items.read(
      world.container,
      { partitionKey: [pk], rowKey: ['n'] },
      undefined,
    );
    expect(item && JSON.parse(bytesToText(item.body)).n, `seed ${seed}, ${pk}`).toBe(n);
  }
  await world.close();
  return world.crashes.length;
}

test('statements are applied once', async () => {
  let crashes = 0;
  for (const seed of seeds) crashes += await play(seed);
  if (only === undefined) expect(crashes).toBeGreaterThan(SEEDS);
});
