/**
 * Who may call: requests signed with one of the account's keys. The signature is an HMAC over verb, resource type,
 * resource link and date, compared in constant time.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../base/index.ts';
import { RequestError } from './errors.ts';
import type { Target } from './target.ts';

/** Documented skew between the clocks of client and service. */
const CLOCK_SKEW_MAX_MS = 15 * 60 * 1000;

/** How common clients begin the header; checked first because it needs no decoding. */
const ENCODED_PREFIX = 'type%3Dmaster%26ver%3D1.0%26sig%3D';

const SIGNATURE_BYTES = 32;

/** Signatures kept: those of the containers written to at the moment. */
const KNOWN_SIGNATURES_MAX = 64;

export interface SignedRequest {
  readonly method: string;
  /** The resource type as clients sign it; empty for the account. */
  readonly type: string;
  readonly target: Target;
  readonly headers: IncomingHttpHeaders;
}

export class Authorizer {
  readonly #keys: readonly KeyObject[];
  readonly #clock: Clock;
  /** What was found right of requests that were posted, by what was signed. */
  readonly #posted = new Map<string, Buffer>();
  /** Dates have a resolution of one second, so the last one is mostly the next one as well. */
  #lastDate = { text: '', lower: '', ms: Number.NaN };

  /** @param keys - base64, each as good as the other. */
  constructor(keys: readonly string[], clock: Clock) {
    this.#keys = keys.map((key) => createSecretKey(Buffer.from(key, 'base64')));
    this.#clock = clock;
  }

  /** Throws 401 or 403. */
  check(request: SignedRequest): void {
    const { headers } = request;
    const signature = readSignature(headers.authorization);
    const ownDate = headers['x-ms-date'];
    const date = typeof ownDate === 'string' ? ownDate : headers.date;
    if (date === undefined) throw unauthorized("The required header 'x-ms-date' is missing.");
    if (this.#lastDate.text !== date)
      this.#lastDate = { text: date, lower: date.toLowerCase(), ms: Date.parse(date) };
    const { lower, ms } = this.#lastDate;
    if (Number.isNaN(ms)) throw unauthorized('The date of the request is not a valid HTTP date.');
    const dates = ownDate === undefined ? `\n${lower}\n` : `${lower}\n\n`;
    const verb = `${request.method.toLowerCase()}\n${request.type}\n`;
    if (!this.#isSignedWithLink(signature, verb, linkOf(request), dates)) {
      const alternative = alternativeLinkOf(request.target);
      if (!this.#isSignedWithLink(signature, verb, alternative, dates))
        throw unauthorized(WRONG_SIGNATURE);
    }
    if (Math.abs(this.#clock.nowMs() - ms) > CLOCK_SKEW_MAX_MS)
      throw new RequestError(
        403,
        'The authorization token is not valid at the current time. Please create another token and retry: the clocks of client and server differ by more than 15 minutes.',
      );
  }

  #isSignedWithLink(signature: Buffer, verb: string, link: string, dates: string): boolean {
    const text = `${verb}${link}\n${dates}`;
    const isPosted = verb.startsWith('post');
    const known = isPosted ? this.#posted.get(text) : undefined;
    if (known !== undefined && timingSafeEqual(known, signature)) return true;
    for (const key of this.#keys) {
      const expected = createHmac('sha256', key).update(text).digest();
      if (!timingSafeEqual(expected, signature)) continue;
      if (isPosted) this.#keep(text, expected);
      return true;
    }
    return false;
  }

  /** Everything that is posted to one container within a second has the same signature. */
  #keep(text: string, signature: Buffer): void {
    if (this.#posted.size >= KNOWN_SIGNATURES_MAX) this.#posted.clear();
    this.#posted.set(text, signature);
  }
}

const WRONG_SIGNATURE =
  "The input authorization token can't serve the request. Please check that the expected payload is built as per the protocol, and check the key being used.";

function readSignature(header: string | undefined): Buffer {
  if (header === undefined || header === '')
    throw unauthorized("The required header 'authorization' is missing.");
  const text = header.startsWith(ENCODED_PREFIX)
    ? decode(header.slice(ENCODED_PREFIX.length))
    : masterSignature(decode(header));
  const signature = Buffer.from(text, 'base64');
  if (signature.length !== SIGNATURE_BYTES) throw unauthorized(WRONG_SIGNATURE);
  return signature;
}

function masterSignature(text: string): string {
  const fields = new Map(text.split('&').map((field) => splitOnce(field)));
  const type = fields.get('type')?.toLowerCase();
  if (type === 'resource' || type === 'aad' || type === 'sas')
    throw unauthorized(`Authorization of type '${type}' is not served yet: sign with a key.`);
  if (type !== 'master' || fields.get('ver') !== '1.0') throw unauthorized(WRONG_SIGNATURE);
  return fields.get('sig') ?? '';
}

/** Base64 ends in equal signs, so only the first one separates. */
function splitOnce(field: string): [string, string] {
  const at = field.indexOf('=');
  return at < 0 ? [field, ''] : [field.slice(0, at), field.slice(at + 1)];
}

function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw unauthorized(WRONG_SIGNATURE);
  }
}

function linkOf({ target }: SignedRequest): string {
  const { shape, link, ids } = target;
  if (shape === 'offers') return (ids[0] ?? '').toLowerCase();
  return shape === 'dbs/colls/operations' ? `dbs/${ids[0]}/colls/${ids[1]}` : link;
}

/** Clients that address by resource id sign the last id alone, in lower case. */
function alternativeLinkOf({ link, ids, shape }: Target): string {
  const id = shape === 'dbs/colls/operations' ? ids[1] : ids.at(-1);
  return (id ?? link).toLowerCase();
}

function unauthorized(message: string): RequestError {
  return new RequestError(401, message);
}
