/** The parts of a response that come from a script: its log and the final etags. */
import { ScriptError } from '../../../script/index.ts';
import type { Call } from '../call.ts';

/** Clients refuse responses whose headers exceed some kilobytes. */
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

/** Adds the log to an error of a script, where the client wants it. */
export function withLog(call: Call, error: unknown): unknown {
  if (error instanceof ScriptError) error.headers = logHeaders(call, error.log);
  return error;
}

const SHOWN_ETAG = /0000[0-9a-f]{4}-0000-0000-0000-[0-9a-f]{12}/g;

/** Replaces the provisional etags, which the script saw before the commit, by the final ones. */
export function withEtags(text: string, etags: ReadonlyMap<string, string>): string {
  if (etags.size === 0) return text;
  return text.replace(SHOWN_ETAG, (shown) => etags.get(`"${shown}"`)?.slice(1, -1) ?? shown);
}
