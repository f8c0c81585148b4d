/**
 * Logins with a name and a password, for protocols that do not sign requests: the name is the account's, the password
 * one of its keys, as with the reference service. All four keys are valid at any time, the last two for reading.
 */
import { createHmac } from 'node:crypto';
import { type AccountKeys, isReadOnly, KEY_NAMES, type KeyName } from './account-keys.ts';
import { MASTER, type Principal, READER } from './principal.ts';
import {
  SCRAM_PARAMETERS,
  type ScramKeys,
  type ScramMechanism,
  ScramSecrets,
} from './scram-secrets.ts';

/** Names of the account in this program's connection strings: that of NoSQL, and that of storage emulators. */
const ACCOUNT_NAMES = ['localhost', 'devstoreaccount1'];

/** One password that a user may have, as SCRAM sees it. */
export interface ScramSecret extends ScramKeys {
  readonly salt: Uint8Array;
  readonly iterations: number;
  /** The caller that proves this password. Undefined: nobody can, for the user does not exist. */
  readonly principal: Principal | undefined;
}

interface PasswordsOptions {
  readonly keys: AccountKeys;
  /** The server's secret, from which salts are made. */
  readonly secret: Uint8Array;
  /** Hosts by which clients know this server: each names an account, and so does its first label. */
  readonly hostNames: readonly string[];
}

export class Passwords {
  readonly #keys: AccountKeys;
  readonly #secret: Uint8Array;
  readonly #accounts: ReadonlySet<string>;
  readonly #secrets = new ScramSecrets();

  constructor({ keys, secret, hostNames }: PasswordsOptions) {
    this.#keys = keys;
    this.#secret = secret;
    this.#accounts = new Set([...ACCOUNT_NAMES, ...hostNames.flatMap(accountsOf)]);
  }

  /** Undefined where the user is no account of this server or the password none of its keys. */
  check(user: string, password: string): Principal | undefined {
    const principal = this.checkKey(password);
    return this.#isAccount(user) ? principal : undefined;
  }

  /** The same for protocols whose user name is no account. Compares in constant time. */
  checkKey(password: string): Principal | undefined {
    const name = this.#keys.named(password);
    return name === undefined ? undefined : principalOf(name);
  }

  /**
   * The passwords that the user may prove, all with the same salt. For a user that does not exist they are as many and
   * as stable, and no password fits.
   */
  scram(user: string, mechanism: ScramMechanism): readonly ScramSecret[] {
    const { iterations } = SCRAM_PARAMETERS[mechanism];
    const salt = this.#salt(user, mechanism);
    const isAccount = this.#isAccount(user);
    return KEY_NAMES.map((name) => {
      const secret = isAccount
        ? this.#secrets.derive({ mechanism, user, password: this.#keys.get(name), salt })
        : this.#fake(user, mechanism, name);
      return { ...secret, salt, iterations, principal: isAccount ? principalOf(name) : undefined };
    });
  }

  /** Derives, in another thread, what the first login would otherwise wait for. */
  async prepare(): Promise<void> {
    const mechanism = 'SCRAM-SHA-256';
    const prepared = ACCOUNT_NAMES.flatMap((user) => {
      const salt = this.#salt(user, mechanism);
      return KEY_NAMES.map((name) =>
        this.#secrets.prepare({ mechanism, user, password: this.#keys.get(name), salt }),
      );
    });
    await Promise.all(prepared);
  }

  #isAccount(user: string): boolean {
    return this.#accounts.has(user.toLowerCase());
  }

  /** The same for one user in the whole life of the data. */
  #salt(user: string, mechanism: ScramMechanism): Uint8Array {
    const { saltBytes } = SCRAM_PARAMETERS[mechanism];
    return this.#derived(`salt ${mechanism} ${user}`).subarray(0, saltBytes);
  }

  #fake(user: string, mechanism: ScramMechanism, name: KeyName): ScramKeys {
    const { digestBytes } = SCRAM_PARAMETERS[mechanism];
    const bytes = this.#derived(`nobody ${mechanism} ${name} ${user}`);
    return {
      storedKey: bytes.subarray(0, digestBytes),
      serverKey: bytes.subarray(bytes.length - digestBytes),
    };
  }

  #derived(text: string): Buffer {
    return createHmac('sha512', this.#secret).update(`scram ${text}`).digest();
  }
}

/** `shop.mongo.cosmos.azure.com` is a host of the account `shop`. Addresses and names with `*.` name no account. */
function accountsOf(hostName: string): readonly string[] {
  const [label = ''] = hostName.split('.');
  return /^[a-z]/.test(label) ? [hostName, label] : [];
}

function principalOf(name: KeyName): Principal {
  return isReadOnly(name) ? READER : MASTER;
}
