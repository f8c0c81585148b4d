// Goal: nobody waits for what has been missing for two seconds, and the reason is never an old one. Method: a fake clock.
import { afterEach, expect, test, vi } from 'vitest';
import { PostgresAbsence } from './postgres-absence.ts';

afterEach(() => vi.useRealTimers());

test('what is missing is noted after two seconds, with the latest reason, until it is there', async () => {
  vi.useFakeTimers();
  let reason = 'connection refused';
  const absence = new PostgresAbsence(() => reason);
  absence.begin();
  const never = new Promise<never>(() => undefined);
  const waiting = absence.unlessNoted(never).catch((error: unknown) => error);
  vi.advanceTimersByTime(1999);
  expect(absence.refusal).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(await waiting).toMatchObject({ code: 'unavailable', message: 'connection refused' });
  reason = 'it asks for fewer standbys';
  expect(absence.refusal?.message).toBe(reason);
  await expect(absence.unlessNoted(never)).rejects.toThrow(reason);
  absence.end();
  expect(absence.refusal).toBeUndefined();
});

test('nothing is kept of those who waited, whether it was missing for a moment or not', async () => {
  vi.useFakeTimers();
  const absence = new PostgresAbsence(() => 'connection refused');
  for (let turn = 0; turn < 3; turn++) {
    const connecting = Promise.withResolvers<string>();
    const waiting = absence.unlessNoted(connecting.promise);
    const failing = absence.unlessNoted(Promise.reject(new Error('closed')));
    if (turn > 0) absence.begin();
    vi.advanceTimersByTime(1000);
    connecting.resolve('session');
    expect(await waiting).toBe('session');
    await expect(failing).rejects.toThrow('closed');
    absence.end();
  }
  expect(absence.waitingCount).toBe(0);
});
