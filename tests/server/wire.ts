/** HTTP by hand: signed requests as text, and sockets that a test may leave half-used. */
import { type Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { WELL_KNOWN_KEY } from '../../src/base/index.ts';
import { authorization } from '../../src/cli/client.ts';

export interface WireRequest {
  readonly verb: string;
  readonly path: readonly string[];
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WireReply {
  readonly status: number;
  readonly body: string;
}

export function signedHeaders({ verb, path, body, headers }: WireRequest): Record<string, string> {
  const date = new Date().toUTCString();
  return {
    authorization: authorization({ verb, path, date, key: WELL_KNOWN_KEY }),
    'x-ms-date': date,
    'x-ms-version': '2020-07-15',
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
}

/** Sends over the agent's connections. Rejects when the connection fails. */
export function send(
  port: number,
  agent: Agent,
  wire: WireRequest,
  query = '',
): Promise<WireReply> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        port,
        host: '127.0.0.1',
        agent,
        method: wire.verb,
        path: `/${wire.path.map(encodeURIComponent).join('/')}${query}`,
        headers: signedHeaders(wire),
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(wire.body);
  });
}

/** A socket that is connected. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.off('error', reject);
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

/** Everything the server says until it closes the connection. */
export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
  });
}

/** Status and body of the next response on the socket. */
export function readReply(socket: Socket): Promise<WireReply> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: Buffer): void => {
      text += chunk;
      const headEnd = text.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      if (headEnd < 0 || length === undefined) return;
      const body = text.slice(headEnd + 4);
      if (Buffer.byteLength(body) < Number(length)) return;
      socket.off('data', onData);
      resolve({ status: Number(text.slice(9, 12)), body });
    };
    socket.on('data', onData);
    socket.on('close', () => reject(new Error(`closed after: ${text}`)));
  });
}

/** The head of a request as text. */
export function printHead(wire: WireRequest): string {
  const lines = Object.entries(signedHeaders(wire)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${wire.verb} /${wire.path.map(encodeURIComponent).join('/')} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`;
}
