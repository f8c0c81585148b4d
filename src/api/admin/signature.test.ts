// Goal: only what was signed with the key, for this link, not long ago, is let in. Method: the command line's own
// recipe, then one thing wrong at a time.
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { FakeClock } from '../../base/index.ts';
import type { Exchange } from '../../http/index.ts';
import { memoryAccessStore, openAccessControl } from '../../service/index.ts';
import { signatureCheck } from './signature.ts';

const KEY = Buffer.from('a key of our own').toString('base64');
const LINK = '_mesocosm/partitions';
const clock = new FakeClock();
const { keys } = openAccessControl({ keys: { primary: KEY } }, memoryAccessStore(), clock);
const check = signatureCheck(keys, clock);
const isSigned = (...asked: Parameters<typeof check>): boolean => check(...asked) === 'primary';
const now = new Date(clock.nowMs()).toUTCString();

function sign(verb: string, link: string, date: string, key: string): string {
  const text = `${verb}\n\n${link}\n${date.toLowerCase()}\n\n`;
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
  return encodeURIComponent(`type=master&ver=1.0&sig=${signature}`);
}

function request(
  authorization: string | undefined,
  date: string | undefined,
): Pick<Exchange, 'method' | 'headers'> {
  return {
    method: 'GET',
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(date === undefined ? {} : { 'x-ms-date': date }),
    },
  };
}

const late = new Date(clock.nowMs() - 16 * 60 * 1000).toUTCString();

test.each<[string, string | undefined, string | undefined, boolean]>([
  ['as it should be', sign('get', LINK, now, KEY), now, true],
  ['not encoded', decodeURIComponent(sign('get', LINK, now, KEY)), now, true],
  ['another link', sign('get', '_mesocosm/health', now, KEY), now, false],
  ['another verb', sign('post', LINK, now, KEY), now, false],
  ['another key', sign('get', LINK, now, 'b3RoZXI='), now, false],
  ['another date', sign('get', LINK, late, KEY), now, false],
  ['an old date', sign('get', LINK, late, KEY), late, false],
  ['no date', sign('get', LINK, now, KEY), undefined, false],
  ['a date that is none', sign('get', LINK, 'soon', KEY), 'soon', false],
  ['nothing', undefined, now, false],
  ['broken encoding', '%E0%A4%A', now, false],
  ['another scheme', 'Bearer abc', now, false],
  ['a short signature', 'type=master&ver=1.0&sig=YQ==', now, false],
])('%s', (_, authorization, date, expected) => {
  expect(isSigned(request(authorization, date), LINK)).toBe(expected);
});
