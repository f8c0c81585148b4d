/**
 * HMAC-SHA256 of short texts (RFC 2104) by two one-shot hashes. The runtime's own HMAC makes an object per text that the
 * garbage collector has to finalize, which under load costs several times the hashing.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** What requests sign is shorter but for rare long URLs, which take the plain way. */
const TEXT_BYTES_MAX = 4096;
/** Digests kept: those of the containers written to at the moment. */
const KNOWN_DIGESTS_MAX = 64;

export class HmacSha256 {
  readonly #key: Uint8Array;
  /** The key, padded and masked, with room for the text behind it; likewise with room for the inner digest. */
  readonly #inner = Buffer.alloc(BLOCK_BYTES + TEXT_BYTES_MAX, 0x36);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c);
  readonly #digest = Buffer.alloc(DIGEST_BYTES);
  /** Of texts that are asked for often. */
  readonly #known = new Map<string, Uint8Array>();

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
   * True where this is the digest of the text as UTF-8. Compares in constant time.
   * @param isOften - the text comes again and again, as that of everything posted to one place within a second.
   */
  isDigest(text: string, digest: Uint8Array, isOften = false): boolean {
    if (digest.length !== DIGEST_BYTES) return false;
    return timingSafeEqual(isOften ? this.#knownDigest(text) : this.#digestOf(text), digest);
  }

  #knownDigest(text: string): Uint8Array {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const digest = Uint8Array.from(this.#digestOf(text));
    if (this.#known.size >= KNOWN_DIGESTS_MAX) this.#known.clear();
    if (text.length <= TEXT_BYTES_MAX) this.#known.set(text, digest);
    return digest;
  }

  /** Lent until the next call. */
  #digestOf(text: string): Uint8Array {
    if (text.length * 3 > TEXT_BYTES_MAX)
      return createHmac('sha256', this.#key).update(text).digest();
    const bytes = this.#inner.write(text, BLOCK_BYTES, 'utf8');
    const message = this.#inner.subarray(0, BLOCK_BYTES + bytes);
    // As text the digests need no buffers of their own.
    this.#outer.write(hash('sha256', message, 'latin1'), BLOCK_BYTES, 'latin1');
    this.#digest.write(hash('sha256', this.#outer, 'latin1'), 'latin1');
    return this.#digest;
  }
}
