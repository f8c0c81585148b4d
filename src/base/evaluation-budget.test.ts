// Goal: whoever evaluates draws on one budget and is stopped where it ends. Method: limits small enough to be met at once.
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

test('values beyond the bytes of a stretch are refused before they are made', () => {
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
  // The next stretch has all of it again.
  budget.run(() => draw(1000));
});

test('a result of many has the bytes of a stretch for itself', () => {
  const budget = new EvaluationBudget(SMALL);
  budget.run(() => {
    for (let result = 0; result < 10; result++) {
      beginResult();
      draw(900);
    }
  });
});

test('what cannot be interrupted is refused by its size', () => {
  const budget = new EvaluationBudget(SMALL);
  budget.run(() => spend(5000));
  expect(() => budget.run(() => spend(5001))).toThrow('exceeded the time');
});

test('the steps of a stretch add up', () => {
  const budget = new EvaluationBudget(SMALL);
  const spendInParts = (count: number) =>
    budget.run(() => {
      for (let part = 0; part < count; part++) spend(100);
    });
  spendInParts(100);
  expect(() => spendInParts(130)).toThrow('exceeded the time');
});

test('a stretch that takes too long is refused at a look at the clock', () => {
  const budget = new EvaluationBudget({ ...FIXED_EVALUATION, ms: -1 });
  budget.run(() => spend(100));
  expect(() => budget.run(() => spend(3000))).toThrow('exceeded the time');
});

test('where the rest can be done elsewhere it is asked for, not refused', () => {
  const budget = new EvaluationBudget({ ...MOVABLE_EVALUATION, bytes: 10 });
  expect(() => budget.run(() => draw(11))).toThrow(EvaluationTooLong);
  expect(() => budget.run(() => spend(Number.MAX_SAFE_INTEGER))).toThrow(EvaluationTooLong);
});

test('after a refusal nothing is counted any more', () => {
  const budget = new EvaluationBudget(SMALL);
  expect(() => budget.run(() => draw(1001))).toThrow();
  draw(Number.MAX_SAFE_INTEGER);
  spend(Number.MAX_SAFE_INTEGER);
});
