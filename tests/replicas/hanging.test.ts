// Goal: a primary that hangs without closing its connections is left when it is not one any more, and used as far as it
// answers. Method: real members; processes of the primary are stopped while writers keep books.
import { Agent } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import type { LocalReplicaSet } from '../../src/engine/postgres/local/local-replica-set.ts';
import { reportMissing } from '../../src/engine/postgres/local/test-member.ts';
import { createContainer, get, put, startNode, startSet, until } from './world.ts';
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

const started = await startSet();
if (typeof started === 'string') reportMissing(new Error(started));
else withSet(started);

function withSet(set: LocalReplicaSet): void {
  afterAll(() => set.stop());

  test('only the first process of the primary is stopped: all goes on, and after a promotion nothing is lost', async () => {
    await using node = await startNode(set.url);
    await createContainer(node.port);
    const writers = newWriters('f');
    await writeMore(writers, node, 200);
    const old = set.primary;
    const client = await old.connect('mesocosm');
    old.signal('SIGSTOP');
    // A session of reads that has to be made again, and cannot be.
    await client.query(
      "SELECT pg_terminate_backend(min(pid)) FROM pg_stat_activity WHERE application_name = 'mesocosm' AND query LIKE 'SELECT v FROM%'",
    );
    let writing = startWriting(writers, node);
    const agent = new Agent({ keepAlive: true });
    for (let item = 0; item < 100; item++)
      expect((await get(node.port, agent, `f-absent${item}`)).status).toBe(404);
    await untilWritten(writers, 200);
    await stopWriting(writers, writing);
    expect(statusesOf(writers)).toEqual([200, 201]);
    expect(await countOf(node.port, agent)).toBe(40);

    writing = startWriting(writers, node);
    await set.promote();
    await untilWritten(writers, 50);
    await stopWriting(writers, writing);
    expect(await wrongOf(writers, node.port)).toEqual([]);
    await client.end().catch(() => undefined);
    await set.rejoin(old);
    await set.untilStreaming(3);
    agent.destroy();
    const { code, stderr } = await node.stop();
    expect(code).toBe(0);
    expect(stderr).not.toContain('"partitionFailed"');
  });

  test('all processes of the primary are stopped: it is given up, and after a promotion nothing is lost', async () => {
    await using node = await startNode(set.url);
    await createContainer(node.port);
    const writers = newWriters('h');
    let writing = startWriting(writers, node);
    await untilWritten(writers, 200);
    const old = set.primary;
    const pids = (await old.query('SELECT pid FROM pg_stat_activity')).map(({ pid }) =>
      Number(pid),
    );
    old.signal('SIGSTOP');
    for (const pid of pids) signal(pid, 'SIGSTOP');
    await until('a write is refused', () => statusesOf(writers).includes(503));
    await stopWriting(writers, writing);
    expect(await wrongInMemory(writers, node.port)).toEqual([]);
    const agent = new Agent({ keepAlive: true });
    expect((await get(node.port, agent, 'h-absent')).status).toBe(503);
    expect(await put(node.port, agent, 'h-new', 1)).toBe(503);

    await set.promote();
    writing = startWriting(writers, node);
    await untilWritten(writers, 50);
    // It wakes up, and still thinks that it is the primary.
    for (const pid of pids) signal(pid, 'SIGCONT');
    old.signal('SIGCONT');
    await untilWritten(writers, 50);
    await stopWriting(writers, writing);
    expect(await wrongOf(writers, node.port)).toEqual([]);
    expect((await get(node.port, agent, 'h-new')).status).toBe(404);
    await set.rejoin(old);
    await set.untilStreaming(3);
    agent.destroy();
    expect((await node.stop()).code).toBe(0);
  });
}

/** One that has ended meanwhile needs none. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {}
}
