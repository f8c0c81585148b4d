/** What an answer says of the script that made it. */
import { ScriptError } from '../../../script/index.ts';
import type { Call } from '../call.ts';

/** Clients refuse answers whose headers are longer than some kilobytes. */
const LOG_LENGTH_MAX = 8192;

/** The log, where the client wants it. */
export function logHeaders(call: Call, log: string): string[] {
  if (log === '' || !call.isHeaderTrue('x-ms-documentdb-script-enable-logging')) return [];
  let text = log.slice(0, LOG_LENGTH_MAX).toWellFormed();
  let encoded = encodeURIComponent(text);
  while (encoded.length > LOG_LENGTH_MAX) {
    text = text.slice(0, text.length >> 1).toWellFormed();
    encoded = encodeURIComponent(text);
  }
  return ['x-ms-documentdb-script-log-results', encoded];
}

/** A failure carries the log only where the client wants it. */
export function withLog(call: Call, error: unknown): unknown {
  if (error instanceof ScriptError) error.headers = logHeaders(call, error.log);
  return error;
}

const SHOWN_ETAG = /0000[0-9a-f]{4}-0000-0000-0000-[0-9a-f]{12}/g;

/** Puts the etags that items have now in the place of those that the script saw before they were committed. */
export function withEtags(text: string, etags: ReadonlyMap<string, string>): string {
  if (etags.size === 0) return text;
  return text.replace(SHOWN_ETAG, (shown) => etags.get(`"${shown}"`)?.slice(1, -1) ?? shown);
}
