// Goal: nobody waits for what has been missing for two seconds, and the reason is never an old one. Method: a fake clock.
import { afterEach, expect, test, vi } from 'vitest';
import { PostgresAbsence } from './postgres-absence.ts';

afterEach(() => vi.useRealTimers());

test('what is missing is noted after two seconds, with the latest reason, until it is there', async () => {
  vi.useFakeTimers();
  let reason = 'connection refused';
  const absence = new PostgresAbsence(() => reason);
  absence.begin();
  const waiting = absence.whenNoted().catch((error: unknown) => error);
  vi.advanceTimersByTime(1999);
  expect(absence.refusal).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(await waiting).toMatchObject({ code: 'unavailable', message: 'connection refused' });
  reason = 'it asks for fewer standbys';
  expect(absence.refusal?.message).toBe(reason);
  await expect(absence.whenNoted()).rejects.toThrow(reason);
  absence.end();
  expect(absence.refusal).toBeUndefined();
});
