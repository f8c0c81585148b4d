/** The keys that sign requests for tables: those of the account that may write, and the public key of storage emulators. */
import { HmacSha256, WELL_KNOWN_KEY, WELL_KNOWN_STORAGE_KEY } from '../../base/index.ts';
import { type AccountKeys, isReadOnly } from './account-keys.ts';

export class TableKeys {
  readonly #keys: AccountKeys;
  readonly #emulatorKey = new HmacSha256(Buffer.from(WELL_KNOWN_STORAGE_KEY, 'base64'));
  /** Clients keep to one key: the kind that was right last time is tried first. */
  #wasEmulatorKey = false;

  constructor(keys: AccountKeys) {
    this.#keys = keys;
  }

  /**
   * True where this is the HMAC-SHA256 of the text with one of the keys. Compares in constant time.
   * @param isOften - the text is signed again and again.
   */
  isSigned(text: string, signature: Uint8Array, isOften: boolean): boolean {
    if (this.#wasEmulatorKey && this.#isByEmulatorKey(text, signature, isOften)) return true;
    const name = this.#keys.match(text, signature, isOften);
    if (name !== undefined) {
      this.#wasEmulatorKey = false;
      return !isReadOnly(name);
    }
    if (this.#wasEmulatorKey) return false;
    this.#wasEmulatorKey = this.#isByEmulatorKey(text, signature, isOften);
    return this.#wasEmulatorKey;
  }

  /** The key in connection strings of storage emulators counts only while the account's own key is public knowledge too. */
  #isByEmulatorKey(text: string, signature: Uint8Array, isOften: boolean): boolean {
    return (
      this.#keys.get('primary') === WELL_KNOWN_KEY &&
      this.#emulatorKey.isDigest(text, signature, isOften)
    );
  }
}
