// Goal: signatures cover the right type and link. Method: known vectors made with the documented recipe.
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { authorization } from './client.ts';

const DATE = 'Thu, 27 Apr 2017 00:51:12 GMT';
const KEY =
  'dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==';

test('the documented example', () => {
  expect(authorization({ verb: 'GET', path: ['dbs', 'ToDoList'], date: DATE, key: KEY })).toBe(
    'type%3Dmaster%26ver%3D1.0%26sig%3Dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D',
  );
});

test.each([
  [['dbs'], 'get\ndbs\n\n'],
  [['dbs', 'A', 'colls'], 'get\ncolls\ndbs/A\n'],
  [['dbs', 'A', 'colls', 'ü'], 'get\ncolls\ndbs/A/colls/ü\n'],
  [['dbs', 'A', 'colls', 'B', 'docs', 'x y'], 'get\ndocs\ndbs/A/colls/B/docs/x y\n'],
  [['_mesocosm', 'partitions'], 'get\n\n_mesocosm/partitions\n'],
])('%j', (path, start) => {
  const text = `${start}${DATE.toLowerCase()}\n\n`;
  const signature = createHmac('sha256', Buffer.from(KEY, 'base64')).update(text).digest('base64');
  expect(authorization({ verb: 'GET', path, date: DATE, key: KEY })).toBe(
    encodeURIComponent(`type=master&ver=1.0&sig=${signature}`),
  );
});
