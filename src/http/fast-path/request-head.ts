/**
 * Reads the head of a simple request: HTTP/1.1 with nothing in it that two parsers might read differently. Everything
 * else, from old proxies to attacks, is left to node:http, whose verdict is then the only one; so this reader is small
 * and knows no errors.
 */
import type { Head } from '../base-exchange.ts';

/** Heads are some 600 bytes; long ones (session tokens of many partitions) are left to node:http. */
export const HEAD_BYTES_MAX = 16 * 1024;

/** Node takes 2,000; known clients send fewer than fifty. */
const HEADERS_MAX = 100;

export interface RequestHead extends Head {
  /** Bytes of the head itself, with the empty line. */
  readonly bytes: number;
  /** Length of the body; 0 where none is announced. */
  readonly bodyBytes: number;
}

/** These strings are handed out, so that handlers compare identical strings. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'MERGE'];

type NameKind = 'plain' | 'host' | 'length' | 'connection' | 'accept' | 'notSimple';

interface HeaderName {
  readonly spelling: string;
  readonly lower: string;
  readonly kind: NameKind;
}

/** Headers that change how a message is read, or whose values node presents in another form. */
const KINDS: Readonly<Record<string, NameKind>> = {
  host: 'host',
  'content-length': 'length',
  connection: 'connection',
  accept: 'accept',
  'transfer-encoding': 'notSimple',
  expect: 'notSimple',
  upgrade: 'notSimple',
  'proxy-connection': 'notSimple',
  te: 'notSimple',
  trailer: 'notSimple',
  'set-cookie': 'notSimple',
};

/** Bounds of the cache of spellings: clients have a fixed set of a few dozen. */
const SPELLINGS_MAX = 512;
const SPELLING_LENGTH_MAX = 64;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** The beginning of a name that may still be arriving. */
const NAME_START = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]*$/;
const DIGITS = /^\d{1,9}$/;
const VERSION = 'HTTP/1.1\r\n';

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const HASH = 0x23;
const SLASH = 0x2f;
const DELETE = 0x7f;

export class RequestHeads {
  readonly #bodyBytesMax: number;
  /** By spelling: saves the check and the conversion to lower case. */
  readonly #names = new Map<string, HeaderName>();
  /** Names of the last request in order: the next request most often has the same ones. */
  readonly #last: HeaderName[] = [];

  constructor(bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax;
  }

  /**
   * `text` has one character per byte and may continue after the head. `partial`: simple so far, but the head's end is
   * missing. Undefined: not simple.
   */
  read(text: string): RequestHead | 'partial' | undefined {
    const methodEnd = text.indexOf(' ');
    const method = METHODS[METHODS.indexOf(text.slice(0, methodEnd))];
    if (method === undefined) return undefined;
    const urlEnd = endOfUrl(text, methodEnd + 1);
    if (urlEnd < 0) return undefined;
    if (!text.startsWith(VERSION, urlEnd + 1))
      return VERSION.startsWith(text.slice(urlEnd + 1)) ? 'partial' : undefined;
    const url = text.slice(methodEnd + 1, urlEnd);
    const headers: Record<string, string> = {};
    let bodyBytes = 0;
    let hasHost = false;
    let at = urlEnd + 1 + VERSION.length;
    for (let count = 0; count <= HEADERS_MAX; count++) {
      if (text.charCodeAt(at) === CR) {
        if (at + 1 === text.length) return 'partial';
        if (text.charCodeAt(at + 1) !== LF || !hasHost) return undefined;
        return { method, url, headers, bytes: at + 2, bodyBytes };
      }
      const nameEnd = text.indexOf(':', at);
      if (nameEnd < 0) return NAME_START.test(text.slice(at)) ? 'partial' : undefined;
      const name = this.#nameAt(count, text.slice(at, nameEnd));
      if (name === undefined) return undefined;
      const lineEnd = endOfValue(text, nameEnd + 1);
      if (lineEnd < 0) return undefined;
      if (lineEnd + 2 > text.length) return 'partial';
      const value = trimmed(text, nameEnd + 1, lineEnd);
      const { lower, kind } = name;
      // A repeated header; or a name that every object has, such as `constructor`.
      if (headers[lower] !== undefined) return undefined;
      if (kind !== 'plain') {
        if (!isSimple(kind, value)) return undefined;
        if (kind === 'host') hasHost = true;
        else if (kind === 'length') bodyBytes = Number(value);
        if (bodyBytes > this.#bodyBytesMax) return undefined;
      }
      headers[lower] = value;
      at = lineEnd + 2;
    }
    return undefined;
  }

  /** Undefined where the spelling is not a valid name. */
  #nameAt(position: number, spelling: string): HeaderName | undefined {
    const last = this.#last[position];
    if (last?.spelling === spelling) return last;
    const name = this.#nameOf(spelling);
    if (name !== undefined) this.#last[position] = name;
    return name;
  }

  #nameOf(spelling: string): HeaderName | undefined {
    const cached = this.#names.get(spelling);
    if (cached !== undefined) return cached;
    if (!TOKEN.test(spelling)) return undefined;
    const lower = spelling.toLowerCase();
    const name = {
      // A copy: a slice would keep the whole request in memory.
      spelling: Buffer.from(spelling, 'latin1').toString('latin1'),
      lower,
      kind: Object.hasOwn(KINDS, lower) ? (KINDS[lower] as NameKind) : 'plain',
    };
    if (spelling.length <= SPELLING_LENGTH_MAX && this.#names.size < SPELLINGS_MAX)
      this.#names.set(name.spelling, name);
    return name;
  }
}

function isSimple(kind: NameKind, value: string): boolean {
  switch (kind) {
    case 'host':
      return value !== '';
    case 'length':
      return DIGITS.test(value);
    case 'connection':
      return value === 'keep-alive' || value.toLowerCase() === 'keep-alive';
    // A response without an end is written by node:http.
    case 'accept':
      return !value.includes('text/event-stream');
    default:
      return false;
  }
}

/**
 * Returns the position of the space after the URL, or the end of the text; -1 where it is not a path, or has characters
 * that a client must encode.
 */
function endOfUrl(text: string, start: number): number {
  if (start < text.length && text.charCodeAt(start) !== SLASH) return -1;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === SPACE) return at;
    if (code < SPACE || code >= DELETE || code === HASH) return -1;
  }
  return text.length;
}

/** Returns the position of the line's CR LF, or the end of the text; -1 where another control character comes first. */
function endOfValue(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= SPACE ? code !== DELETE : code === TAB) continue;
    return code === CR && (at + 1 === text.length || text.charCodeAt(at + 1) === LF) ? at : -1;
  }
  return text.length;
}

function trimmed(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
