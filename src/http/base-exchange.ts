/** The parts of an exchange that do not depend on who reads the request: its head, and the connection it came by. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

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
