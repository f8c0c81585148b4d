// Goal: only heads that every parser reads alike are accepted. Method: a table of heads, simple and not.
import { describe, expect, test } from 'vitest';
import { RequestHeads } from './request-head.ts';

const heads = new RequestHeads(1000);
const HOST = 'Host: a\r\n';

describe('simple', () => {
  test.each<[string, string, object]>([
    ['a read', `GET / HTTP/1.1\r\n${HOST}\r\n`, { method: 'GET', url: '/', bodyBytes: 0 }],
    ['a path', `GET /a%20b?c=d&e HTTP/1.1\r\n${HOST}\r\n`, { url: '/a%20b?c=d&e' }],
    ['a verb of tables', `MERGE /t HTTP/1.1\r\n${HOST}\r\n`, { method: 'MERGE' }],
    ['a body', `POST / HTTP/1.1\r\n${HOST}content-length: 12\r\n\r\n`, { bodyBytes: 12 }],
    ['a body of nothing', `PUT / HTTP/1.1\r\n${HOST}content-length: 0\r\n\r\n`, { bodyBytes: 0 }],
    [
      'blanks around values, capitals in names',
      'GET / HTTP/1.1\r\nHOST:a\r\nX-Ms-Date: \t b c\t \r\nempty:\r\nblank: \r\n\r\n',
      { headers: { host: 'a', 'x-ms-date': 'b c', empty: '', blank: '' } },
    ],
    [
      'bytes beyond ASCII, colons in values',
      'GET / HTTP/1.1\r\nHost: a:1\r\nx: \xe9\xff\r\n\r\n',
      { headers: { host: 'a:1', x: '\xe9\xff' } },
    ],
    [
      'keep-alive',
      `GET / HTTP/1.1\r\n${HOST}Connection: Keep-Alive\r\n\r\n`,
      { headers: { host: 'a', connection: 'Keep-Alive' } },
    ],
  ])('%s', (_, text, expected) => {
    expect(heads.read(text)).toMatchObject({ ...expected, bytes: text.length });
    const behind = heads.read(`${text}GET / HTTP/1.0\r\n\r\n`);
    expect(behind).toMatchObject({ ...expected, bytes: text.length });
  });
});

