/**
 * One store: a copy-on-write B+tree. A commit is applied within the call, so it is atomic because it is synchronous.
 */
import {
  assert,
  type Bytes,
  compareBytes,
  concatBytes,
  EMPTY_BYTES,
  equalBytes,
} from '../../base/index.ts';
import { checkBatch, closedStore } from '../checks.ts';
import {
  type Batch,
  ConflictError,
  type Entry,
  type KeyPage,
  type KeyRange,
  type KeyScanOptions,
  type ScanOptions,
  type ScanPage,
  type Snapshot,
  type Store,
  type StoreStats,
} from '../engine.ts';
import { newTree, type Tree } from './memory-tree.ts';
import { MemoryView } from './memory-view.ts';

/** The data of a store, which remains when it is closed. */
export interface MemoryTable {
  readonly tree: Tree;
  /** Sum of the lengths of all keys and values. */
  bytesUsed: number;
}

export function newTable(): MemoryTable {
  return { tree: newTree(), bytesUsed: 0 };
}

export class MemoryStore implements Store {
  readonly name: string;
  readonly #table: MemoryTable;
  readonly #view: MemoryView;
  readonly #onClose: () => void;
  #isOpen = true;

  constructor(name: string, table: MemoryTable, onClose: () => void) {
    this.name = name;
    this.#table = table;
    this.#view = new MemoryView(table.tree);
    this.#onClose = onClose;
  }

  get(key: Bytes): Bytes | undefined {
    this.#checkOpen();
    return this.#view.get(key);
  }

  getMany(keys: readonly Bytes[]): readonly (Bytes | undefined)[] {
    this.#checkOpen();
    return this.#view.getMany(keys);
  }

  dereference(key: Bytes, prefix: number): Bytes | undefined {
    this.#checkOpen();
    return this.#view.dereference(key, prefix);
  }

  dereferenceMany(keys: readonly Bytes[], prefix: number): readonly (Bytes | undefined)[] {
    this.#checkOpen();
    return this.#view.dereferenceMany(keys, prefix);
  }

  scan(range: KeyRange, options: ScanOptions): ScanPage {
    this.#checkOpen();
    return this.#view.scan(range, options);
  }

  scanKeys(range: KeyRange, options: KeyScanOptions): KeyPage {
    this.#checkOpen();
    return this.#view.scanKeys(range, options);
  }

  snapshot(): Snapshot {
    this.#checkOpen();
    return new MemorySnapshot(this.#table.tree.clone(), () => this.#checkOpen());
  }

  async commit(batch: Batch): Promise<void> {
    this.#checkOpen();
    checkBatch(batch);
    const { tree } = this.#table;
    for (const { key, value } of batch.expects ?? []) {
      const found = tree.get(key);
      const holds =
        found === undefined || value === undefined ? found === value : equalBytes(found, value);
      if (!holds) throw new ConflictError(`store ${this.name}: an expectation does not hold`);
    }
    for (const range of batch.deleteRanges ?? []) this.#deleteRange(range);
    for (const key of batch.deletes ?? []) this.#delete(key);
    for (const entry of batch.puts ?? []) this.#put(entry);
    for (const { key, value } of batch.appends ?? [])
      this.#put({ key, value: concatBytes(tree.get(key) ?? EMPTY_BYTES, value) });
  }

  stats(): StoreStats {
    this.#checkOpen();
    return { bytesUsed: this.#table.bytesUsed };
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#onClose();
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw closedStore(this.name);
  }

  #put({ key, value }: Entry): void {
    const { tree } = this.#table;
    const before = tree.get(key);
    this.#table.bytesUsed +=
      before === undefined ? key.length + value.length : value.length - before.length;
    tree.set(before === undefined ? owned(key) : key, owned(value));
  }

  #delete(key: Bytes): void {
    const { tree } = this.#table;
    const before = tree.get(key);
    if (before === undefined) return;
    this.#table.bytesUsed -= key.length + before.length;
    tree.delete(key);
  }

  #deleteRange({ start, end }: KeyRange): void {
    const { tree } = this.#table;
    const doomed: Bytes[] = [];
    for (const key of tree.keys(start)) {
      if (end !== undefined && compareBytes(key, end) >= 0) break;
      doomed.push(key);
    }
    for (const key of doomed) this.#delete(key);
  }
}

class MemorySnapshot extends MemoryView implements Snapshot {
  #isReleased = false;
  readonly #checkStoreOpen: () => void;

  constructor(tree: Tree, checkStoreOpen: () => void) {
    super(tree);
    this.#checkStoreOpen = checkStoreOpen;
  }

  override checkUse(): void {
    assert(!this.#isReleased, 'the snapshot is released');
    this.#checkStoreOpen();
  }

  release(): void {
    this.#isReleased = true;
  }
}

/** A copy: a view of a larger buffer would keep all of it alive as long as the store. */
function owned(bytes: Bytes): Bytes {
  return bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
