/** A client of the Gremlin API of this process: the messages of a WebSocket, without the socket. */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { RunError } from '../run/run-error.ts';

/** What the API sees of a WebSocket. */
interface GremlinSocket extends EventEmitter {
  readonly OPEN: 1;
  readyState: number;
  readonly bufferedAmount: 0;
  send(message: string | Uint8Array, sent?: () => void): void;
  close(): void;
}

/** Serves one connection. */
export type OpenGremlin = (socket: GremlinSocket) => void;

interface GremlinPage {
  readonly rows: readonly unknown[];
  readonly charge: number;
  /** True where there were more rows than asked for: the rest was not read. */
  readonly isCut: boolean;
}

interface GremlinMessage {
  readonly requestId: string;
  readonly status: {
    readonly code: number;
    readonly message: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  };
  readonly result: { readonly data: readonly unknown[] | null };
}

const CODES = { success: 200, noContent: 204, partial: 206 } as const;

interface GremlinRequest {
  readonly graphPath: string;
  readonly key: string;
  readonly text: string;
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
}

/** Throws RunError with the message of the API. */
export function askGremlin(open: OpenGremlin, request: GremlinRequest): Promise<GremlinPage> {
  const { graphPath, key, text, limit, signal } = request;
  return new Promise((resolve, reject) => {
    const rows: unknown[] = [];
    const socket = Object.assign(new EventEmitter(), {
      OPEN: 1 as const,
      readyState: 1,
      bufferedAmount: 0 as const,
      send(message: string | Uint8Array, sent?: () => void) {
        receive(JSON.parse(Buffer.from(message as Uint8Array).toString('utf8')));
        sent?.();
      },
      close() {
        if (socket.readyState !== 1) return;
        socket.readyState = 3;
        socket.emit('close');
        reject(new RunError('Cancelled', 'The connection has ended.'));
      },
    });
    const loginId = randomUUID();
    function receive({ requestId, status, result }: GremlinMessage): void {
      const { code, message, attributes } = status;
      if (requestId === loginId && code === CODES.noContent) return;
      const charge = Number(attributes['x-ms-total-request-charge'] ?? 0);
      for (const row of result?.data ?? []) rows.push(row);
      const isOver = code === CODES.success || code === CODES.noContent;
      if (isOver || rows.length >= limit) {
        resolve({ rows: rows.slice(0, limit), charge, isCut: !isOver || rows.length > limit });
        socket.close();
      } else if (code !== CODES.partial) {
        reject(refusalOf(code, message, attributes));
        socket.close();
      }
    }
    signal?.addEventListener('abort', () => socket.close(), { once: true });
    open(socket);
    const sasl = Buffer.from(`\0${graphPath}\0${key}`).toString('base64');
    const send = (message: object): void =>
      void socket.emit('message', Buffer.from(JSON.stringify(message)), false);
    send({ requestId: loginId, op: 'authentication', processor: '', args: { sasl } });
    const args = { gremlin: text, language: 'gremlin-groovy', bindings: {} };
    send({ requestId: randomUUID(), op: 'eval', processor: '', args });
  });
}

/** The service puts its text behind the name of an exception. */
function refusalOf(
  code: number,
  message: string,
  attributes: Readonly<Record<string, unknown>>,
): RunError {
  const text = /ExceptionMessage :\s*([\s\S]*)$/.exec(message)?.[1] ?? message;
  const type = /ExceptionType : (\S+)/.exec(message)?.[1] ?? String(code);
  return new RunError(type, text.trim(), {
    activityId: String(attributes['x-ms-activity-id'] ?? ''),
  });
}
