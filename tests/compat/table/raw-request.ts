/** Requests below the stock client: signed as the protocol says, then changed as a test needs. */
import { createHmac } from 'node:crypto';
import { type IncomingHttpHeaders, request } from 'node:http';
import { ACCOUNT, type Account, KEY } from './harness.ts';

export interface RawRequest {
  readonly method?: string;
  /** After the account, as it goes over the wire. */
  readonly path: string;
  /** The account in the path. */
  readonly account?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
  readonly date?: string;
  /** False: no authorization header is added. */
  readonly isSigned?: boolean;
}

export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The code of an error, from the body. */
  readonly code: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came back
  readonly json: any;
}

export function sendRaw(account: Account, raw: RawRequest): Promise<RawReply> {
  const { method = 'GET', path, isSigned = true } = raw;
  const date = raw.date ?? new Date().toUTCString();
  const body = typeof raw.body === 'object' ? JSON.stringify(raw.body) : raw.body;
  const options = {
    host: '127.0.0.1',
    port: account.port,
    method,
    path: `/${raw.account ?? ACCOUNT}${path}`,
    headers: {
      ...(isSigned ? { authorization: sign(path, date) } : {}),
      'x-ms-date': date,
      'x-ms-version': '2019-02-02',
      accept: 'application/json;odata=nometadata',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...raw.headers,
    },
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const { statusCode = 0, headers } = incoming;
        const json = toJson(text);
        resolve({ status: statusCode, headers, text, json, code: json?.['odata.error']?.code });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function sign(path: string, date: string): string {
  const [name = '', query = ''] = path.split('?');
  const comp = new URLSearchParams(query).get('comp');
  const resource = `/${ACCOUNT}/${ACCOUNT}${name}${comp === null ? '' : `?comp=${comp}`}`;
  const key = Buffer.from(KEY, 'base64');
  const signature = createHmac('sha256', key).update(`${date}\n${resource}`).digest('base64');
  return `SharedKeyLite ${ACCOUNT}:${signature}`;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came back
function toJson(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
