// Goal: no session is lost while others stand in for it. Method: sessions that are no connections, and a fake clock.
import { afterEach, expect, test, vi } from 'vitest';
import { parsePostgresAddress } from '../postgres-address.ts';
import { PostgresInstance } from './postgres-instance.ts';
import { PostgresSession } from './postgres-session.ts';

vi.mock('./postgres-members.ts', async (original) => ({
  ...(await original<typeof import('./postgres-members.ts')>()),
  findPrimary: async () => ({ member: { host: 'member', port: 5432 }, timeline: 1, needed: 1 }),
}));

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** @param settings - resolves when a session has its settings. */
function sessionFor(settings: () => Promise<unknown>) {
  const close = vi.fn(async () => undefined);
  const session = { isOpen: true, run: settings, onEnd: () => undefined, close };
  return { session: session as unknown as PostgresSession, close };
}

test('a session that comes in the turn in which another one stands in for it is ended at the close', async () => {
  vi.useFakeTimers();
  const address = parsePostgresAddress('postgres://user@member/database');
  if (typeof address === 'string') throw new Error(address);
  const ready = sessionFor(async () => undefined);
  const slow = sessionFor(() => new Promise((resolve) => setTimeout(resolve, 500)));
  vi.spyOn(PostgresSession, 'connect')
    .mockResolvedValueOnce(ready.session)
    .mockResolvedValueOnce(slow.session);
  const instance = new PostgresInstance(address);
  await instance.findNow(false);
  expect(await instance.session('read0')).toBe(ready.session);
  const second = instance.session('read1');
  // Both timers of 500 ms have begun.
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  vi.advanceTimersByTime(500);
  await second;
  expect(instance.ready('read1')).toBe(slow.session);
  await instance.close();
  for (const { close } of [ready, slow]) expect(close).toHaveBeenCalledOnce();
});
