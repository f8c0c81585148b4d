// Goal: what dies in the replica set is what the page about replicated storage says. Method: real members and the built
// program; writers keep books of every answer while members are killed; the books are compared with what is there.
import { Agent } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import type { LocalReplicaSet } from '../../src/engine/postgres/local/local-replica-set.ts';
import { reportMissing } from '../../src/engine/postgres/local/test-member.ts';
import { createContainer, delay, get, isLong, put, startNode, startSet, until } from './world.ts';
import {
  countOf,
  newWriters,
  startWriting,
  statusesOf,
  stopWriting,
  untilWritten,
  writeMore,
  wrongInMemory,
  wrongOf,
} from './writers.ts';

const ROUNDS = isLong ? 50 : 3;

const started = await startSet();
if (typeof started === 'string') reportMissing(new Error(started));
else withSet(started);

function withSet(set: LocalReplicaSet): void {
  afterAll(() => set.stop());

  test('one standby killed: no write fails; two: writes are refused, reads go on, and all comes back', async () => {
    await using node = await startNode(set.url);
    await createContainer(node.port);
    const writers = newWriters('q');
    const [one, two] = set.standbys;
    let writing = startWriting(writers, node);
    await untilWritten(writers, 50);
    await one?.stop('SIGKILL');
    await untilWritten(writers, 50);
    await stopWriting(writers, writing);
    expect(statusesOf(writers)).toEqual([200, 201]);

    writing = startWriting(writers, node);
    await two?.stop('SIGKILL');
    await until('a write is refused', () => statusesOf(writers).includes(503));
    await stopWriting(writers, writing);
    const agent = new Agent({ keepAlive: true });
    expect(await put(node.port, agent, 'new', 1)).toBe(503);
    for (let item = 0; item < 4; item++)
      expect((await get(node.port, agent, `q${item}-1`)).status).toBe(200);
    agent.destroy();
    const before = writers.map(({ acknowledged }) => acknowledged);

    await one?.start();
    await two?.start();
    await set.untilStreaming(3);
    writing = startWriting(writers, node);
    await until('every writer writes again', () =>
      writers.every(({ acknowledged }, at) => acknowledged > (before[at] as number)),
    );
    await stopWriting(writers, writing);
    expect(await wrongOf(writers, node.port)).toEqual([]);
    expect((await node.stop()).code).toBe(0);
  });

  test('while there is no primary, every partition is read from memory, with writes under way too', async () => {
    await using node = await startNode(set.url);
    await createContainer(node.port);
    const writers = newWriters('m');
    const writing = startWriting(writers, node);
    // Every item was acknowledged, so that it is in memory.
    await untilWritten(writers, 200);
    const old = set.primary;
    await old.stop('SIGKILL');
    await until('a write is refused', () => statusesOf(writers).includes(503));
    await stopWriting(writers, writing);
    expect(statusesOf(writers)).toEqual([200, 201, 408, 503]);
    expect(await wrongInMemory(writers, node.port)).toEqual([]);
    const agent = new Agent({ keepAlive: true });
    // What has to be read from the primary is refused, and nothing has become of it.
    expect((await get(node.port, agent, 'm-absent')).status).toBe(503);
    expect(await put(node.port, agent, 'm-new', 1)).toBe(503);
    expect(await wrongInMemory(writers, node.port)).toEqual([]);

    await set.promote();
    await writeMore(writers, node, 50);
    expect(await wrongOf(writers, node.port)).toEqual([]);
    expect((await get(node.port, agent, 'm-new')).status).toBe(404);
    await set.rejoin(old);
    await set.untilStreaming(3);
    agent.destroy();
    const { code, stderr } = await node.stop();
    expect(code).toBe(0);
    // No partition was closed: that is why its memory was there.
    expect(stderr).not.toContain('"partitionFailed"');
  });

  test('without a quorum, a partition with a write whose session was ended is read from memory', async () => {
    await using node = await startNode(set.url);
    await createContainer(node.port);
    const writers = newWriters('u');
    const writing = startWriting(writers, node);
    await untilWritten(writers, 200);
    const [one, two] = set.standbys;
    await one?.stop('SIGKILL');
    await two?.stop('SIGKILL');
    await until('a write waits, and its session is ended', async () => {
      const ended = await set.primary.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = 'mesocosm'",
      );
      return ended.length > 0;
    });
    await until('a write is refused', () => statusesOf(writers).includes(503));
    await stopWriting(writers, writing);
    expect(await wrongInMemory(writers, node.port)).toEqual([]);

    await one?.start();
    await two?.start();
    await set.untilStreaming(3);
    await writeMore(writers, node, 50);
    expect(await wrongOf(writers, node.port)).toEqual([]);
    const { code, stderr } = await node.stop();
    expect(code).toBe(0);
    expect(stderr).not.toContain('"partitionFailed"');
  });

  test('a primary that waits for fewer members than at the start takes no writes, neither known nor new', async () => {
    await using node = await startNode(set.url);
    await createContainer(node.port);
    const agent = new Agent({ keepAlive: true });
    expect(await put(node.port, agent, 'rule', 1)).toBe(201);
    const [before] = await set.primary.query('SHOW synchronous_standby_names');
    const setRule = (names: string) =>
      set.primary.query(
        `ALTER SYSTEM SET synchronous_standby_names = '${names}'`,
        'SELECT pg_reload_conf()',
      );
    await setRule('ANY 1 (b, c, d)');
    await until('writes are refused', async () => (await put(node.port, agent, 'rule', 2)) === 503);
    await set.primary.stop('SIGKILL');
    await set.primary.start();
    await until('nothing is read from it', async () => {
      const { status, body } = await get(node.port, agent, 'rule-absent');
      return status === 503 && body.includes('waits for 2 of the 3 members that a commit needs');
    });
    expect((await get(node.port, agent, 'rule')).status).toBe(200);
    expect(await put(node.port, agent, 'rule', 3)).toBe(503);
    await setRule(String(before?.synchronous_standby_names));
    await set.untilStreaming(3);
    await until('writes go on', async () => (await put(node.port, agent, 'rule', 4)) === 200);
    expect(JSON.parse((await get(node.port, agent, 'rule')).body).version).toBe(4);
    agent.destroy();
    expect((await node.stop()).code).toBe(0);
  });

  test('without a quorum, partitions that were not open are read, and a stop ends in time', async () => {
    const writers = newWriters('r');
    {
      await using node = await startNode(set.url);
      await createContainer(node.port);
      await writeMore(writers, node, 50);
      await node.stop();
    }
    await using node = await startNode(set.url);
    const agent = new Agent({ keepAlive: true });
    const [one, two] = set.standbys;
    await one?.stop('SIGKILL');
    await two?.stop('SIGKILL');
    // Nothing of this container was read or written since the start: its partitions are opened now. The first opening
    // may be sent before the node knows that the quorum is missing, and waits for it in vain.
    expect(await wrongOf(writers, node.port)).toEqual([]);
    expect(await put(node.port, agent, 'r-new', 1)).toBe(503);
    expect(await countOf(node.port, agent)).toBeGreaterThan(0);
    expect((await node.stop()).code).toBe(0);

    await one?.start();
    await two?.start();
    await set.untilStreaming(3);
    agent.destroy();
  });

  test('a partition that was opened for reads takes writes when the quorum is back', async () => {
    {
      await using node = await startNode(set.url);
      await createContainer(node.port);
      await node.stop();
    }
    await using node = await startNode(set.url);
    const writers = newWriters('b');
    const [one, two] = set.standbys;
    await one?.stop('SIGKILL');
    await two?.stop('SIGKILL');
    const agent = new Agent({ keepAlive: true });
    await until('it is read', async () => (await get(node.port, agent, 'b0-1')).status === 404);
    await one?.start();
    await two?.start();
    await set.untilStreaming(3);
    await writeMore(writers, node, 50);
    expect(await wrongOf(writers, node.port)).toEqual([]);
    agent.destroy();
    expect((await node.stop()).code).toBe(0);
  });

  test(`the primary killed and a standby promoted, ${ROUNDS} times: nothing acknowledged is lost`, {
    timeout: 180_000 * ROUNDS,
  }, async () => {
    await using node = await startNode(set.url);
    await createContainer(node.port);
    const writers = newWriters('p');
    for (let round = 0; round < ROUNDS; round++) {
      const writing = startWriting(writers, node);
      await untilWritten(writers, 30);
      await delay(round * 7);
      const old = set.primary;
      await old.stop('SIGKILL');
      await set.promote();
      await untilWritten(writers, 30);
      await stopWriting(writers, writing);
      expect(await wrongOf(writers, node.port), `round ${round}`).toEqual([]);
      await set.rejoin(old);
      await set.untilStreaming(3);
    }
    expect((await node.stop()).code).toBe(0);
  });

  test(`the node killed, ${ROUNDS} times: nothing acknowledged is lost`, {
    timeout: 180_000 * ROUNDS,
  }, async () => {
    const writers = newWriters('k');
    for (let round = 0; round < ROUNDS; round++) {
      await using node = await startNode(set.url);
      await createContainer(node.port);
      expect(await wrongOf(writers, node.port), `round ${round}`).toEqual([]);
      const writing = startWriting(writers, node);
      await untilWritten(writers, 20);
      await delay(round * 7);
      await node.stop('SIGKILL');
      await stopWriting(writers, writing);
    }
    await using node = await startNode(set.url);
    expect(await wrongOf(writers, node.port)).toEqual([]);
  });

  test('a node that was stopped while another took over cannot write when it wakes up, and ends', async () => {
    await using old = await startNode(set.url);
    await createContainer(old.port);
    const agent = new Agent({ keepAlive: true });
    expect(await put(old.port, agent, 'stopped', 1)).toBeLessThan(300);
    old.signal('SIGSTOP');
    await using next = await startNode(set.url, '--take-over');
    expect(await put(next.port, agent, 'stopped', 2)).toBe(200);
    // Sent to the old node while it sleeps: it is the first thing that it reads.
    const late = put(old.port, new Agent(), 'stopped', 3);
    old.signal('SIGCONT');
    const { code, stderr } = await old.exit;
    expect([0, 503]).toContain(await late);
    expect(code).toBe(3);
    expect(stderr).toContain('"takenOver"');
    expect(JSON.parse((await get(next.port, agent, 'stopped')).body).version).toBe(2);
    agent.destroy();
  });
}
