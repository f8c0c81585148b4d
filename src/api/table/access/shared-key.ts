/**
 * Requests signed with the account's key. SharedKeyLite signs date and resource, SharedKey also verb and content; the
 * resource is the path as it was sent, after the name of the account.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Clock, HmacSha256, hasControlCharacters } from '../../../base/index.ts';
import { TableError } from '../errors.ts';
import type { Target } from '../target.ts';

/** Documented skew between the clocks of client and service. */
const CLOCK_SKEW_MAX_MS = 15 * 60 * 1000;

export interface SignedRequest {
  readonly method: string;
  readonly target: Target;
  readonly headers: IncomingHttpHeaders;
}

/** Caches the last date: dates have a resolution of one second, so requests often repeat it. */
export class LastDate {
  #text = '';
  #ms = Number.NaN;

  /** NaN for a text that is no date. */
  msOf(text: string): number {
    if (text !== this.#text) {
      this.#text = text;
      this.#ms = Date.parse(text);
    }
    return this.#ms;
  }
}

export interface SharedKeyOptions {
  readonly clock: Clock;
  /** True while the key is public knowledge: then a replayed request gains nothing, and emulators accept any date. */
  readonly isDateOptional?: (() => boolean) | undefined;
}

/** Checks signatures made with a key of the account. */
export interface KeyCheck {
  /**
   * Compares in constant time.
   * @param isOften - the same text is signed often, because it names no entity.
   */
  isSigned(text: string, signature: Buffer, isOften: boolean): boolean;
}

/** Keys that do not change; all are equal. */
export class SharedKeys implements KeyCheck {
  readonly #keys: readonly HmacSha256[];

  /** @param keys - base64. */
  constructor(keys: readonly string[]) {
    this.#keys = keys.map((key) => new HmacSha256(Buffer.from(key, 'base64')));
  }

  isSigned(text: string, signature: Buffer, isOften: boolean): boolean {
    for (const key of this.#keys) if (key.isDigest(text, signature, isOften)) return true;
    return false;
  }
}

/** The name of an account has no slash, which in the text that is signed would be part of the path. */
const AUTHORIZATION = /^(SharedKey|SharedKeyLite) ([\w-]{1,64}):([A-Za-z0-9+/=]{44})$/;

/** Returns the account that the request was signed for. Throws a 403 or 400. */
export function checkSharedKey(
  keys: KeyCheck,
  request: SignedRequest,
  { clock, isDateOptional = () => false }: SharedKeyOptions,
  dates: LastDate,
): string {
  const { headers, target } = request;
  const match = AUTHORIZATION.exec(headers.authorization ?? '');
  if (match === null) throw new TableError('InvalidAuthenticationInfo');
  const [, scheme, account = '', sent = ''] = match;
  if (target.account !== undefined && target.account !== account)
    throw new TableError('AuthenticationFailed');
  const signature = Buffer.from(sent, 'base64');
  const before = scheme === 'SharedKeyLite' ? '' : contentLines(request);
  const comp = target.query.get('comp');
  if (comp !== undefined && hasControlCharacters(comp))
    throw new TableError('AuthenticationFailed');
  const tail = comp === undefined ? '' : `?comp=${comp}`;
  const isOften = target.resource.kind !== 'entity';
  const sentDates = datesOf(headers);
  if (sentDates.length === 0 && !isDateOptional()) throw new TableError('AuthenticationFailed');
  const signedDates = sentDates.length === 0 ? NO_DATE : sentDates;
  const dateSignedFor = (path: string): string | undefined =>
    signedDates.find((date) =>
      keys.isSigned(`${before}${date}\n/${account}${path}${tail}`, signature, isOften),
    );
  const { path } = target;
  let date = dateSignedFor(path);
  // Clients that end the path with a slash may have signed it without.
  if (date === undefined && path.length > 1 && path.endsWith('/'))
    date = dateSignedFor(path.slice(0, -1));
  if (date === undefined) throw new TableError('AuthenticationFailed');
  // Only the signed date proves the age of the request; the other one may be forged. An invalid date is refused as too old.
  if (date !== '' && !(Math.abs(clock.nowMs() - dates.msOf(date)) <= CLOCK_SKEW_MAX_MS))
    throw new TableError('AuthenticationFailed');
  return account;
}

const NO_DATE: readonly string[] = [''];

/** The dates that a client may have signed, the likelier first; an empty header does not count. */
function datesOf(headers: IncomingHttpHeaders): readonly string[] {
  const named = headers['x-ms-date'];
  const { date } = headers;
  const own = typeof named === 'string' && named !== '' ? [named] : [];
  return date === undefined || date === '' ? own : [...own, date];
}

function contentLines({ method, headers }: SignedRequest): string {
  return `${method}\n${headers['content-md5'] ?? ''}\n${headers['content-type'] ?? ''}\n`;
}
