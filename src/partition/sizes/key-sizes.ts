/**
 * Bytes of the large logical partitions of a physical one, exact and in bounded memory.
 *
 * A scan of a snapshot finds the heavy keys, which every later commit counts. The other keys are small until their
 * growth since the scan, summed in a few cells by hash, could have made one of them heavy: then a new scan is due. So
 * no key comes near the limit without being counted.
 */
import { bytesToLatin1, HEAVY_KEYS_MAX, murmur3x86_32 } from '../../base/index.ts';
import type { Epk } from '../../value/index.ts';
import type { PendingChange } from '../commit/pending-change.ts';
import type { Lsn } from '../item/item.ts';
import type { KeySize } from './key-size-scan.ts';

/** A key is heavy from this share of the limit on. */
const HEAVY_SHARE = 1 / 16;

/** A new scan is due before a key that was not heavy can reach this share. */
const NOTICED_SHARE = 3 / 4;

const CELLS = 256;

/** Keys written during a scan that are counted; with more of them another scan is due. */
const KEYS_DURING_SCAN_MAX = 100_000;

interface Counted extends KeySize {
  bytes: number;
}

export class KeySizes {
  readonly #bytesMax: number;
  readonly #heavy = new Map<string, Counted>();
  /** Bytes below which a key is not counted. */
  #floor: number;
  readonly #growth = new Float64Array(CELLS);
  #isDue = false;
  #totalBytes = 0;
  /** LSN of the scanned snapshot. */
  #lsn: Lsn | undefined;
  /** Groups that were published before that LSN was known. */
  #early: { readonly changes: readonly PendingChange[]; readonly lsn: Lsn }[] = [];
  /** Growth of keys during the scan; undefined after it. */
  #duringScan: Map<string, Counted> | undefined = new Map();

  /** @param bytesMax - limit of one key. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#floor = bytesMax * HEAVY_SHARE;
  }

  /** Bytes of all durable records; complete after the scan. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** True when a key may have become heavy that is not counted: a new scan is due. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /** Largest first. */
  heavy(): readonly KeySize[] {
    return [...this.#heavy.values()].sort((a, b) => b.bytes - a.bytes);
  }

  /** Durable bytes of a key; undefined where it is not heavy. */
  bytesOf(epk: Epk): number | undefined {
    return this.#heavy.get(bytesToLatin1(epk))?.bytes;
  }

  /** Begins a scan of a snapshot with this LSN. */
  begin(lsn: Lsn): void {
    this.#lsn = lsn;
    for (const { changes, lsn: at } of this.#early) if (at > lsn) this.#apply(changes);
    this.#early = [];
  }

  /** Adds one key of the scan, with all its bytes. */
  found(key: KeySize): void {
    this.#totalBytes += key.bytes;
    if (key.bytes < this.#floor) return;
    this.#heavy.set(bytesToLatin1(key.epk), { ...key });
    if (this.#heavy.size > 2 * HEAVY_KEYS_MAX) this.#keepLargest();
  }

  /** Ends the scan. */
  end(): void {
    this.#keepLargest();
    const duringScan = this.#duringScan ?? new Map<string, Counted>();
    this.#duringScan = undefined;
    for (const [text, { epk, bytes }] of duringScan) this.#grow(text, epk, bytes);
  }

  /** Counts a group of durable writes. */
  published(changes: readonly PendingChange[], lsn: Lsn): void {
    if (this.#lsn === undefined) this.#early.push({ changes, lsn });
    else if (lsn > this.#lsn) this.#apply(changes);
  }

  #apply(changes: readonly PendingChange[]): void {
    for (const { key, before, after } of changes) {
      const bytes = (after?.record.length ?? 0) - (before?.record.length ?? 0);
      this.#totalBytes += bytes;
      const text = bytesToLatin1(key.epk);
      const counted = this.#duringScan?.get(text);
      if (this.#duringScan === undefined) this.#grow(text, key.epk, bytes);
      else if (counted !== undefined) counted.bytes += bytes;
      else if (this.#duringScan.size >= KEYS_DURING_SCAN_MAX) this.#isDue = true;
      else this.#duringScan.set(text, { epk: key.epk, primary: key.primary, bytes });
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
