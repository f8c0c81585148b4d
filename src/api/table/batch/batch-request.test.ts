// Goal: parts that share their head are read as if each were alone. Method: batches whose parts differ in all but one detail.
import { expect, test } from 'vitest';
import { parseBatch } from './batch-request.ts';

const HEAD = 'content-type: application/http\r\n\r\nPOST /t HTTP/1.1\r\nAccept: a\r\n\r\n';

function parsed(...parts: readonly string[]) {
  const changes = parts.map((part) => `--c\r\n${part}\r\n`).join('');
  const body = `--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n${changes}--c--\r\n--b--\r\n`;
  const request = parseBatch('multipart/mixed; boundary=b', body);
  if (request.kind !== 'changes') throw new Error('no change set');
  return request.parts.map(({ method, url, headers, body: text, contentId }) => ({
    method,
    url,
    headers: ['accept', 'a', 'c'].map(headers),
    body: text,
    contentId,
  }));
}

test.each([
  ['bodies differ', `${HEAD}{"a":1}`, `${HEAD}\r\n {"a":2}\r\n`, `${HEAD}{"a":3}`],
  ['a body is empty', `${HEAD}{}`, HEAD, `${HEAD}{}`],
  ['URLs differ', `${HEAD}{}`, HEAD.replace('/t', '/u'), `${HEAD}{}`],
  [
    'a header is longer',
    'x: y\r\n\r\nGET /t HTTP/1.1\r\nA: b',
    'x: y\r\n\r\nGET /t HTTP/1.1\r\nA: bc',
  ],
  [
    'a header more',
    'x: y\r\n\r\nGET /t HTTP/1.1\r\nA: b',
    'x: y\r\n\r\nGET /t HTTP/1.1\r\nA: b\r\nC: d',
  ],
  ['ids differ', `content-id: 1\r\n${HEAD}{}`, `content-id: 12\r\n${HEAD}{}`, `${HEAD}{}`],
])('%s', (_name, ...parts) => {
  expect(parsed(...parts)).toEqual(parts.flatMap((part) => parsed(part)));
});

test('a part is what its text says', () => {
  const part = {
    method: 'POST',
    url: '/t',
    headers: ['a', undefined, undefined],
    contentId: undefined,
  };
  expect(parsed(`${HEAD}{"a":1}`, `${HEAD}{"a":2}`)).toEqual([
    { ...part, body: '{"a":1}' },
    { ...part, body: '{"a":2}' },
  ]);
});
