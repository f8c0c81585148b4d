/** The master-key signature of requests to `/_mesocosm/`: verb, empty type, path and date under a key of the account. */
import type { Clock } from '../../base/index.ts';
import type { Exchange } from '../../http/index.ts';
import type { AccountKeys, KeyName } from '../../service/index.ts';

/** As in the NoSQL API. */
const CLOCK_SKEW_MAX_MS = 15 * 60 * 1000;

/** The key that signed the request for this link within the allowed skew; undefined where there is none. */
export type SignatureCheck = (
  request: Pick<Exchange, 'method' | 'headers'>,
  link: string,
) => KeyName | undefined;

export function signatureCheck(keys: AccountKeys, clock: Clock): SignatureCheck {
  return (request, link) => {
    const sent = signatureOf(request.headers.authorization ?? '');
    const date = request.headers['x-ms-date'];
    if (sent === undefined || typeof date !== 'string') return undefined;
    const skewMs = Math.abs(clock.nowMs() - Date.parse(date));
    if (Number.isNaN(skewMs) || skewMs > CLOCK_SKEW_MAX_MS) return undefined;
    const text = `${request.method.toLowerCase()}\n\n${link}\n${date.toLowerCase()}\n\n`;
    return keys.match(text, sent);
  };
}

function signatureOf(header: string): Buffer | undefined {
  try {
    const match = /^type=master&ver=1\.0&sig=(.+)$/.exec(decodeURIComponent(header));
    return match === null ? undefined : Buffer.from(match[1] as string, 'base64');
  } catch {
    // The header is not percent-encoded text, so it holds no signature.
    return undefined;
  }
}
