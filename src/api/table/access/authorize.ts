/** Finds who calls: holders of the account's key, of a signature made with it, or of a token of the identity provider. */
import type { IncomingHttpHeaders } from 'node:http';
import { TableError } from '../errors.ts';
import { EMULATOR_ACCOUNT, type Target } from '../target.ts';
import { FULL_ACCESS, type GrantedAccess } from './access.ts';
import { type IdentityAccess, tokenAccess } from './identity-access.ts';
import { type SignatureContext, signatureAccess } from './sas.ts';
import { checkSharedKey, type KeyCheck, LastDate, type SharedKeyOptions } from './shared-key.ts';

interface AuthorizerOptions extends SharedKeyOptions {
  readonly keys: KeyCheck;
  /** Undefined: tokens are refused. */
  readonly identities?: IdentityAccess | undefined;
  /** The tables in the dialect of the request's host. */
  readonly tables: (host: string | undefined) => SignatureContext['tables'];
}

interface CallerRequest {
  readonly method: string;
  readonly target: Target;
  readonly headers: IncomingHttpHeaders;
  readonly isEncrypted: boolean;
  readonly address: string;
}

export interface Caller {
  readonly access: GrantedAccess;
  readonly account: string;
}

export class Authorizer {
  readonly #options: AuthorizerOptions;
  readonly #dates = new LastDate();

  constructor(options: AuthorizerOptions) {
    this.#options = options;
  }

  /** Throws a 403. Returns a promise for tokens only. */
  authorize(request: CallerRequest): Caller | Promise<Caller> {
    const { headers, target } = request;
    const { authorization } = headers;
    if (authorization === undefined) return this.#bySignature(request);
    if (authorization.startsWith('Bearer ')) return this.#byToken(authorization.slice(7), request);
    try {
      const account = checkSharedKey(this.#options.keys, request, this.#options, this.#dates);
      return { access: FULL_ACCESS, account };
    } catch (error) {
      // Some clients also sign the request, but not the whole URL that they send.
      if (!target.query.has('sig')) throw error;
      return this.#bySignature(request);
    }
  }

  #bySignature({ target, headers, isEncrypted, address }: CallerRequest): Caller {
    const { query, account } = target;
    if (!query.has('sig')) throw new TableError('AuthenticationFailed');
    const host = (headers.host ?? '').replace(/:\d+$/, '');
    const named = host.split('.')[0] as string;
    const accounts = account === undefined ? [named, EMULATOR_ACCOUNT] : [account];
    const { clock, keys, tables } = this.#options;
    const access = signatureAccess(query, {
      keys,
      clock,
      accounts,
      isEncrypted,
      address,
      tables: tables(headers.host),
      table: 'table' in target.resource ? target.resource.table : undefined,
    });
    return { access, account: accounts[0] as string };
  }

  async #byToken(token: string, { isEncrypted, target }: CallerRequest): Promise<Caller> {
    const { identities } = this.#options;
    if (!isEncrypted)
      throw new TableError(
        'AuthenticationFailed',
        'Authentication scheme Bearer is not allowed over HTTP: use HTTPS.',
      );
    if (identities === undefined) throw new TableError('AuthenticationFailed');
    const access = await tokenAccess(identities, token);
    return { access, account: target.account ?? EMULATOR_ACCOUNT };
  }
}
