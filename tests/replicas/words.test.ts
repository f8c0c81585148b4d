// Goal: every protocol has its own words for a write that was not applied, and others for one of unknown outcome. Method:
// the refusals of the layers below, as each API maps them.
import { expect, test } from 'vitest';
import { cqlErrorOf } from '../../src/api/cassandra/errors.ts';
import { refusalOf } from '../../src/api/gremlin/errors.ts';
import { mongoErrorOf } from '../../src/api/mongo/errors.ts';
import { statusOf } from '../../src/api/nosql/errors.ts';
import { tableErrorOf } from '../../src/api/table/errors.ts';
import { DomainError } from '../../src/base/index.ts';

const refused = new DomainError('unavailable', 'Writes need 3 members, and 2 are there.');
const unknown = new DomainError('outcomeUnknown', 'The connection was lost.');

test('a write that was not applied', () => {
  expect(statusOf(refused)).toEqual({ status: 503, substatus: 0 });
  expect(tableErrorOf(refused)).toMatchObject({ status: 503, tableCode: 'ServerBusy' });
  expect(cqlErrorOf(refused)).toMatchObject({ cqlCode: 'unavailable' });
  expect(refusalOf(refused)).toMatchObject({ status: 503 });
  expect(mongoErrorOf(refused).mongoCode).not.toBe(mongoErrorOf(unknown).mongoCode);
});

test('a write of unknown outcome', () => {
  expect(statusOf(unknown)).toEqual({ status: 408, substatus: 0 });
  expect(tableErrorOf(unknown)).toMatchObject({ tableCode: 'OperationTimedOut' });
  expect(cqlErrorOf(unknown)).toMatchObject({ cqlCode: 'writeTimeout' });
  expect(refusalOf(unknown)).toMatchObject({ status: 408 });
  expect(mongoErrorOf(unknown)).toMatchObject({
    mongoCode: 'NetworkTimeout',
    labels: ['RetryableWriteError'],
  });
});
