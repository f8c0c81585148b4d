/**
 * What node:http alone costs: a server that checks the same signature and sends the same bytes and headers from memory.
 * It stores nothing, parses nothing and makes nothing durable. It writes responses in the cheapest way of node:http.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WELL_KNOWN_KEY } from '../../src/base/index.ts';

/** A response of our server, taken as a sample. */
export interface CapturedResponse {
  readonly status: number;
  /** Flat names and values. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** By HTTP method. */
export type CapturedResponses = Readonly<Record<string, CapturedResponse>>;

const secret = createSecretKey(Buffer.from(WELL_KNOWN_KEY, 'base64'));
const PREFIX = 'type%3Dmaster%26ver%3D1.0%26sig%3D';
const SKEW_MAX_MS = 15 * 60 * 1000;

function isSigned(request: IncomingMessage): boolean {
  const { url = '', method = '', headers } = request;
  const { authorization = '' } = headers;
  const date = String(headers['x-ms-date']);
  const path = decodeURIComponent(url.slice(1));
  const isFeed = path.endsWith('/docs');
  const link = isFeed ? path.slice(0, -'/docs'.length) : path;
  if (!authorization.startsWith(PREFIX)) return false;
  const sent = Buffer.from(decodeURIComponent(authorization.slice(PREFIX.length)), 'base64');
  const text = `${method.toLowerCase()}\ndocs\n${link}\n${date.toLowerCase()}\n\n`;
  const expected = createHmac('sha256', secret).update(text).digest();
  if (sent.length !== expected.length || !timingSafeEqual(expected, sent)) return false;
  return Math.abs(Date.now() - Date.parse(date)) < SKEW_MAX_MS;
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  captured: CapturedResponse,
): void {
  if (!isSigned(request)) {
    response.writeHead(401);
    response.end();
    return;
  }
  response.writeHead(captured.status, [...captured.headers]);
  response.end(captured.body, 'latin1');
}

process.once('message', (responses: CapturedResponses) => {
  const server = createServer((request, response) => {
    const captured = responses[request.method ?? ''];
    if (captured === undefined) {
      response.writeHead(405);
      response.end();
      return;
    }
    if (request.method === 'GET') {
      respond(request, response, captured);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => respond(request, response, captured));
  });
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ port: (server.address() as AddressInfo).port });
  });
});

// The bench is gone, however it ended.
process.on('disconnect', () => process.exit());
