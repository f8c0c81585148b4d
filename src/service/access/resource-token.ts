/**
 * Resource tokens: signed grants with a time of expiry. The server looks nothing up to check them.
 *
 *   type=resource&ver=1&sig=<HMAC-SHA256 of the grant, base64>;<grant as JSON, base64>;
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Value } from '../../value/index.ts';

export type ScriptType = 'sprocs' | 'triggers' | 'udfs';

export type GrantScope =
  | { readonly kind: 'container' }
  | { readonly kind: 'item'; readonly id: string }
  /** An item by the rid in its `_rid`. */
  | { readonly kind: 'itemNumber'; readonly number: number }
  | { readonly kind: 'script'; readonly type: ScriptType; readonly id: string };

export interface Grant {
  readonly mode: 'read' | 'all';
  /** `_rid` of the permission the token was made for. */
  readonly permission: string;
  readonly databaseRid: number;
  readonly containerRid: number;
  readonly scope: GrantScope;
  /** Only items of this partition key, or below it; undefined: of all. */
  readonly partitionKey?: readonly Value[];
  readonly expiresSec: number;
}

type TokenReading =
  | { readonly kind: 'valid'; readonly grant: Grant }
  | { readonly kind: 'expired' }
  | { readonly kind: 'invalid' };

const PREFIX = 'type=resource&ver=1&sig=';
const INVALID: TokenReading = { kind: 'invalid' };

export class ResourceTokens {
  readonly #key: KeyObject;

  constructor(secret: Uint8Array) {
    // A separate key: a signature made here must not be valid for anything else.
    const own = createHmac('sha256', secret).update('resource tokens').digest();
    this.#key = createSecretKey(own);
  }

  mint(grant: Grant): string {
    const payload = Buffer.from(JSON.stringify(pack(grant))).toString('base64');
    return `${PREFIX}${this.#sign(payload).toString('base64')};${payload};`;
  }

  /** @param token - as minted, not percent-encoded. */
  read(token: string, nowMs: number): TokenReading {
    const match = /^type=resource&ver=1(?:\.0)?&sig=([A-Za-z0-9+/=]+);([A-Za-z0-9+/=]+);?$/.exec(
      token,
    );
    if (match === null) return INVALID;
    const [, signature, payload] = match as unknown as [string, string, string];
    const sent = Buffer.from(signature, 'base64');
    const expected = this.#sign(payload);
    if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return INVALID;
    // The grant was signed by this server, hence it is well formed.
    const grant = unpack(JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as Packed);
    return nowMs < grant.expiresSec * 1000 ? { kind: 'valid', grant } : { kind: 'expired' };
  }

  #sign(payload: string): Buffer {
    return createHmac('sha256', this.#key).update(payload).digest();
  }
}

/** JSON has no undefined: a missing key value is `{}`, as everywhere on the wire. */
interface Packed extends Omit<Grant, 'partitionKey'> {
  readonly partitionKey?: readonly unknown[];
}

function pack({ partitionKey, ...grant }: Grant): Packed {
  if (partitionKey === undefined) return grant;
  return {
    ...grant,
    partitionKey: partitionKey.map((value) => (value === undefined ? {} : value)),
  };
}

function unpack({ partitionKey, ...grant }: Packed): Grant {
  if (partitionKey === undefined) return grant;
  return {
    ...grant,
    partitionKey: partitionKey.map((value) =>
      typeof value === 'object' && value !== null ? undefined : (value as Value),
    ),
  };
}
