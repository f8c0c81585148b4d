// Goal: all evaluation draws on one budget and is stopped at its limit. Method: limits small enough to be reached at
// once.
import { expect, test } from 'vitest';
import { DomainError } from './errors.ts';
import {
  beginResult,
  draw,
  EvaluationBudget,
  EvaluationTooLong,
  FIXED_EVALUATION,
  MOVABLE_EVALUATION,
  spend,
} from './evaluation-budget.ts';

const ENDLESS = { ms: Number.POSITIVE_INFINITY, totalMs: Number.POSITIVE_INFINITY };
const SMALL = { ...FIXED_EVALUATION, ...ENDLESS, bytes: 1000, stepsAtOnce: 5000, steps: 10_000 };

test('outside of any budget nothing is counted', () => {
  draw(Number.MAX_SAFE_INTEGER);
  spend(Number.MAX_SAFE_INTEGER);
});

test('values beyond the bytes of one evaluation are refused before they are created', () => {
  const budget = new EvaluationBudget(SMALL);
  expect(budget.run(() => draw(1000))).toBeUndefined();
  let isMade = false;
  const tooLarge = () =>
    budget.run(() => {
      draw(600);
      draw(600);
      isMade = true;
    });
  expect(tooLarge).toThrow(DomainError);
  expect(tooLarge).toThrow('size of the values');
  expect(isMade).toBe(false);
  // The next evaluation has the whole limit again.
  budget.run(() => draw(1000));
});

test('each of many results has the bytes of a whole evaluation', () => {
  const budget = new EvaluationBudget(SMALL);
  budget.run(() => {
    for (let result = 0; result < 10; result++) {
      beginResult();
      draw(900);
    }
  });
});

test('work that cannot be interrupted is refused by its size', () => {
  const budget = new EvaluationBudget(SMALL);
  budget.run(() => spend(5000));
  expect(() => budget.run(() => spend(5001))).toThrow('exceeded the time');
});

test('the steps of an evaluation add up', () => {
  const budget = new EvaluationBudget(SMALL);
  const spendInParts = (count: number) =>
    budget.run(() => {
      for (let part = 0; part < count; part++) spend(100);
    });
  spendInParts(100);
  expect(() => spendInParts(130)).toThrow('exceeded the time');
});

test('an evaluation that takes too long is refused when the clock is read', () => {
  const budget = new EvaluationBudget({ ...FIXED_EVALUATION, ms: -1 });
  budget.run(() => spend(100));
  expect(() => budget.run(() => spend(3000))).toThrow('exceeded the time');
});

test('an evaluation that can move to another thread is not refused', () => {
  const budget = new EvaluationBudget({ ...MOVABLE_EVALUATION, bytes: 10 });
  expect(() => budget.run(() => draw(11))).toThrow(EvaluationTooLong);
  expect(() => budget.run(() => spend(Number.MAX_SAFE_INTEGER))).toThrow(EvaluationTooLong);
});

test('nothing is counted after a refusal', () => {
  const budget = new EvaluationBudget(SMALL);
  expect(() => budget.run(() => draw(1001))).toThrow();
  draw(Number.MAX_SAFE_INTEGER);
  spend(Number.MAX_SAFE_INTEGER);
});
