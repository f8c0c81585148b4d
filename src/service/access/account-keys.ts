/**
 * The four keys of an account: two for everything and two for reading, so that one of each can be changed while the
 * other is in use. Given by the operator, else derived from the server's secret; a rotated key is kept.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import {
  andThen,
  HmacSha256,
  isPromise,
  isPublicKey,
  type MaybePromise,
} from '../../base/index.ts';

export const KEY_NAMES = ['primary', 'secondary', 'primaryReadonly', 'secondaryReadonly'] as const;
export type KeyName = (typeof KEY_NAMES)[number];

const KEY_BYTES = 64;

/** Shorter keys can be guessed by trying. This is the length of the signatures made with them. */
export const KEY_BYTES_MIN = 32;

/** A rotated key, and fingerprints of the one it replaced and of those that were replaced before. */
interface RotatedKey {
  readonly key: string;
  readonly replaces: string;
  /** One more for every key that the operator gave and rotated later. */
  readonly retired?: readonly string[];
}

export type RotatedKeys = Readonly<Partial<Record<KeyName, RotatedKey>>>;

interface AccountKeysOptions {
  /** Base64. */
  readonly given: Readonly<Partial<Record<KeyName, string>>>;
  readonly secret: Uint8Array;
  readonly rotated: RotatedKeys;
  /** Called before the new key counts; makes it durable. */
  readonly save: (rotated: RotatedKeys) => MaybePromise<void>;
  readonly randomBytes: (count: number) => Uint8Array;
}

interface Entry {
  readonly name: KeyName;
  readonly text: string;
  readonly hmac: HmacSha256;
}

export class AccountKeys {
  readonly #options: AccountKeysOptions;
  #rotated: RotatedKeys;
  #entries: readonly Entry[];
  /** Rotations that take time go one after the other: each stores all keys. */
  #saving: Promise<void> | undefined;
  #hasPublicKey = false;
  #hasGuessableKey = false;

  constructor(options: AccountKeysOptions) {
    this.#options = options;
    this.#rotated = options.rotated;
    this.#entries = this.#makeEntries();
  }

  /** True while one of the keys is public knowledge. */
  get hasPublicKey(): boolean {
    return this.#hasPublicKey;
  }

  /** True while one of them is public knowledge, or short enough to be found by trying. */
  get hasGuessableKey(): boolean {
    return this.#hasGuessableKey;
  }

  /** The name of the key with this text. Compares in constant time. */
  named(key: string): KeyName | undefined {
    const sent = digestOf(key);
    return this.#entries.find(({ text }) => timingSafeEqual(digestOf(text), sent))?.name;
  }

  /** Base64. */
  get(name: KeyName): string {
    return this.#entries[KEY_NAMES.indexOf(name)]?.text ?? '';
  }

  /**
   * The name of the key whose HMAC-SHA256 of the text is this signature.
   * @param isOften - the text is signed again and again.
   */
  match(text: string, signature: Uint8Array, isOften = false): KeyName | undefined {
    for (const { name, hmac } of this.#entries)
      if (hmac.isDigest(text, signature, isOften)) return name;
    return undefined;
  }

  /**
   * Replaces a key by a random one. The old key stays refused after a restart with the same flags: keys are rotated
   * because they leaked. A key that the operator has not given before counts.
   */
  rotate(name: KeyName): MaybePromise<string> {
    if (this.#saving !== undefined) return this.#saving.then(() => this.rotate(name));
    const key = Buffer.from(this.#options.randomBytes(KEY_BYTES)).toString('base64');
    const replaces = fingerprint(this.#original(name));
    const last = this.#rotated[name];
    const before = last === undefined ? [] : [...(last.retired ?? []), last.replaces];
    const retired = [...new Set(before)].filter((print) => print !== replaces);
    const rotated = {
      ...this.#rotated,
      [name]: { key, replaces, ...(retired.length === 0 ? {} : { retired }) },
    };
    const saved = andThen(this.#options.save(rotated), () => {
      this.#rotated = rotated;
      this.#entries = this.#makeEntries();
      return key;
    });
    if (isPromise(saved)) {
      const end = () => {
        this.#saving = undefined;
      };
      this.#saving = saved.then(end, end);
    }
    return saved;
  }

  #makeEntries(): readonly Entry[] {
    const entries = KEY_NAMES.map((name) => {
      const text = currentKey(this.#original(name), this.#rotated[name]);
      return { name, text, hmac: new HmacSha256(Buffer.from(text, 'base64')) };
    });
    this.#hasPublicKey = entries.some(({ text }) => isPublicKey(text));
    this.#hasGuessableKey = this.#hasPublicKey || entries.some(({ text }) => isShort(text));
    return entries;
  }

  #original(name: KeyName): string {
    const { given, secret } = this.#options;
    return (
      given[name] ?? createHmac('sha512', secret).update(`account key ${name}`).digest('base64')
    );
  }
}

/** The key that counts where the operator gave this one: a key that was rotated once never counts again. */
export function currentKey(given: string, rotated: RotatedKey | undefined): string {
  if (rotated === undefined) return given;
  const print = fingerprint(given);
  const isRetired = rotated.replaces === print || rotated.retired?.includes(print) === true;
  return isRetired ? rotated.key : given;
}

export function isReadOnly(name: KeyName): boolean {
  return name === 'primaryReadonly' || name === 'secondaryReadonly';
}

export function isShort(key: string): boolean {
  return Buffer.from(key, 'base64').length < KEY_BYTES_MIN;
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function fingerprint(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 22);
}
