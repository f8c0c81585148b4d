/**
 * Goal: whatever bytes arrive at the port of a protocol that is not HTTP, the client gets the protocol's error or loses
 * its connection, the process lives, and other clients are served. Method: conversations of stock clients, recorded,
 * damaged by a seed and sent again, with and without a login, while a stock client stays connected.
 */
import { describe, expect, test } from 'vitest';
import { type Random, seededRandom } from '../../src/base/index.ts';
import { ChildServer } from './child-server.ts';
import { HOSTILE_PORTS, type HostilePort, type ServerAddress } from './hostile/hostile-port.ts';
import { noise, pick, TELLING_LENGTHS, withDamage, withOtherSize } from './hostile/mutate.ts';
import { RawConnection } from './hostile/raw-connection.ts';
import { Recorder } from './hostile/recorder.ts';

const ATTACKS = process.env.MESOCOSM_LONG === undefined ? 200 : 20_000;
const SEED = Number(process.env.MESOCOSM_SEED ?? 20_261_118);
const WITNESS_EVERY = 20;

/** Log events of bugs: a protocol answers bad bytes, it does not fail. */
const BUGS = /uncaughtFailure|connectionFailed|requestFailed|partitionFailed/;

function addressOf(server: ChildServer, { api }: HostilePort): ServerAddress {
  const port = /:(\d+)\/?(\?.*)?$/.exec(server.ready.endpoints[api] ?? '')?.[1];
  expect(port, `${api} is served`).toBeDefined();
  const { endpoint, ready } = server;
  return { port: Number(port), endpoint, key: ready.key };
}

describe.each(HOSTILE_PORTS)('$api', (target) => {
  test('a wrong password gets the error of the protocol', async () => {
    await using server = await ChildServer.start(['--memory']);
    const address = addressOf(server, target);
    expect(await target.wrongPassword(address)).toMatch(target.wrongPasswordMessage);
    await target.tour(address, 'after');
    expect((await server.stop()).stderr).not.toMatch(BUGS);
  });

  test(`damaged conversations, seed ${SEED}`, { timeout: 600_000 }, async () => {
    await using server = await ChildServer.start(['--memory']);
    const address = addressOf(server, target);
    const messages = await record(target, address);
    expect(messages.length).toBeGreaterThan(5);
    const witness = await target.openWitness(address);
    for (let number = 0; number < ATTACKS; number++) {
      await attack(target, address, messages, SEED + number);
      if (number % WITNESS_EVERY === 0) await witness.check();
    }
    await witness.check();
    await target.tour(address, 'after');
    await witness.close();
    const { code, stderr } = await server.stop();
    expect(stderr).not.toMatch(BUGS);
    expect(code).toBe(0);
  });

  test('half messages and announced gigabytes take no memory and hold up nobody', async () => {
    await using server = await ChildServer.start(['--memory']);
    const address = addressOf(server, target);
    const witness = await target.openWitness(address);
    const waiting: RawConnection[] = [];
    for (let count = 0; count < 200; count++) {
      const connection = await RawConnection.open(address.port);
      const half = target.sentinel.subarray(0, 1 + (count % (target.sentinel.length - 1)));
      connection.send(count % 2 === 0 ? half : target.withLength(target.sentinel, 2 ** 31 - 1));
      waiting.push(connection);
    }
    await witness.check();
    await witness.close();
    // A half message is no request: the server does not wait for its rest, but for what it has begun.
    for (const connection of waiting) connection.end();
    expect(await server.stop()).toMatchObject({ code: 0, stderr: expect.not.stringMatching(BUGS) });
    for (const connection of waiting) connection[Symbol.dispose]();
  });
});

async function record(target: HostilePort, address: ServerAddress): Promise<readonly Buffer[]> {
  await using recorder = await Recorder.open(address.port);
  await target.tour({ ...address, port: recorder.port }, 'recorded');
  return recorder.sent.flatMap((sent) => target.messagesIn(sent));
}

/** Far beyond any wait that a protocol offers: a connection that is still silent then is a bug. */
const SILENCE_MS = 60_000;

/** Resolves when the server has answered or closed. Rejects with the seed. */
async function attack(
  target: HostilePort,
  address: ServerAddress,
  messages: readonly Buffer[],
  seed: number,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('neither answer nor end')), SILENCE_MS);
  });
  try {
    await Promise.race([attackWith(target, address, messages, seededRandom(seed)), silence]);
  } catch (error) {
    throw new Error(`MESOCOSM_SEED=${seed}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function attackWith(
  target: HostilePort,
  address: ServerAddress,
  messages: readonly Buffer[],
  random: Random,
): Promise<void> {
  using connection = await RawConnection.open(address.port);
  if (random.below(4) > 0) await target.login(connection, address);
  const count = 1 + random.below(3);
  if (random.below(2) === 0) {
    // The lengths are right: each message is answered with a result or an error, or ends the connection.
    for (let sent = 0; sent < count; sent++)
      connection.send(withDamage(random, pick(random, messages), target.bodyAt));
    connection.send(target.sentinel);
    await connection.until((received) => target.isAnswered(received));
    return;
  }
  for (let sent = 0; sent < count; sent++)
    connection.send(broken(target, random, pick(random, messages)));
  connection.end();
  await connection.until(() => false);
}

function broken(target: HostilePort, random: Random, message: Buffer): Buffer {
  switch (random.below(4)) {
    case 0:
      return target.withLength(message, pick(random, TELLING_LENGTHS));
    case 1:
      return noise(random);
    case 2:
      return withDamage(random, message, 0);
    default:
      return withOtherSize(random, message);
  }
}
