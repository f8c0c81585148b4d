/** For tests: a client that shows every byte, and random requests with every character that is allowed. */
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Random } from '../base/index.ts';

/** Resolves with the port. */
export function open(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** One connection. Received bytes are kept until the test asks for them. */
export class RawClient implements Disposable {
  readonly socket: Socket;
  #text = '';
  #check: (() => void) | undefined;
  #isClosed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.#text += chunk.toString('latin1');
      this.#check?.();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#isClosed = true;
      this.#check?.();
    });
  }

  static connect(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () =>
        resolve(new RawClient(socket)),
      );
      socket.once('error', reject);
    });
  }

  write(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** The next response, head and body; all there is where the server closed. `isHead`: a response to HEAD. */
  response(isHead = false): Promise<string> {
    return this.#when(() => {
      const end = responseEnd(this.#text, isHead);
      if (end < 0 && !this.#isClosed) return undefined;
      const response = end < 0 ? this.#text : this.#text.slice(0, end);
      this.#text = this.#text.slice(response.length);
      return response;
    });
  }

  /** All bytes until the server closes the connection. */
  rest(): Promise<string> {
    return this.#when(() => (this.#isClosed ? this.#text : undefined));
  }

  #when<T>(read: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      this.#check = () => {
        const seen = read();
        if (seen === undefined) return;
        this.#check = undefined;
        resolve(seen);
      };
      this.#check();
    });
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

function responseEnd(text: string, isHead: boolean): number {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return -1;
  const head = text.slice(0, headEnd);
  const length = isHead ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const end = headEnd + 4 + length;
  return end <= text.length ? end : -1;
}

/** Two servers respond at two times. */
export function withoutDate(response: string): string {
  return response.replace(/\r\nDate: [^\r]*GMT\r\n/g, '\r\nDate: now\r\n');
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'MERGE'];
const NAMES = ['Accept', 'authorization', 'x-ms-date', 'X-MS-Version', 'Cookie', 'ETag', 'age'];
const TOKEN = "!#$%&'*+-.^_`|~0123456789abcxyzABCXYZ";
const URL_CHARACTERS = range(0x21, 0x7e).replace('#', '');
const VALUE_CHARACTERS = `\t${range(0x20, 0x7e)}${range(0x80, 0xff)}`;
const ALL_CHARACTERS = range(0, 0xff);

/** One character per byte. */
export function randomRequest(random: Random): string {
  const word = (from: string, length: number): string => randomWord(random, from, length);
  const method = METHODS[random.below(METHODS.length)];
  const headers = new Map([['host', `Host: ${word('abc', 3)}a`]]);
  for (let count = random.below(20); count > 0; count--) {
    const name = random.below(2) === 0 ? `x${word(TOKEN, 20)}` : NAMES[random.below(NAMES.length)];
    const value = `${word(' \t', 3)}${word(VALUE_CHARACTERS, 40)}${word(' \t', 3)}`;
    headers.set(String(name).toLowerCase(), `${name}:${value}`);
  }
  const body = random.below(3) === 0 ? word(ALL_CHARACTERS, 300) : '';
  if (body !== '' || random.below(3) === 0)
    headers.set('content-length', `Content-Length: ${body.length}`);
  if (random.below(3) === 0) headers.set('connection', 'Connection: keep-alive');
  const lines = [...headers.values()].sort(() => random.below(3) - 1);
  const url = `/${word(URL_CHARACTERS, 60)}`;
  return `${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

function randomWord(random: Random, from: string, lengthMax: number): string {
  let word = '';
  for (let left = random.below(lengthMax); left > 0; left--)
    word += from.charAt(random.below(from.length));
  return word;
}

function range(from: number, to: number): string {
  return String.fromCharCode(...Array.from({ length: to - from + 1 }, (_, at) => from + at));
}
