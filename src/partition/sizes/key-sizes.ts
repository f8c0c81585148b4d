/**
 * Bytes of the large logical partitions of a physical one, exact and in bounded memory.
 *
 * One pass over a snapshot finds the keys that hold a notable share of the limit; these are counted on with every
 * commit. The others are small, and stay small until their growth since the pass, summed up in a few cells by hash,
 * could have made one of them large: then a new pass is due. A key therefore never comes near the limit unnoticed.
 */
import { bytesToLatin1, HEAVY_KEYS_MAX, murmur3x86_32 } from '../../base/index.ts';
import type { Epk } from '../../value/index.ts';
import type { PendingChange } from '../commit/commit-group.ts';
import type { Lsn } from '../item/item.ts';
import type { KeySize } from './key-size-scan.ts';

/** A key is heavy from this share of the limit on. */
const HEAVY_SHARE = 1 / 16;

/** Before its growth could bring a key from there to here, it is looked at again. */
const NOTICED_SHARE = 3 / 4;

const CELLS = 256;

/** Keys written while the pass runs that are remembered; with more of them another pass is due. */
const MEANWHILE_MAX = 100_000;

interface Counted extends KeySize {
  bytes: number;
}

export class KeySizes {
  readonly #bytesMax: number;
  readonly #heavy = new Map<string, Counted>();
  /** Bytes below which a key was not kept. */
  #floor: number;
  readonly #growth = new Float64Array(CELLS);
  #isDue = false;
  #totalBytes = 0;
  /** The pass saw everything up to here. */
  #lsn: Lsn | undefined;
  /** Published before it was known what the pass sees. */
  #early: { readonly touched: readonly PendingChange[]; readonly lsn: Lsn }[] = [];
  /** Growth of keys while the pass runs; undefined once it is over. */
  #meanwhile: Map<string, Counted> | undefined = new Map();

  /** @param bytesMax - what one key may hold. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#floor = bytesMax * HEAVY_SHARE;
  }

  /** Bytes of all that is durable; complete once the pass is over. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** True when keys may have become heavy that were not: a new pass is due. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /** Largest first. */
  heavy(): readonly KeySize[] {
    return [...this.#heavy.values()].sort((a, b) => b.bytes - a.bytes);
  }

  /** Durable bytes of a key; undefined where it is far from the limit. */
  bytesOf(epk: Epk): number | undefined {
    return this.#heavy.get(bytesToLatin1(epk))?.bytes;
  }

  /** The state that the pass sees. */
  begin(lsn: Lsn): void {
    this.#lsn = lsn;
    for (const { touched, lsn: at } of this.#early) if (at > lsn) this.#apply(touched);
    this.#early = [];
  }

  /** One key of the pass, with all its bytes. */
  found(key: KeySize): void {
    this.#totalBytes += key.bytes;
    if (key.bytes < this.#floor) return;
    this.#heavy.set(bytesToLatin1(key.epk), { ...key });
    if (this.#heavy.size > 2 * HEAVY_KEYS_MAX) this.#keepLargest();
  }

  /** The pass is over. */
  end(): void {
    this.#keepLargest();
    const meanwhile = this.#meanwhile ?? new Map<string, Counted>();
    this.#meanwhile = undefined;
    for (const [text, { epk, bytes }] of meanwhile) this.#grow(text, epk, bytes);
  }

  /** Told of every group of writes when it is durable. */
  published(touched: readonly PendingChange[], lsn: Lsn): void {
    if (this.#lsn === undefined) this.#early.push({ touched, lsn });
    else if (lsn > this.#lsn) this.#apply(touched);
  }

  #apply(touched: readonly PendingChange[]): void {
    for (const { key, before, after } of touched) {
      const bytes = (after?.record.length ?? 0) - (before?.record.length ?? 0);
      this.#totalBytes += bytes;
      const text = bytesToLatin1(key.epk);
      const known = this.#meanwhile?.get(text);
      if (this.#meanwhile === undefined) this.#grow(text, key.epk, bytes);
      else if (known !== undefined) known.bytes += bytes;
      else if (this.#meanwhile.size >= MEANWHILE_MAX) this.#isDue = true;
      else this.#meanwhile.set(text, { epk: key.epk, primary: key.primary, bytes });
    }
  }

  #grow(text: string, epk: Epk, bytes: number): void {
    const heavy = this.#heavy.get(text);
    if (heavy !== undefined) {
      heavy.bytes += bytes;
      return;
    }
    if (bytes <= 0) return;
    const cell = murmur3x86_32(epk) % CELLS;
    const growth = (this.#growth[cell] as number) + bytes;
    this.#growth[cell] = growth;
    const noticed = this.#bytesMax * NOTICED_SHARE - this.#floor;
    if (growth >= Math.max(noticed, this.#bytesMax * HEAVY_SHARE)) this.#isDue = true;
  }

  #keepLargest(): void {
    if (this.#heavy.size <= HEAVY_KEYS_MAX) return;
    for (const { epk, bytes } of this.heavy().slice(HEAVY_KEYS_MAX)) {
      this.#heavy.delete(bytesToLatin1(epk));
      this.#floor = Math.max(this.#floor, bytes);
    }
  }
}
