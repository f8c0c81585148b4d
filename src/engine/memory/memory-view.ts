/** Reads over one tree: the live one of a store, or the frozen clone of a snapshot. */
import { type Bytes, bytesToLatin1, compareBytes } from '../../base/index.ts';
import { checkKey, checkPrefix, checkScan } from '../checks.ts';
import type {
  Entry,
  KeyPage,
  KeyRange,
  KeyScanOptions,
  ReadView,
  ScanOptions,
  ScanPage,
} from '../engine.ts';
import { isIntegerKeyed } from '../integer-keys.ts';
import type { Tree } from './memory-tree.ts';

export class MemoryView implements ReadView {
  readonly #tree: Tree;

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  /** Throws if the view has ended. The live view ends with its store. */
  checkUse(): void {}

  get(key: Bytes): Bytes | undefined {
    this.checkUse();
    checkKey(key);
    return this.#tree.get(key);
  }

  getMany(keys: readonly Bytes[]): readonly (Bytes | undefined)[] {
    this.checkUse();
    return keys.map((key) => this.get(key));
  }

  dereference(key: Bytes, prefix: number): Bytes | undefined {
    this.checkUse();
    checkKey(key);
    checkPrefix(prefix);
    const stored = this.#tree.get(key);
    return stored === undefined ? undefined : this.#target(key, stored, prefix);
  }

  dereferenceMany(keys: readonly Bytes[], prefix: number): readonly (Bytes | undefined)[] {
    return keys.map((key) => this.dereference(key, prefix));
  }

  scan(range: KeyRange, options: ScanOptions): ScanPage {
    this.checkUse();
    checkScan(range, options);
    const entries: Entry[] = [];
    let bytes = 0;
    for (const [key, stored] of this.#walk(range, options.reverse === true)) {
      const value = this.#returnedValue(key, stored, options);
      if (value === undefined) continue;
      if (entries.length === options.limit || bytes >= options.bytesMax)
        return { entries, more: true };
      entries.push({ key, value });
      bytes += key.length + value.length;
    }
    return { entries, more: false };
  }

  scanKeys(range: KeyRange, options: KeyScanOptions): KeyPage {
    this.checkUse();
    checkScan(range, options);
    const keys: string[] = [];
    let bytes = 0;
    for (const [key] of this.#walk(range, options.reverse === true)) {
      if (keys.length === options.limit || bytes >= options.bytesMax) return { keys, more: true };
      keys.push(bytesToLatin1(key));
      bytes += key.length;
    }
    return { keys, more: false };
  }

  #returnedValue(key: Bytes, stored: Bytes, { dereference }: ScanOptions): Bytes | undefined {
    return dereference === undefined ? stored : this.#target(key, stored, dereference);
  }

  #target(from: Bytes, pointer: Bytes, prefix: number): Bytes | undefined {
    if (isIntegerKeyed(from)) return undefined;
    const key = new Uint8Array(pointer.length + 1);
    key[0] = prefix;
    key.set(pointer, 1);
    return this.#tree.get(key);
  }

  *#walk({ start, end }: KeyRange, reverse: boolean): Generator<[Bytes, Bytes]> {
    if (!reverse) {
      for (const pair of this.#tree.entries(start)) {
        if (end !== undefined && compareBytes(pair[0], end) >= 0) return;
        yield pair;
      }
      return;
    }
    for (const pair of this.#tree.entriesReversed(end, undefined, true)) {
      if (compareBytes(pair[0], start) < 0) return;
      yield pair;
    }
  }
}
