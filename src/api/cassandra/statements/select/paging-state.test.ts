import { expect, test } from 'vitest';
import { decodePagingState, encodePagingState } from './paging-state.ts';

const STATE = {
  partition: 2,
  slice: 1,
  hasRows: true,
  left: 7,
  leftInPartition: undefined,
  continuation: 'abc',
  key: [Buffer.from([0, 0, 0, 5])],
};
const PRINTED = '016647f5eb00000002000000010100000007ffffffff0000000361626300010000000400000005';

test('a paging state without a group is read and written as before there were groups', () => {
  expect(Buffer.from(encodePagingState(STATE, 'statement')).toString('hex')).toBe(PRINTED);
  expect(decodePagingState(Buffer.from(PRINTED, 'hex'), 'statement')).toEqual(STATE);
});

test('a paging state has the last group', () => {
  const state = { ...STATE, group: [Buffer.from('a'), Buffer.from('')] };
  expect(decodePagingState(encodePagingState(state, 'statement'), 'statement')).toEqual(state);
});

test('a null in the key of a paging state is refused', () => {
  const damaged = Buffer.from(`${PRINTED.slice(0, -16)}ffffffff`, 'hex');
  expect(() => decodePagingState(damaged, 'statement')).toThrow(
    'Invalid value for the paging state',
  );
});
