/** For tests: streams of requests as attackers send them, and connections in memory to send them over. */
import { Duplex } from 'node:stream';
import type { Random } from '../base/index.ts';
import { randomRequest } from './test-kit.ts';

/** Pieces of a stream; between two of them the server processes all it has. */
export type Stream = readonly string[];

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)] as T;
}

const METHODS = ['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'MERGE', 'get', 'G ET', 'CONNECT', 'PRI'];
const MORE_METHODS = ['TRACE', 'PROPFIND', 'X', '', 'POST\t', ' GET', '\0'];
const URLS = ['/', '/a?b', '*', 'http://b/c', '//b/c', '/a b', '/a#b', '/\x80', 'b:80', '', '/\t'];
const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/0.9',
  'http/1.1',
  'HTTP/1.1 ',
  '',
];
const LINE_ENDS = ['\r\n', '\n', '\r', '\r\r\n', '\r\n ', '\r\n\t'];
const LENGTHS = [
  ...['0', '5', '05', '+5', '-5', '5 ', ' 5', '5,5', '5, 6', '5;', '0x5', '5e0', '5.0', ''],
  ...['999999999999999999999', '18446744073709551617', '5\t', '\v5', '5\0', 'x'],
];
const ENCODINGS = [
  ...['chunked', 'Chunked', 'chunked, identity', 'identity, chunked', 'xchunked', ' chunked '],
  ...['chunked;q=1', 'gzip, chunked', 'chunked, chunked', '"chunked"', '\vchunked', 'identity', ''],
];
const CONNECTIONS = [
  ...['close', 'keep-alive', 'Keep-Alive', 'keep-alive, close', 'close, keep-alive', 'upgrade', ''],
  ...['content-length', 'host', 'transfer-encoding', 'keep-alive\t', 'TE, keep-alive'],
];
const HEADERS: readonly ((random: Random) => string)[] = [
  (random) => `Content-Length: ${pick(random, LENGTHS)}`,
  (random) => `Transfer-Encoding: ${pick(random, ENCODINGS)}`,
  (random) => `Connection: ${pick(random, CONNECTIONS)}`,
  (random) => `Host: ${pick(random, ['a', 'b', '', 'a, b', 'a:80', '[::1]', 'a b', '\x80'])}`,
  (random) => `Expect: ${pick(random, ['100-continue', '100-Continue', '200-ok', ''])}`,
  (random) => `Upgrade: ${pick(random, ['websocket', 'h2c', ''])}`,
  () => 'Content-Length : 5',
  () => 'Content-Length\t: 5',
  () => 'Content-Length:5\r\nContent-Length:5',
  () => 'content-LENGTH: 5\r\nContent-Length: 6',
  () => 'Transfer-Encoding\0: chunked',
  () => ' X: folded',
  () => 'X: a\r\n b',
  () => ': no name',
  () => 'no colon',
  () => '__proto__: x',
  () => 'constructor: x\r\nhasOwnProperty: y',
  () => 'Set-Cookie: a\r\nSet-Cookie: b',
  () => 'Cookie: a\r\nCookie: b',
  () => 'Authorization: a\r\nauthorization: b',
  () => 'X-Ms-Date: a\r\nx-ms-date: b',
  () => 'Trailer: x',
  () => 'TE: trailers',
  () => 'Proxy-Connection: keep-alive',
  () => 'Keep-Alive: timeout=1',
  (random) => `X: ${'y'.repeat(random.below(20_000))}`,
  (random) => `${'X: y\r\n'.repeat(random.below(300))}Z: z`,
  (random) =>
    `X${String.fromCharCode(random.below(256))}: y${String.fromCharCode(random.below(256))}`,
];
const BODIES: readonly string[] = [
  ...[
    '',
    '12345',
    '123456',
    '5\r\nabcde\r\n0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\n\r\nX',
    '5\nabcde\n0\n\n',
  ],
  ...[
    '5;a=b\r\nabcde\r\n0\r\nT: t\r\n\r\n',
    'g\r\n',
    '5\r\nabcdefg\r\n',
    'ffffffffffffffff1\r\nab',
  ],
  ...[
    '-1\r\n',
    '+5\r\nabcde\r\n0\r\n\r\n',
    '0x5\r\nabcde\r\n',
    ' 5\r\nabcde\r\n0\r\n\r\n',
    '5 \r\nabcde\r\n',
  ],
  ...[
    '05\r\nabcde\r\n0\r\n\r\n',
    '\r\n5\r\nabcde\r\n',
    'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
];

/** A request that is most often invalid. */
function hostileRequest(random: Random): string {
  const method = pick(random, random.below(8) === 0 ? MORE_METHODS : METHODS);
  const url = random.below(3) === 0 ? pick(random, URLS) : '/x';
  const version = random.below(6) === 0 ? pick(random, VERSIONS) : 'HTTP/1.1';
  const lines = [`${method} ${url} ${version}`];
  if (random.below(12) > 0) lines.push('Host: a');
  for (let count = random.below(4); count > 0; count--) lines.push(pick(random, HEADERS)(random));
  const end = (): string => (random.below(40) === 0 ? pick(random, LINE_ENDS) : '\r\n');
  const before = random.below(12) === 0 ? pick(random, ['\r\n', '\n', '\r', ' ', '\r\n\r\n']) : '';
  const head = lines.map((line) => `${line}${end()}`).join('');
  return `${before}${head}${end()}${pick(random, BODIES)}`;
}

/** The text with bytes changed, lost, doubled or added at a random position. */
function mutated(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const to = Math.min(text.length, at + random.below(12));
  const noise = String.fromCharCode(random.below(256));
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at) + noise + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + text.slice(to);
    case 2:
      return text.slice(0, to) + text.slice(at);
    case 3:
      return text.slice(0, at) + pick(random, LINE_ENDS) + text.slice(at);
    default:
      return text.slice(0, at);
  }
}

/** Several requests, each in one or two pieces. */
export function hostileStream(random: Random): Stream {
  const pieces: string[] = [];
  for (let count = 1 + random.below(4); count > 0; count--) {
    let text = random.below(3) === 0 ? randomRequest(random) : hostileRequest(random);
    if (random.below(3) === 0) text = mutated(random, text);
    if (random.below(4) === 0) {
      const cut = random.below(text.length + 1);
      pieces.push(text.slice(0, cut), text.slice(cut));
    } else pieces.push(text);
  }
  return pieces.filter((piece) => piece !== '');
}

/** The server's end of a connection in memory. Every byte that is written is kept. */
export class MemorySocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  readonly localAddress = '127.0.0.1';
  readonly localPort = 80;
  sent = '';
  #hasEnded = false;

  constructor() {
    super({ allowHalfOpen: true, autoDestroy: true });
  }

  /** True where the server has ended its half. */
  get isOver(): boolean {
    return this.#hasEnded || this.destroyed;
  }

  receive(text: string): void {
    if (!this.destroyed) this.push(Buffer.from(text, 'latin1'));
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.sent += chunk.toString('latin1');
    done();
  }

  override _final(done: () => void): void {
    this.#hasEnded = true;
    done();
  }
}
