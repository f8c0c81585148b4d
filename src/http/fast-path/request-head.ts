/**
 * Reads the head of an ordinary request: HTTP/1.1 with nothing in it that two parsers might see differently. Whatever
 * else there is, from old proxies to attacks, is left to node:http, whose verdict is then the only one; so this reader
 * may be small, and need not know any error.
 */
import type { Head } from '../base-exchange.ts';

/** Heads are some 600 bytes; long ones (session tokens of many partitions) are not worth a second way. */
export const HEAD_BYTES_MAX = 16 * 1024;

/** Node keeps 2,000; no client of ours sends fifty. */
const HEADERS_MAX = 100;

export interface RequestHead extends Head {
  /** Bytes of the head itself, with the empty line. */
  readonly bytes: number;
  /** Of the body; 0 where none is announced. */
  readonly bodyBytes: number;
}

/** The very strings that handlers compare with. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'MERGE'];

type NameKind = 'plain' | 'host' | 'length' | 'connection' | 'odd';

interface HeaderName {
  readonly spelling: string;
  readonly lower: string;
  readonly kind: NameKind;
}

/** Names that change how a message is read, or whose values node gives another form. */
const KINDS: Readonly<Record<string, NameKind>> = {
  host: 'host',
  'content-length': 'length',
  connection: 'connection',
  'transfer-encoding': 'odd',
  expect: 'odd',
  upgrade: 'odd',
  'proxy-connection': 'odd',
  te: 'odd',
  trailer: 'odd',
  'set-cookie': 'odd',
};

/** Spellings kept, and their length: clients have a fixed set of a few dozen. */
const SPELLINGS_MAX = 512;
const SPELLING_LENGTH_MAX = 64;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** As much of one as is there. */
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
  /** By spelling: saves the check, the lower case and the search for an equal string. */
  readonly #names = new Map<string, HeaderName>();
  /** Of the last request, in its order: the next one is most often of the same client, or of its like. */
  readonly #last: HeaderName[] = [];

  constructor(bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax;
  }

  /**
   * `text` has one character per byte and may go on behind the head. Partial: as far as it goes it is ordinary, but its end
   * is not there. Undefined: not ordinary.
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
      // Also what every object has: `constructor` and the like.
      if (headers[lower] !== undefined) return undefined;
      if (kind !== 'plain') {
        if (!isOrdinary(kind, value)) return undefined;
        if (kind === 'host') hasHost = true;
        else if (kind === 'length') bodyBytes = Number(value);
        if (bodyBytes > this.#bodyBytesMax) return undefined;
      }
      headers[lower] = value;
      at = lineEnd + 2;
    }
    return undefined;
  }

  /** Undefined where it is no name. */
  #nameAt(place: number, spelling: string): HeaderName | undefined {
    const last = this.#last[place];
    if (last?.spelling === spelling) return last;
    const name = this.#nameOf(spelling);
    if (name !== undefined) this.#last[place] = name;
    return name;
  }

  #nameOf(spelling: string): HeaderName | undefined {
    const known = this.#names.get(spelling);
    if (known !== undefined) return known;
    if (!TOKEN.test(spelling)) return undefined;
    const lower = spelling.toLowerCase();
    const name = {
      // A copy: the text it was cut from is a whole request.
      spelling: Buffer.from(spelling, 'latin1').toString('latin1'),
      lower,
      kind: Object.hasOwn(KINDS, lower) ? (KINDS[lower] as NameKind) : 'plain',
    };
    if (spelling.length <= SPELLING_LENGTH_MAX && this.#names.size < SPELLINGS_MAX)
      this.#names.set(name.spelling, name);
    return name;
  }
}

function isOrdinary(kind: NameKind, value: string): boolean {
  switch (kind) {
    case 'host':
      return value !== '';
    case 'length':
      return DIGITS.test(value);
    case 'connection':
      return value === 'keep-alive' || value.toLowerCase() === 'keep-alive';
    default:
      return false;
  }
}

/**
 * Where the space behind it is, or the end of the text; -1 for what is no path, or has characters that a client ought to
 * have encoded.
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

/** Where the line's CR LF is, or the end of the text; -1 where another control character comes before it. */
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
