// Goal: a request is understood as the service its client believes to talk to. Method: tables of hosts, names and words.
import { expect, test } from 'vitest';
import { dialectOf } from './dialect.ts';
import { TableError, UNREADABLE } from './errors.ts';

const STORAGE = dialectOf('127.0.0.1:8902');
const COSMOS = dialectOf('localhost:8902');

test.each([
  ['localhost', COSMOS],
  ['localhost:8902', COSMOS],
  ['a.table.cosmos.azure.com', COSMOS],
  ['a.table.cosmosdb.azure.com:443', COSMOS],
  ['localhost:10002', STORAGE],
  ['localhost.example', STORAGE],
  ['127.0.0.1:8902', STORAGE],
  ['a.table.core.windows.net', STORAGE],
  ['a.table.localhost:8902', STORAGE],
  [undefined, STORAGE],
])('the host %s', (host, dialect) => {
  expect(dialectOf(host)).toBe(dialect);
});

test.each([
  ['abc', undefined, undefined],
  ['a', 'OutOfRangeInput', undefined],
  ['my_table', 'InvalidResourceName', undefined],
  ['啊齄丂', 'InvalidResourceName', undefined],
  ['1table', 'InvalidResourceName', undefined],
  ['-'.repeat(254), 'OutOfRangeInput', undefined],
  ['-'.repeat(255), 'OutOfRangeInput', 'BadRequest'],
  ['', 'OutOfRangeInput', 'BadRequest'],
  ['a/b', 'InvalidResourceName', 'InvalidInput'],
  ['a\\b', 'InvalidResourceName', 'InvalidInput'],
  ['a#b', 'InvalidResourceName', 'InvalidInput'],
  ['a?b', 'InvalidResourceName', 'InvalidInput'],
  ['a\nb', 'InvalidResourceName', 'InvalidInput'],
  ['ab ', 'InvalidResourceName', 'InvalidInput'],
  ['ab\ud800', 'InvalidResourceName', 'InvalidInput'],
  ['Tables', 'InvalidResourceName', 'InvalidInput'],
])('the name %j', (name, storage, cosmos) => {
  expect(codeOf(() => STORAGE.checkTableName(name))).toBe(storage);
  expect(codeOf(() => COSMOS.checkTableName(name))).toBe(cosmos);
});

test('Cosmos has its own words for input that is not valid, and Storage two', () => {
  const errors = [
    new TableError('InvalidInput'),
    new TableError('InvalidInput', UNREADABLE),
    new TableError('InvalidInput', 'in words of its own'),
    new TableError('ServerBusy', undefined, { retryAfterMs: 7, charge: 3 }),
  ];
  expect(errors.map((error) => STORAGE.translated(error))).toEqual(errors);
  expect(errors.map((error) => COSMOS.translated(error).message)).toEqual([
    'One of the input values is invalid.',
    'One of the input values is invalid.',
    'in words of its own',
    errors[3]?.message,
  ]);
});

test('a refusal keeps its charge in other words', () => {
  const translated = COSMOS.translated(
    new TableError('InvalidInput', undefined, { retryAfterMs: 7, charge: 3 }),
  );
  expect(translated).toMatchObject({ tableCode: 'InvalidInput', retryAfterMs: 7, charge: 3 });
});

function codeOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as TableError).tableCode;
  }
}
