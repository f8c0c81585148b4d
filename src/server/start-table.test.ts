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
  expect(endpointOf('nosql', host, 1)).toBe(endpoint);
});

test.each([
  ['table', 'http://[::1]:1/', 'https://[::1]:1/'],
  ['gremlin', 'ws://[::1]:1/', 'wss://[::1]:1/'],
  ['mongo', 'mongodb://[::1]:1/', 'mongodb://[::1]:1/?tls=true'],
  ['cassandra', '[::1]:1', '[::1]:1'],
] as const)('clients of %s write %s, and %s with TLS', (api, plain, tls) => {
  expect([endpointOf(api, '::1', 1), endpointOf(api, '::1', 1, true)]).toEqual([plain, tls]);
});

test.each([
  ['mongo', false, 'mongodb://localhost:a%2Bk%3D@127.0.0.1:5/?directConnection=true'],
  ['mongo', true, 'mongodb://localhost:a%2Bk%3D@127.0.0.1:5/?directConnection=true&tls=true'],
  ['cassandra', false, 'HostName=127.0.0.1;Port=5;Username=localhost;Password=a+k=;'],
  ['gremlin', true, 'AccountEndpoint=wss://127.0.0.1:5/;AccountKey=a+k=;ApiKind=Gremlin;'],
] as const)('the connection string of %s, TLS %s', (api, isTls, expected) => {
  const table = printStartTable({
    endpoints: { [api]: endpointOf(api, '127.0.0.1', 5, isTls) },
    ports: { nosql: 'off', mongo: 5, gremlin: 5, table: 'off', cassandra: 5, portal: 'off' },
    key: 'a+k=',
  });
  expect(table).toContain(`  ${expected}\n`);
});
