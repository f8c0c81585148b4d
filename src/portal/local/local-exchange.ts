/** A request to an API of this process: the same handler as on the wire, without a socket. */
import { STATUS_CODES } from 'node:http';
import type { Bytes } from '../../base/index.ts';
import type { Exchange, HttpHandler } from '../../http/index.ts';

export interface LocalRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Bytes | undefined;
  /** Aborted where nobody waits for the reply any more. */
  readonly signal?: AbortSignal | undefined;
}

export interface LocalReply {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export function askLocally(handler: HttpHandler, request: LocalRequest): Promise<LocalReply> {
  return new Promise((resolve) => handler(localExchange(request, resolve)));
}

function localExchange(request: LocalRequest, reply: (reply: LocalReply) => void): Exchange {
  const { method, url, headers, signal, body = new Uint8Array(0) } = request;
  return {
    method,
    url,
    headers,
    remoteAddress: 'portal',
    get isGone() {
      return signal?.aborted === true;
    },
    isEncrypted: true,
    origin: `https://${headers.host ?? 'localhost'}/`,
    batch: undefined,
    readBody: () => body,
    send(status, flat, content, encoding) {
      const named: Record<string, string> = {};
      for (let at = 0; at + 1 < flat.length; at += 2)
        named[String(flat[at]).toLowerCase()] = String(flat[at + 1]);
      reply({ status, headers: named, body: bufferOf(content, encoding) });
    },
    fail() {
      const body = Buffer.from(JSON.stringify({ code: STATUS_CODES[500], message: 'It failed.' }));
      reply({ status: 500, headers: { 'content-type': 'application/json' }, body });
    },
  };
}

function bufferOf(content: Bytes | string | undefined, encoding: 'latin1' | undefined): Buffer {
  if (content === undefined) return Buffer.alloc(0);
  return typeof content === 'string'
    ? Buffer.from(content, encoding ?? 'utf8')
    : Buffer.from(content);
}
