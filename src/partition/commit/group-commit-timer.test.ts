// Goal: the timer waits for the right writers, and not too long. Method: fake timers, with calls as a committer makes them.
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

test('a group waits for the writers whose writes just completed', () => {
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

test('a group waits no longer than an interval without a new write', () => {
  gatherer.expect(0, 10);
  gatherer.collected(1);
  vi.advanceTimersByTime(1);
  expect(flushes).toBe(0);
  vi.advanceTimersByTime(1);
  expect(flushes).toBe(1);
});

test('a group waits eight milliseconds at most while writes keep coming', () => {
  gatherer.expect(0, 1000);
  for (let count = 1; count <= 8; count++) {
    gatherer.collected(count);
    expect(flushes).toBe(0);
    vi.advanceTimersByTime(1);
  }
  expect(flushes).toBe(1);
});
