/** Who is waited for, and for how long: the gatherer under a fake clock, told of writes as a committer would. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GroupCommitTimer } from './group-commit-timer.ts';

let flushes = 0;
let gatherer: GroupCommitTimer;

beforeEach(() => {
  vi.useFakeTimers();
  flushes = 0;
  gatherer = new GroupCommitTimer(() => {
    flushes++;
    gatherer.reset();
  });
});

afterEach(() => {
  vi.useRealTimers();
});

test('a single writer is committed at the end of the turn', () => {
  gatherer.collected(1);
  expect(flushes).toBe(0);
  vi.advanceTimersByTime(0);
  expect(flushes).toBe(1);
});

test('writers that were just answered are waited for until all are back', () => {
  gatherer.expect(1, 2);
  gatherer.collected(1);
  gatherer.collected(2);
  vi.advanceTimersByTime(0);
  expect(flushes).toBe(0);
  gatherer.collected(3);
  vi.advanceTimersByTime(0);
  expect(flushes).toBe(1);
  vi.advanceTimersByTime(100);
  expect(flushes).toBe(1);
});

test('nobody waits longer than a pause in which no other writer comes', () => {
  gatherer.expect(0, 10);
  gatherer.collected(1);
  vi.advanceTimersByTime(1);
  expect(flushes).toBe(0);
  vi.advanceTimersByTime(1);
  expect(flushes).toBe(1);
});

test('writers that keep coming are waited for eight milliseconds at most', () => {
  gatherer.expect(0, 1000);
  for (let count = 1; count <= 8; count++) {
    gatherer.collected(count);
    expect(flushes).toBe(0);
    vi.advanceTimersByTime(1);
  }
  expect(flushes).toBe(1);
});
