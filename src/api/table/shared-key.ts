/**
 * Requests signed with the account's key. SharedKeyLite signs date and resource, SharedKey also verb and content; the
 * resource is the path as it was sent, behind the name of the account.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../base/index.ts';
import { TableError } from './errors.ts';
import type { Target } from './target.ts';

/** Documented skew between the clocks of client and service. */
const CLOCK_SKEW_MAX_MS = 15 * 60 * 1000;
const SIGNATURE_BYTES = 32;

export interface SignedRequest {
  readonly method: string;
  readonly target: Target;
  readonly headers: IncomingHttpHeaders;
}

export interface SharedKeyOptions {
  readonly clock: Clock;
  /** True where the key is public knowledge: then old requests tell nobody anything, and emulators take any. */
  readonly isDateOptional?: boolean | undefined;
}

/** Knows a signature with a key of the account when it sees one. */
export interface KeyCheck {
  /** Compares in constant time. */
  isSigned(text: string, signature: Buffer): boolean;
}

/** Keys that do not change; each is as good as the other. */
export class SharedKeys implements KeyCheck {
  readonly #keys: readonly KeyObject[];

  /** @param keys - base64. */
  constructor(keys: readonly string[]) {
    this.#keys = keys.map((key) => createSecretKey(Buffer.from(key, 'base64')));
  }

  isSigned(text: string, signature: Buffer): boolean {
    if (signature.length !== SIGNATURE_BYTES) return false;
    for (const key of this.#keys)
      if (timingSafeEqual(createHmac('sha256', key).update(text).digest(), signature)) return true;
    return false;
  }
}

/** As sent; clients that end it with a slash may have signed it without. */
function pathsOf({ path }: Target): readonly string[] {
  return path.length > 1 && path.endsWith('/') ? [path, path.slice(0, -1)] : [path];
}

/** Answers the account the request was signed for. Throws a 403 or 400. */
export function checkSharedKey(
  keys: KeyCheck,
  request: SignedRequest,
  { clock, isDateOptional = false }: SharedKeyOptions,
): string {
  const { headers, target, method } = request;
  const match = /^(SharedKey|SharedKeyLite) ([^:]{1,64}):([A-Za-z0-9+/=]{44})$/.exec(
    headers.authorization ?? '',
  );
  if (match === null) throw new TableError('InvalidAuthenticationInfo');
  const [, scheme, account = '', signature = ''] = match;
  if (target.account !== undefined && target.account !== account)
    throw new TableError('AuthenticationFailed');
  const comp = target.query.get('comp');
  const tail = comp === undefined ? '' : `?comp=${comp}`;
  const signed = Buffer.from(signature, 'base64');
  const sent = [headers['x-ms-date'], headers.date].filter((date) => typeof date === 'string');
  if (sent.length === 0 && !isDateOptional) throw new TableError('AuthenticationFailed');
  const dates = sent.length === 0 ? [''] : sent;
  const content = `${headers['content-md5'] ?? ''}\n${headers['content-type'] ?? ''}`;
  const isSigned = pathsOf(target).some((path) =>
    dates.some((date) => {
      const resource = `${date}\n/${account}${path}${tail}`;
      if (scheme === 'SharedKeyLite') return keys.isSigned(resource, signed);
      return keys.isSigned(`${method}\n${content}\n${resource}`, signed);
    }),
  );
  const isFresh =
    sent.length === 0 ||
    Math.abs(clock.nowMs() - Date.parse(sent[0] as string)) <= CLOCK_SKEW_MAX_MS;
  if (!isSigned || !isFresh) throw new TableError('AuthenticationFailed');
  return account;
}
