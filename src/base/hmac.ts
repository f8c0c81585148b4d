/**
 * HMAC-SHA256 of short texts (RFC 2104) by two one-shot hashes. The runtime's own HMAC creates an object per text
 * that the garbage collector has to finalize, which under load costs several times as much as the hashing.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** Texts that requests sign are shorter. Rare long URLs use the runtime's HMAC. */
const TEXT_BYTES_MAX = 4096;
/** Cached digests: enough for the containers that are written to at one time. */
const CACHED_DIGESTS_MAX = 64;

export class HmacSha256 {
  readonly #key: Uint8Array;
  /** The padded and masked key, followed by space for the text; `#outer` likewise with space for the inner digest. */
  readonly #inner = Buffer.alloc(BLOCK_BYTES + TEXT_BYTES_MAX, 0x36);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c);
  readonly #digest = Buffer.alloc(DIGEST_BYTES);
  /** Digests of texts that are checked often. */
  readonly #cache = new Map<string, Uint8Array>();

  constructor(key: Uint8Array) {
    this.#key = key;
    const block = key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key;
    for (let at = 0; at < block.length; at++) {
      const byte = block[at] as number;
      this.#inner[at] = byte ^ 0x36;
      this.#outer[at] = byte ^ 0x5c;
    }
  }

  /**
   * True if this is the digest of the text as UTF-8. Compares in constant time.
   * @param isOften - the text is checked repeatedly, as for all posts to one container within a second.
   */
  isDigest(text: string, digest: Uint8Array, isOften = false): boolean {
    if (digest.length !== DIGEST_BYTES) return false;
    return timingSafeEqual(isOften ? this.#cachedDigest(text) : this.#digestOf(text), digest);
  }

  #cachedDigest(text: string): Uint8Array {
    const cached = this.#cache.get(text);
    if (cached !== undefined) return cached;
    const digest = Uint8Array.from(this.#digestOf(text));
    if (this.#cache.size >= CACHED_DIGESTS_MAX) this.#cache.clear();
    if (text.length <= TEXT_BYTES_MAX) this.#cache.set(text, digest);
    return digest;
  }

  /** The result is valid until the next call. */
  #digestOf(text: string): Uint8Array {
    if (text.length * 3 > TEXT_BYTES_MAX)
      return createHmac('sha256', this.#key).update(text).digest();
    const bytes = this.#inner.write(text, BLOCK_BYTES, 'utf8');
    const message = this.#inner.subarray(0, BLOCK_BYTES + bytes);
    // Digests as Latin-1 text need no buffers of their own.
    this.#outer.write(hash('sha256', message, 'latin1'), BLOCK_BYTES, 'latin1');
    this.#digest.write(hash('sha256', this.#outer, 'latin1'), 'latin1');
    return this.#digest;
  }
}
