/**
 * What a server keeps of a password for SCRAM (RFC 5802, RFC 7677). Deriving it takes thousands of hashes on purpose, so
 * that it is done once for each key, off the thread that serves requests where there is time.
 */
import { createHash, createHmac, pbkdf2, pbkdf2Sync } from 'node:crypto';
import { LRUCache } from 'lru-cache';

export type ScramMechanism = 'SCRAM-SHA-256' | 'SCRAM-SHA-1';

export interface ScramKeys {
  readonly storedKey: Uint8Array;
  readonly serverKey: Uint8Array;
}

interface Parameters {
  readonly digest: 'sha256' | 'sha1';
  readonly digestBytes: number;
  readonly saltBytes: number;
  readonly iterations: number;
}

/** As MongoDB chooses them. */
export const SCRAM_PARAMETERS: Readonly<Record<ScramMechanism, Parameters>> = {
  'SCRAM-SHA-256': { digest: 'sha256', digestBytes: 32, saltBytes: 28, iterations: 15_000 },
  'SCRAM-SHA-1': { digest: 'sha1', digestBytes: 20, saltBytes: 16, iterations: 10_000 },
};

/** Four keys, two mechanisms and some account names, before and after a rotation. */
const DERIVED_MAX = 256;

interface Password {
  readonly mechanism: ScramMechanism;
  readonly user: string;
  readonly password: string;
  readonly salt: Uint8Array;
}

export class ScramSecrets {
  readonly #derived = new LRUCache<string, ScramKeys>({ max: DERIVED_MAX });

  /** Some milliseconds the first time. */
  derive(password: Password): ScramKeys {
    const name = nameOf(password);
    const known = this.#derived.get(name);
    if (known !== undefined) return known;
    const { digest, digestBytes, iterations } = SCRAM_PARAMETERS[password.mechanism];
    const text = preparedPassword(password);
    const salted = pbkdf2Sync(text, password.salt, iterations, digestBytes, digest);
    return this.#keep(name, digest, salted);
  }

  /** The same in another thread, so that `derive` need not do it. */
  prepare(password: Password): Promise<void> {
    const name = nameOf(password);
    if (this.#derived.has(name)) return Promise.resolve();
    const { digest, digestBytes, iterations } = SCRAM_PARAMETERS[password.mechanism];
    return new Promise((resolve, reject) => {
      const text = preparedPassword(password);
      pbkdf2(text, password.salt, iterations, digestBytes, digest, (error, salted) => {
        if (error !== null) {
          reject(error);
          return;
        }
        this.#keep(name, digest, salted);
        resolve();
      });
    });
  }

  #keep(name: string, digest: Parameters['digest'], salted: Uint8Array): ScramKeys {
    const clientKey = createHmac(digest, salted).update('Client Key').digest();
    const keys = {
      storedKey: createHash(digest).update(clientKey).digest(),
      serverKey: createHmac(digest, salted).update('Server Key').digest(),
    };
    this.#derived.set(name, keys);
    return keys;
  }
}

/** Passwords are base64, so that the preparation of RFC 4013 changes nothing. SHA-1 hashes user and password first. */
function preparedPassword({ mechanism, user, password }: Password): string {
  if (mechanism === 'SCRAM-SHA-256') return password;
  return createHash('md5').update(`${user}:mongo:${password}`).digest('hex');
}

/** A digest: keys are not kept as texts in one more place. */
function nameOf(password: Password): string {
  const salt = Buffer.from(password.salt).toString('base64');
  return createHash('sha256')
    .update(`${password.mechanism} ${salt} ${preparedPassword(password)}`)
    .digest('base64');
}
