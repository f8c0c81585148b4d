/** The master-key signature of requests to `/_mesocosm/`: verb, empty type, path and date under the account key. */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../base/index.ts';

/** As in the NoSQL API. */
const CLOCK_SKEW_MAX_MS = 15 * 60 * 1000;

/** True when the request was signed for this link, not long ago. */
export type SignatureCheck = (request: IncomingMessage, link: string) => boolean;

/** @param key - base64 */
export function signatureCheck(key: string, clock: Clock): SignatureCheck {
  const secret = createSecretKey(Buffer.from(key, 'base64'));
  return (request, link) => {
    const sent = signatureOf(request.headers.authorization ?? '');
    const date = request.headers['x-ms-date'];
    if (sent === undefined || typeof date !== 'string') return false;
    const skewMs = Math.abs(clock.nowMs() - Date.parse(date));
    if (Number.isNaN(skewMs) || skewMs > CLOCK_SKEW_MAX_MS) return false;
    const text = `${request.method?.toLowerCase()}\n\n${link}\n${date.toLowerCase()}\n\n`;
    const expected = createHmac('sha256', secret).update(text).digest();
    return expected.length === sent.length && timingSafeEqual(expected, sent);
  };
}

function signatureOf(header: string): Buffer | undefined {
  try {
    const match = /^type=master&ver=1\.0&sig=(.+)$/.exec(decodeURIComponent(header));
    return match === null ? undefined : Buffer.from(match[1] as string, 'base64');
  } catch {
    // Not percent-encoded text: no signature.
    return undefined;
  }
}
