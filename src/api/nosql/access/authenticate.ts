/**
 * Identifies the caller by a signature with an account key, or by a token. The signature is an HMAC over verb, resource
 * type, resource link and date.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock, MaybePromise } from '../../../base/index.ts';
import {
  type AccessControl,
  isReadOnly,
  type KeyName,
  MASTER,
  type Principal,
  READER,
  readSharedSignature,
} from '../../../service/index.ts';
import type { Target } from '../target.ts';
import { identityRefusal } from './identity-refusal.ts';
import { AccessRefusal, unauthorized } from './refusal.ts';

/** Documented skew between the clocks of client and service. */
const CLOCK_SKEW_MAX_MS = 15 * 60 * 1000;

/** The usual beginning of the header; checked first because it needs no decoding. */
const ENCODED_PREFIX = 'type%3Dmaster%26ver%3D1.0%26sig%3D';

const SIGNATURE_BYTES = 32;

export interface SignedRequest {
  readonly method: string;
  /** The resource type as clients sign it; empty for the account. */
  readonly type: string;
  readonly target: Target;
  readonly headers: IncomingHttpHeaders;
}

export class Authenticator {
  readonly #access: AccessControl;
  readonly #clock: Clock;
  /** The date parsed last. Dates have a resolution of one second, so the next request mostly has the same. */
  #lastDate = { text: '', lower: '', ms: Number.NaN };

  constructor(access: AccessControl, clock: Clock) {
    this.#access = access;
    this.#clock = clock;
  }

  /** Throws AccessRefusal, 401 or 403. Synchronous for keys and tokens of this server. */
  identify(request: SignedRequest): MaybePromise<Principal> {
    const { authorization: header } = request.headers;
    if (header === undefined || header === '')
      throw unauthorized(
        "The required header 'authorization' is missing.",
        'no authorization header',
      );
    if (header.startsWith(ENCODED_PREFIX))
      return this.#signer(request, decode(header.slice(ENCODED_PREFIX.length)));
    const text = decode(header);
    const fields = new Map(text.split('&').map((field) => splitOnce(field)));
    switch (fields.get('type')?.toLowerCase()) {
      case 'master':
        if (fields.get('ver') !== '1.0') break;
        return this.#signer(request, fields.get('sig') ?? '');
      case 'resource':
        return this.#bearer(text);
      case 'sas':
        return this.#shared(text);
      case 'aad':
        return this.#identity(fields.get('sig') ?? '');
    }
    throw unauthorized(WRONG_SIGNATURE, 'unknown form of authorization');
  }

  #signer(request: SignedRequest, text: string): Principal {
    const { headers } = request;
    const signature = Buffer.from(text, 'base64');
    if (signature.length !== SIGNATURE_BYTES)
      throw unauthorized(WRONG_SIGNATURE, 'malformed signature');
    const ownDate = headers['x-ms-date'];
    const date = typeof ownDate === 'string' ? ownDate : headers.date;
    if (date === undefined)
      throw unauthorized("The required header 'x-ms-date' is missing.", 'no date');
    if (this.#lastDate.text !== date)
      this.#lastDate = { text: date, lower: date.toLowerCase(), ms: Date.parse(date) };
    const { lower, ms } = this.#lastDate;
    if (Number.isNaN(ms))
      throw unauthorized('The date of the request is not a valid HTTP date.', 'malformed date');
    const dates = ownDate === undefined ? `\n${lower}\n` : `${lower}\n\n`;
    const verb = `${request.method.toLowerCase()}\n${request.type}\n`;
    const key = this.#match(request, signature, verb, dates);
    if (key === undefined) throw unauthorized(WRONG_SIGNATURE, 'no key of the account signed this');
    const principal = isReadOnly(key) ? READER : MASTER;
    if (Math.abs(this.#clock.nowMs() - ms) > CLOCK_SKEW_MAX_MS)
      throw new AccessRefusal(403, SKEWED, { reason: 'clocks differ', principal });
    return principal;
  }

  #match(
    request: SignedRequest,
    signature: Buffer,
    verb: string,
    dates: string,
  ): KeyName | undefined {
    return (
      this.#matchText(signature, `${verb}${linkOf(request)}\n${dates}`) ??
      this.#matchText(signature, `${verb}${alternativeLinkOf(request.target)}\n${dates}`)
    );
  }

  /** The result for a POST is cached: all POSTs to one container within a second have the same signature. */
  #matchText(signature: Buffer, text: string): KeyName | undefined {
    return this.#access.keys.match(text, signature, text.startsWith('post'));
  }

  #bearer(token: string): Principal {
    const reading = this.#access.tokens.read(token, this.#clock.nowMs());
    if (reading.kind === 'valid') return { kind: 'token', grant: reading.grant };
    if (reading.kind === 'expired') throw unauthorized(OUT_OF_TIME, 'resource token expired');
    throw unauthorized(WRONG_SIGNATURE, 'resource token not made here');
  }

  #shared(token: string): Principal {
    const reading = readSharedSignature(token, this.#access.keys, this.#clock.nowMs());
    if (reading.kind === 'valid') return { kind: 'shared', grant: reading.grant };
    if (reading.kind === 'outOfTime') throw unauthorized(OUT_OF_TIME, 'SAS token out of its time');
    throw unauthorized(WRONG_SIGNATURE, 'SAS token not signed with a key of the account');
  }

  async #identity(token: string): Promise<Principal> {
    const reading = await this.#access.identities.read(token);
    if (reading.kind === 'valid') return { kind: 'identity', identity: reading.identity };
    throw identityRefusal(reading.fault);
  }
}

const WRONG_SIGNATURE =
  "The input authorization token can't serve the request. Please check that the expected payload is built as per the protocol, and check the key being used.";

const OUT_OF_TIME =
  'The authorization token is not valid at the current time. Please create another token and retry.';

const SKEWED =
  'The authorization token is not valid at the current time. Please create another token and retry: the clocks of client and server differ by more than 15 minutes.';

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
    throw unauthorized(WRONG_SIGNATURE, 'malformed authorization header');
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
