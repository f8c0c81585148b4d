// Goal: times of writes are the clock's and grow. Method: a clock that runs, stops and is set back.
import { expect, test } from 'vitest';
import { timeEtag, WriteTimes } from './write-times.ts';

const START_MS = Date.UTC(2026, 10, 17, 12, 0, 0, 5);

test('the fraction of a time is the clock’s, and grows where the clock does not', () => {
  const times = new WriteTimes();
  const at = (ms: number): string => times.next(START_MS + ms).slice(11);
  expect([0, 0, 0, 7, 7, 995, 3, 996].map(at)).toEqual([
    '12:00:00.0050000Z',
    '12:00:00.0050001Z',
    '12:00:00.0050002Z',
    '12:00:00.0120000Z',
    '12:00:00.0120001Z',
    '12:00:01.0000000Z',
    '12:00:01.0000001Z',
    '12:00:01.0010000Z',
  ]);
});

test('20,001 writes in one millisecond have different times, in order', () => {
  const times = new WriteTimes();
  const found = Array.from({ length: 20_001 }, () => times.next(START_MS));
  expect(new Set(found).size).toBe(20_001);
  expect(found.toSorted()).toEqual(found);
  expect(found.at(-1)).toBe('2026-11-17T12:00:00.0070000Z');
});

test('an etag has the time in URL encoding', () => {
  expect(timeEtag('2026-11-17T12:00:00.0070000Z')).toBe(
    `W/"datetime'2026-11-17T12%3A00%3A00.0070000Z'"`,
  );
});
