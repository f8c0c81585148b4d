/** Requests and responses as every format reads and writes them. */
import type { GremlinMap } from '../model/collections.ts';
import type { GremlinValue } from '../model/value.ts';

export interface GremlinRequest {
  readonly requestId: string;
  readonly op: string;
  readonly processor: string;
  readonly args: GremlinMap;
}

export interface GremlinResponse {
  /** Undefined where the request could not be read. */
  readonly requestId: string | undefined;
  readonly code: number;
  readonly message: string;
  readonly attributes: ReadonlyMap<string, GremlinValue>;
  /** Null where there is no content. */
  readonly data: readonly GremlinValue[] | null;
}

/** One way to put messages into bytes. */
export interface Format {
  /** Throws a GremlinError for what is no request. */
  readRequest(body: Uint8Array): GremlinRequest;
  /** A text goes out as a text frame. */
  writeResponse(response: GremlinResponse): string | Uint8Array;
}

/** Nesting of lists and maps in requests and results. Deeper ones would overflow the stack. */
export const VALUE_NESTING_MAX = 200;
