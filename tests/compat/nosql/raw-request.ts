/** Requests below the SDK: signed as the protocol says, then changed as a test needs. */
import { createHmac } from 'node:crypto';
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import { type Account, PRIMARY_KEY } from './harness.ts';

export interface RawRequest {
  readonly method?: string;
  /** As it goes over the wire. */
  readonly path: string;
  /** Resource type and link for the signature; worked out of the path where left out. */
  readonly type?: string;
  readonly link?: string;
  readonly key?: string;
  readonly date?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | object;
}

export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as it came. */
  readonly bytes: Buffer;
  /** The body parsed; undefined where it is empty or no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came back
  readonly json: any;
}

export function sendRaw(account: Account, raw: RawRequest): Promise<RawReply> {
  const { method = 'GET', path } = raw;
  const date = raw.date ?? new Date().toUTCString();
  const body =
    raw.body === undefined || typeof raw.body === 'string' || Buffer.isBuffer(raw.body)
      ? raw.body
      : JSON.stringify(raw.body);
  const options: RequestOptions = {
    host: '127.0.0.1',
    port: account.port,
    method,
    path,
    headers: {
      authorization: sign({ ...raw, method, date }),
      'x-ms-date': date,
      'x-ms-version': '2020-07-15',
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...raw.headers,
    },
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString('utf8');
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text,
          bytes,
          json: toJson(text),
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export function sign(raw: RawRequest & { readonly method: string; readonly date: string }): string {
  const segments = raw.path
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => {
      try {
        return decodeURIComponent(segment);
      } catch {
        return segment;
      }
    });
  const isFeed = segments.length % 2 === 1;
  const type = raw.type ?? (isFeed ? segments.at(-1) : segments.at(-2)) ?? '';
  const link = raw.link ?? (isFeed ? segments.slice(0, -1) : segments).join('/');
  const text = `${raw.method.toLowerCase()}\n${type.toLowerCase()}\n${link}\n${raw.date.toLowerCase()}\n\n`;
  const key = Buffer.from(raw.key ?? PRIMARY_KEY, 'base64');
  const signature = createHmac('sha256', key).update(text).digest('base64');
  return encodeURIComponent(`type=master&ver=1.0&sig=${signature}`);
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came back
function toJson(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
