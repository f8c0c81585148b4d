/**
 * The parts of an exchange that do not depend on who reads the request, the fast path or node:http: its head, the
 * connection it came by, and rules for the bodies of responses.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Bytes } from '../base/index.ts';

export interface Head {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export abstract class BaseExchange implements Head {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly #socket: Socket;

  constructor({ method, url, headers }: Head, socket: Socket) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.#socket = socket;
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get isGone(): boolean {
    return this.#socket.destroyed;
  }

  get isEncrypted(): boolean {
    const socket = this.#socket;
    return 'encrypted' in socket && socket.encrypted === true;
  }

  /** `scheme://host/`; the socket's address for a client that sends no Host. */
  get origin(): string {
    const { localAddress, localPort } = this.#socket;
    const scheme = this.isEncrypted ? 'https' : 'http';
    return `${scheme}://${this.headers.host ?? `${localAddress}:${localPort}`}/`;
  }
}

/**
 * Up to this size, body and head are joined and written in one piece; beyond it the copy costs more than a second
 * write.
 */
export const JOINED_BODY_BYTES_MAX = 16 * 1024;

/** True for statuses whose responses have no body and no length. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

/** The response where an API failed to make even an error response. */
export const FAILURE = {
  status: 500,
  headers: ['content-type', 'application/json'],
  body: '{"code":"InternalServerError","message":"An unexpected error occurred; the server has logged it."}',
} as const;

export function lengthOf(body: Bytes | string, encoding: 'latin1' | undefined): number {
  return typeof body === 'string' && encoding === undefined ? Buffer.byteLength(body) : body.length;
}
