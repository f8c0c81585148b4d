/** Signs requests as clients do. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { WELL_KNOWN_KEY } from '../../src/base/index.ts';

const secret: KeyObject = createSecretKey(Buffer.from(WELL_KNOWN_KEY, 'base64'));

export function signature(verb: string, type: string, link: string, date: string): string {
  const text = `${verb.toLowerCase()}\n${type}\n${link}\n${date.toLowerCase()}\n\n`;
  const digest = createHmac('sha256', secret).update(text).digest('base64');
  return encodeURIComponent(`type=master&ver=1.0&sig=${digest}`);
}
