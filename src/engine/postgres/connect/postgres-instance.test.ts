// Goal: a primary that works and takes no new sessions, stopped or full, is used by those that there are, and nobody waits
// long for others. Method: a real member whose first process is stopped, or whose connections are all taken.
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LocalReplicaSet } from '../local/local-replica-set.ts';
import { reportMissing } from '../local/test-member.ts';
import { parsePostgresAddress } from '../postgres-address.ts';
import { unnamed } from '../postgres-statements.ts';
import { ReadTransactions } from '../read/postgres-read-transactions.ts';
import { PostgresInstance } from './postgres-instance.ts';

const started = await LocalReplicaSet.start({
  members: 1,
  settings: { fsync: 'off', max_connections: '16' },
}).catch((error: unknown) => error as Error);
if (started instanceof Error) reportMissing(started);
else withMember(started);

function withMember(set: LocalReplicaSet): void {
  afterAll(() => set.stop());
  const address = parsePostgresAddress(set.url);
  if (typeof address === 'string') throw new Error(address);
  let instance: PostgresInstance;
  beforeEach(async () => {
    instance = new PostgresInstance(address);
    await instance.findNow(false);
  });
  afterEach(() => instance.close());

  /** Connections that are taken until the server has no more. */
  const takeAll = async () => {
    const clients: Awaited<ReturnType<typeof set.primary.connect>>[] = [];
    for (;;)
      try {
        clients.push(await set.primary.connect('mesocosm'));
      } catch {
        return async () => {
          for (const client of clients) await client.end();
        };
      }
  };
  const stopFirstProcess = async () => {
    set.primary.signal('SIGSTOP');
    return async () => set.primary.signal('SIGCONT');
  };

  describe.each([
    ['its first process is stopped', stopFirstProcess],
    ['all its connections are taken', takeAll],
  ])('while %s', (_, block) => {
    it('sessions of the same kind stand in, until there are new ones again', async () => {
      const [read, write] = [await instance.session('read0'), await instance.session('write0')];
      const unblock = await block();
      expect(await instance.session('read1')).toBe(read);
      expect(await instance.session('write3')).toBe(write);
      expect(instance.ready('read1')).toBe(read);
      expect(await read.rows(unnamed('SELECT 1'))).toHaveLength(1);
      await unblock();
      await expect.poll(() => instance.ready('read1') !== read, { timeout: 30_000 }).toBe(true);
      expect(await read.rows(unnamed('SELECT 1'))).toHaveLength(1);
    });

    it('what has to have a session of its own is refused, at once after the first time', async () => {
      await instance.session('read0');
      const unblock = await block();
      const refused = { code: 'unavailable' };
      await expect(instance.session('control')).rejects.toMatchObject(refused);
      const turn = new Promise((resolve) => setImmediate(resolve, 'a turn later'));
      const second = instance.session('monitor').catch((error: unknown) => error);
      expect(await Promise.race([second, turn])).toMatchObject(refused);
      expect(instance.absence).toBeUndefined();
      await unblock();
      await expect.poll(() => instance.ready('control')?.isOpen, { timeout: 30_000 }).toBe(true);
    });

    it('a read transaction takes a session that is there', async () => {
      const transactions = new ReadTransactions(instance);
      const first = await transactions.join(0);
      transactions.acknowledge();
      const second = await transactions.join(1);
      const [kept, lost] = [await first.session, await second.session];
      transactions.leave(first);
      await kept.rows(unnamed('SELECT 1'));
      transactions.leave(second);
      const terminated = lost.rows(unnamed('SELECT pg_terminate_backend(pg_backend_pid())'));
      await expect(terminated).rejects.toThrow('terminating connection');
      const unblock = await block();
      expect(await (await transactions.join(1)).session).toBe(kept);
      await unblock();
    });
  });
}
