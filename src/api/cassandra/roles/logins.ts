/** PLAIN logins: an account's name and one of its keys, or a role and its password, with zeros between. */
import { type Bytes, bufferOf } from '../../../base/index.ts';
import type { AccessControl } from '../../../service/index.ts';
import type { Caller } from './caller.ts';
import type { RoleStore } from './role-store.ts';

type LoginOutcome =
  | { readonly kind: 'accepted'; readonly caller: Caller }
  | { readonly kind: 'refused'; readonly message: string };

/** keys: account keys and roles. cassandra: also the superuser that a new Cassandra has. none: nobody logs in. */
export type LoginMode = 'keys' | 'cassandra' | 'none';

export class Logins {
  /** True where clients are served without a login. */
  readonly isOpen: boolean;
  readonly everyone: Caller = { role: 'anonymous', kind: 'account' };
  readonly #passwords: AccessControl['passwords'];
  readonly #roles: RoleStore;

  constructor(mode: LoginMode, passwords: AccessControl['passwords'], roles: RoleStore) {
    this.isOpen = mode === 'none';
    this.#passwords = passwords;
    this.#roles = roles;
  }

  /** @param token - `authorization id, 0, user, 0, password`; the first is not used. */
  async check(token: Bytes | null): Promise<LoginOutcome> {
    const parts = token === null ? [] : bufferOf(token).toString('utf8').split('\0');
    const [user, password] = parts.slice(-2);
    if (parts.length < 2 || user === undefined || password === undefined)
      return { kind: 'refused', message: 'Credentials are no user name and password' };
    const principal = this.#passwords.check(user, password);
    if (principal !== undefined)
      return {
        kind: 'accepted',
        caller: { role: user, kind: principal.kind === 'reader' ? 'reader' : 'account' },
      };
    const name = user.slice(0, 100);
    if (!(await this.#roles.checkPassword(user, password)))
      return {
        kind: 'refused',
        message: `Provided username ${name} and/or password are incorrect`,
      };
    if (this.#roles.find(user)?.canLogin !== true)
      return { kind: 'refused', message: `${name} is not permitted to log in` };
    return { kind: 'accepted', caller: { role: user, kind: 'role' } };
  }
}
