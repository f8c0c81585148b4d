// Goal: refusals of the core have the service's codes. Method: a table.
import { expect, test } from 'vitest';
import { DomainError, type ErrorCode } from '../../base/index.ts';
import { outcomeOf, refusalOf } from './errors.ts';

test.each<[ErrorCode, number, number, string, string]>([
  ['itemExists', 500, 409, 'ResourceConflictException', 'itemExists'],
  ['retryWith', 500, 412, 'PreconditionFailedException', 'preconditionFailed'],
  ['preconditionFailed', 500, 412, 'PreconditionFailedException', 'preconditionFailed'],
  ['throttled', 500, 429, 'RequestRateTooLargeException', 'throttled'],
  ['containerNotFound', 500, 404, 'NotFoundException', 'containerNotFound'],
  ['tooLarge', 500, 413, 'RequestEntityTooLargeException', 'invalidInput'],
  ['queryTimeout', 598, 1009, 'GraphTimeoutException', 'scriptTimeout'],
  ['unavailable', 500, 503, 'ServiceUnavailableException', 'unavailable'],
])('%s', (domainCode, code, status, type, outcome) => {
  const refusal = refusalOf(new DomainError(domainCode, 'x'));
  expect(refusal).toMatchObject({ code, status, type });
  expect(refusal && outcomeOf(refusal)).toBe(outcome);
});

test('a bug is no refusal', () => {
  expect(refusalOf(new TypeError('x'))).toBeUndefined();
});
