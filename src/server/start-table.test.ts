// Goal: the table tells the truth about each API. Method: exact lines.
import { expect, test } from 'vitest';
import { endpointOf, printStartTable } from './start-table.ts';

test('served, not yet, off', () => {
  const table = printStartTable({
    endpoints: { nosql: 'http://127.0.0.1:8081/' },
    ports: { nosql: 8081, mongo: 10255, gremlin: 'off', table: 1, cassandra: 2, portal: 3 },
    key: 'a2V5',
  });
  expect(table.split('\n').slice(0, 4)).toEqual([
    'API        endpoint                connection string',
    'NoSQL      http://127.0.0.1:8081/  AccountEndpoint=http://127.0.0.1:8081/;AccountKey=a2V5;',
    'MongoDB    not served yet',
    'Gremlin    off',
  ]);
});

test('without a key the table has no connection strings', () => {
  const table = printStartTable({
    endpoints: { nosql: 'http://127.0.0.1:8081/' },
    ports: { nosql: 8081, mongo: 10255, gremlin: 'off', table: 1, cassandra: 2, portal: 3 },
    key: undefined,
  });
  expect(table.split('\n').slice(0, 3)).toEqual([
    'API        endpoint',
    'NoSQL      http://127.0.0.1:8081/',
    'MongoDB    not served yet',
  ]);
  expect(table).not.toContain('AccountKey');
  expect(table).toContain('mesocosm keys list');
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:1/'],
  ['::1', 'http://[::1]:1/'],
  ['0.0.0.0', 'http://localhost:1/'],
  ['::', 'http://localhost:1/'],
  ['db.example', 'http://db.example:1/'],
])('%s is reached at %s', (host, endpoint) => {
  expect(endpointOf(host, 1)).toBe(endpoint);
});