describe('not simple', () => {
  test.each<[string, string]>([
    ['nothing', ''],
    ['a verb we do not serve', `TRACE / HTTP/1.1\r\n${HOST}\r\n`],
    ['a verb in small letters', `get / HTTP/1.1\r\n${HOST}\r\n`],
    ['an empty line first', `\r\nGET / HTTP/1.1\r\n${HOST}\r\n`],
    ['an older version', `GET / HTTP/1.0\r\n${HOST}\r\n`],
    ['a version that is none', `GET / HTTP/1.12\r\n${HOST}\r\n`],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a URL with a host', `GET http://a/ HTTP/1.1\r\n${HOST}\r\n`],
    ['a star', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
    ['two blanks', `GET  / HTTP/1.1\r\n${HOST}\r\n`],
    ['a blank in the path', `GET /a b HTTP/1.1\r\n${HOST}\r\n`],
    ['a tab in the path', `GET /a\tb HTTP/1.1\r\n${HOST}\r\n`],
    ['bytes beyond ASCII in the path', `GET /\xe9 HTTP/1.1\r\n${HOST}\r\n`],
    ['a fragment', `GET /#a HTTP/1.1\r\n${HOST}\r\n`],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['an empty host', 'GET / HTTP/1.1\r\nHost: \r\n\r\n'],
    ['two hosts', `GET / HTTP/1.1\r\n${HOST}host: b\r\n\r\n`],
    ['a name twice', `GET / HTTP/1.1\r\n${HOST}x: 1\r\nX: 1\r\n\r\n`],
    ['a name every object has', `GET / HTTP/1.1\r\n${HOST}constructor: 1\r\n\r\n`],
    ['a name that is no header', `GET / HTTP/1.1\r\n${HOST}__proto__: 1\r\n\r\n`],
    ['two lengths', `POST / HTTP/1.1\r\n${HOST}content-length: 1\r\nContent-Length: 1\r\n\r\n`],
    ['two lengths in one', `POST / HTTP/1.1\r\n${HOST}content-length: 1, 1\r\n\r\n`],
    ['a signed length', `POST / HTTP/1.1\r\n${HOST}content-length: +1\r\n\r\n`],
    ['a negative length', `POST / HTTP/1.1\r\n${HOST}content-length: -1\r\n\r\n`],
    ['a length in another base', `POST / HTTP/1.1\r\n${HOST}content-length: 0x1\r\n\r\n`],
    ['an empty length', `POST / HTTP/1.1\r\n${HOST}content-length:\r\n\r\n`],
    ['a length beyond the bound', `POST / HTTP/1.1\r\n${HOST}content-length: 1001\r\n\r\n`],
    ['chunks', `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\n`],
    [
      'a length and chunks',
      `POST / HTTP/1.1\r\n${HOST}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`,
    ],
    ['chunks, misspelt', `POST / HTTP/1.1\r\n${HOST}transfer-encoding : chunked\r\n\r\n`],
    ['a blank before the colon', `GET / HTTP/1.1\r\n${HOST}x : 1\r\n\r\n`],
    ['a folded line', `GET / HTTP/1.1\r\n${HOST}x: 1\r\n 2\r\n\r\n`],
    ['a folded first line', 'GET / HTTP/1.1\r\n Host: a\r\n\r\n'],
    ['no name', `GET / HTTP/1.1\r\n${HOST}: 1\r\n\r\n`],
    ['no colon', `GET / HTTP/1.1\r\n${HOST}x\r\n\r\n`],
    ['no colon but a later one', `GET / HTTP/1.1\r\nx\r\n${HOST}\r\n`],
    ['a bare line feed', 'GET / HTTP/1.1\r\nHost: a\nx: 1\r\n\r\n'],
    ['bare line feeds only', 'GET / HTTP/1.1\nHost: a\n\n'],
    ['a bare line feed at the end', 'GET / HTTP/1.1\r\nHost: a\r\n\n'],
    ['a bare return', 'GET / HTTP/1.1\r\nHost: a\rx: 1\r\n\r\n'],
    ['a bare return at the end', 'GET / HTTP/1.1\r\nHost: a\r\n\rx'],
    ['a zero byte', 'GET / HTTP/1.1\r\nHost: a\0\r\n\r\n'],
    ['a control character', 'GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n'],
    ['a delete character', 'GET / HTTP/1.1\r\nHost: a\x7f\r\n\r\n'],
    ['a name beyond ASCII', `GET / HTTP/1.1\r\n${HOST}\xe9: 1\r\n\r\n`],
    ['a wish to go on', `POST / HTTP/1.1\r\n${HOST}expect: 100-continue\r\n\r\n`],
    ['an upgrade', `GET / HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: websocket\r\n\r\n`],
    ['a close', `GET / HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`],
    ['a list of connections', `GET / HTTP/1.1\r\n${HOST}connection: keep-alive, x\r\n\r\n`],
    ['a connection of proxies', `GET / HTTP/1.1\r\n${HOST}proxy-connection: keep-alive\r\n\r\n`],
    ['cookies set by a client', `GET / HTTP/1.1\r\n${HOST}set-cookie: a\r\n\r\n`],
    [
      'too many headers',
      `GET / HTTP/1.1\r\n${HOST}${Array.from({ length: 101 }, (_, at) => `x${at}: 1\r\n`).join('')}\r\n`,
    ],
  ])('%s', (_, text) => {
    expect(heads.read(text)).toBeUndefined();
  });
});

describe('partial', () => {
  test('what is not complete, wherever it ends behind the verb', () => {
    const text = `POST /dbs HTTP/1.1\r\n${HOST}x: 1\r\ncontent-length: 5\r\n\r\n`;
    for (let end = 0; end < text.length; end++)
      expect(heads.read(text.slice(0, end))).toBe(end <= 'POST'.length ? undefined : 'partial');
    expect(heads.read(text)).toMatchObject({ bodyBytes: 5 });
  });

  test.each<[string, string]>([
    ['no path', 'GET x'],
    ['a version that is none', 'GET / HTTQ'],
    ['no name', `GET / HTTP/1.1\r\n${HOST} x`],
    ['an end that is none', `GET / HTTP/1.1\r\n${HOST}\rx`],
    ['a control character', `GET / HTTP/1.1\r\n${HOST}x: \x01`],
    ['chunks', `POST / HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\nx`],
  ])('but not with %s', (_, text) => {
    expect(heads.read(text)).toBeUndefined();
  });
});

test('spellings are kept within bounds, and what is not kept is read as well', () => {
  const crowded = new RequestHeads(0);
  for (let at = 0; at < 2000; at++) {
    const head = crowded.read(`GET / HTTP/1.1\r\n${HOST}X-${at}: ${at}\r\n\r\n`);
    expect(head).toMatchObject({ headers: { host: 'a', [`x-${at}`]: String(at) } });
  }
});
