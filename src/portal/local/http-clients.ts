/** Clients of the NoSQL and the Table API of this process: they sign as every client does, with the key of a role. */
import { createHmac } from 'node:crypto';
import type { Clock } from '../../base/index.ts';
import type { HttpHandler } from '../../http/index.ts';
import type { AccountKeys } from '../../service/index.ts';
import { askLocally, type LocalReply, type LocalRequest } from './local-exchange.ts';

interface HttpClientParts {
  readonly handler: HttpHandler;
  readonly keys: AccountKeys;
  readonly clock: Clock;
}

type Sent = LocalRequest & { readonly mayWrite: boolean };

const API_VERSION = '2020-07-15';

/** A client of the NoSQL API; `url` is a path below its root, such as `/dbs/a/colls`. */
export function nosqlClient({ handler, keys, clock }: HttpClientParts) {
  return (request: Sent): Promise<LocalReply> => {
    const date = new Date(clock.nowMs()).toUTCString();
    const key = keys.get(request.mayWrite ? 'primary' : 'primaryReadonly');
    return askLocally(handler, {
      ...request,
      headers: {
        'x-ms-version': API_VERSION,
        ...request.headers,
        host: 'localhost',
        'x-ms-date': date,
        authorization: nosqlSignature(request, date, key),
      },
    });
  };
}

export type NosqlClient = ReturnType<typeof nosqlClient>;

/** A resource is signed by its own link, a feed or a creation by its parent's. */
function nosqlSignature({ method, url }: LocalRequest, date: string, key: string): string {
  const [pathname = ''] = url.split('?');
  const path = pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  const isFeed = path.length % 2 === 1;
  const type = path.at(isFeed ? -1 : -2) ?? '';
  const own = path[0] === 'offers' ? path.slice(1).join('/').toLowerCase() : path.join('/');
  const link = isFeed ? path.slice(0, -1).join('/') : own;
  const text = `${method.toLowerCase()}\n${type}\n${link}\n${date.toLowerCase()}\n\n`;
  return encodeURIComponent(`type=master&ver=1.0&sig=${digest(key, text)}`);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not percent-encoded: the API refuses the path itself.
    return part;
  }
}

const ACCOUNT = 'devstoreaccount1';

/** What is asked of the Table API: a read, or with a body a creation. `path` is below the account. */
interface TableRequest {
  readonly path: string;
  readonly query?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export function tableClient({ handler, keys, clock }: HttpClientParts) {
  return ({ path, query = '', body, headers, signal }: TableRequest): Promise<LocalReply> => {
    const date = new Date(clock.nowMs()).toUTCString();
    const signed = `${date}\n/${ACCOUNT}/${ACCOUNT}${path}`;
    return askLocally(handler, {
      method: body === undefined ? 'GET' : 'POST',
      url: `/${ACCOUNT}${path}${query === '' ? '' : `?${query}`}`,
      signal,
      ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
      headers: {
        ...headers,
        'content-type': 'application/json',
        host: 'localhost',
        accept: 'application/json;odata=fullmetadata',
        'x-ms-version': '2019-02-02',
        'x-ms-date': date,
        authorization: `SharedKeyLite ${ACCOUNT}:${digest(keys.get('primary'), signed)}`,
      },
    });
  };
}

export type TableClient = ReturnType<typeof tableClient>;

function digest(key: string, text: string): string {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
}
