/**
 * The keys of one container's items: from the values of an address to the place in the hash space and in the store.
 * The format of a container's keys is part of its record. Golden vectors are in item-keys.test.ts; do not change one.
 *
 *   primary := 11 bytes(epk) partition row
 *
 *   format 1   partition := value …                             long texts truncated (value/key/tuple.ts)
 *              row       := value …                             long texts truncated
 *   format 2   partition := value … | 01 first digest           where the values have more than 600 bytes: the first
 *                                                               583 and their digest. No value begins with 01.
 *              row       := ordered | first digest              bytes of the home API in the order of the row keys
 *                                                               (value/key/whole-key.ts); where there are more than
 *                                                               1,900, the first 1,885 and their digest. A row key of
 *                                                               1,901 bytes is therefore cut. Where hash and partition
 *                                                               key leave less room than that, both are shorter.
 *
 * Cut keys that begin alike are in the order of their digests: scans sort their items (read/key-scan.ts).
 */
import {
  assert,
  type Bytes,
  concatBytes,
  EMPTY_BYTES,
  KEY_BYTES_MAX,
  PARTITION_KEY_PART_BYTES_MAX,
  prefixEnd,
  ROW_KEY_BYTES_MAX,
} from '../../base/index.ts';
import type { KeyRange } from '../../engine/index.ts';
import {
  type Collation,
  DIGEST_BYTES,
  digestOf,
  type Epk,
  effectivePartitionKey,
  KeyWriter,
  type PartitionKeyDefinition,
  type Value,
} from '../../value/index.ts';
import { type Item, ItemKey } from './item.ts';
import { CUT_PARTITION_KEY, PREFIX_PRIMARY, rowStart } from './keyspace.ts';

/** How a home API places its items. Pure; one per container. Absent parts: as the NoSQL API has them. */
export interface KeyCodec {
  /** The place of a logical partition in the hash space. */
  epk?(partitionKey: readonly Value[]): Epk;
  /** Whether property order distinguishes partition keys that are objects ('bson'). */
  readonly partitionKeyCollation?: Collation;
  /**
   * Bytes of any length in the order of the row keys, directions included. Those of the first values are a prefix of
   * those of all; none begin with FF.
   */
  encode?(rowKey: readonly Value[]): Bytes;
  /** The row key of a stored item. Needed where row keys may be cut. */
  rowKeyOf?(item: Item): readonly Value[];
}

export type KeyFormat = 1 | 2;

interface ItemKeysOptions {
  readonly definition: PartitionKeyDefinition;
  readonly format: KeyFormat;
  /** Undefined: values are hashed and encoded as the NoSQL API has them. */
  readonly codec?: KeyCodec | undefined;
}

/** A cut key fills the bound of keys, or has a row key that fills its own. */
const SHORTEST_RUN_BYTES = ROW_KEY_BYTES_MAX - DIGEST_BYTES;

/** A bound of row keys: all that begin with these values are inside, or all are outside. */
interface RowBound {
  /** The first values of a row key, or all of them; none: no bound. */
  readonly values: readonly Value[];
  readonly isInclusive: boolean;
}

/** In the order of keys: where a column descends, `from` has its greater value. */
export interface RowBounds {
  readonly from?: RowBound | undefined;
  readonly to?: RowBound | undefined;
}

/** A range of primary keys. It may have cut keys whose row keys are outside of [lower, upper). */
export interface RowRange extends KeyRange {
  readonly lower?: Bytes | undefined;
  readonly upper?: Bytes | undefined;
}

/** One writer serves all, because a key is built in one synchronous step. */
const writer = new KeyWriter();

export class ItemKeys {
  readonly #definition: PartitionKeyDefinition;
  readonly #codec: KeyCodec | undefined;
  readonly #isCut: boolean;
  readonly #collation: Collation;

  constructor({ definition, format, codec }: ItemKeysOptions) {
    this.#definition = definition;
    this.#codec = codec;
    this.#isCut = format !== 1;
    this.#collation = codec?.partitionKeyCollation ?? 'cosmos';
  }

  epk(partitionKey: readonly Value[]): Epk {
    return this.#codec?.epk === undefined
      ? effectivePartitionKey(partitionKey, this.#definition)
      : this.#codec.epk(partitionKey);
  }

  keyOf(partitionKey: readonly Value[], rowKey: readonly Value[]): ItemKey {
    return this.keyAt(this.epk(partitionKey), partitionKey, rowKey);
  }

  /** The key of an item whose place in the hash space is known. */
  keyAt(epk: Epk, partitionKey: readonly Value[], rowKey: readonly Value[]): ItemKey {
    this.#writePrefix(epk, partitionKey);
    const from = writer.length;
    this.#writeRow(rowKey);
    if (this.#isCut && writer.length - from > rowBytesMax(from)) cutRow(from);
    return new ItemKey(epk, writer.take());
  }

  /** The common prefix of the primary keys of one logical partition. */
  prefixOf(epk: Epk, partitionKey: readonly Value[]): Bytes {
    this.#writePrefix(epk, partitionKey);
    return writer.take();
  }

  /** All primary keys of one logical partition. */
  rangeOf(
    epk: Epk,
    partitionKey: readonly Value[],
  ): { readonly start: Bytes; readonly end: Bytes } {
    const start = this.prefixOf(epk, partitionKey);
    const end = prefixEnd(start);
    assert(end !== undefined, 'a primary key has a successor');
    return { start, end };
  }

  /** The rows of a logical partition between two bounds, as keys. Only for format 2. */
  rowsOf(epk: Epk, partitionKey: readonly Value[], { from, to }: RowBounds): RowRange {
    const prefix = this.prefixOf(epk, partitionKey);
    const lower = this.#rowAt(from, from?.isInclusive === false);
    const upper = this.#rowAt(to, to?.isInclusive === true);
    // Cut row keys have only so many bytes of a long bound: all that begin with those are in the range.
    const kept = keptBytes(prefix.length);
    const start = concatBytes(prefix, lower?.subarray(0, kept) ?? EMPTY_BYTES);
    const isWhole = upper !== undefined && upper.length <= kept;
    const end = concatBytes(prefix, upper?.subarray(0, kept) ?? EMPTY_BYTES);
    return { start, end: isWhole ? end : prefixEnd(end), lower, upper };
  }

  /** The least row key that begins with the values of a bound, or is behind all that do. */
  #rowAt(bound: RowBound | undefined, isBehind: boolean): Bytes | undefined {
    if (bound === undefined || bound.values.length === 0) return undefined;
    assert(this.#isCut, 'row keys of format 1 have no order');
    writer.reset();
    this.#writeRow(bound.values);
    const row = writer.take();
    return isBehind ? prefixEnd(row) : row;
  }

  /**
   * The prefix that a long key shares with cut ones that begin like it; undefined where the key is too short. Keys with
   * this prefix are neighbours, but not in the order of their row keys.
   */
  runPrefixOf(primary: Bytes): Bytes | undefined {
    // Nearly all keys are too short.
    if (!this.#isCut || primary.length < SHORTEST_RUN_BYTES) return undefined;
    const from = rowStart(primary, this.#definition.paths.length);
    const end = from + keptBytes(from);
    return primary.length < end ? undefined : primary.subarray(0, end);
  }

  /** All bytes of the row key of a stored item, which compare as row keys do; the cut ones where nobody can tell. */
  rowOf(item: Item): Bytes {
    const { primary } = item;
    const from = rowStart(primary, this.#definition.paths.length);
    const isCut = this.#isCut && primary.length - from > rowBytesMax(from);
    const rowKey = isCut ? this.#codec?.rowKeyOf?.(item) : undefined;
    if (rowKey === undefined) return primary.subarray(from);
    writer.reset();
    this.#writeRow(rowKey);
    return writer.take();
  }

  /** The prefix that a primary key shares with all of its logical partition. */
  logicalPrefixOf(primary: Bytes): Bytes {
    return primary.subarray(0, rowStart(primary, this.#definition.paths.length));
  }

  #writePrefix(epk: Epk, partitionKey: readonly Value[]): void {
    writer.reset().u8(PREFIX_PRIMARY).bytes(epk);
    const from = writer.length;
    for (const component of partitionKey) writer.value(component, this.#collation);
    if (!this.#isCut || writer.length - from <= PARTITION_KEY_PART_BYTES_MAX) return;
    const whole = writer.since(from);
    const kept = PARTITION_KEY_PART_BYTES_MAX - 1 - DIGEST_BYTES;
    writer.rewind(from).u8(CUT_PARTITION_KEY).raw(whole.subarray(0, kept)).raw(digestOf(whole));
  }

  #writeRow(rowKey: readonly Value[]): void {
    if (!this.#isCut) for (const value of rowKey) writer.value(value);
    else if (this.#codec?.encode !== undefined) writer.raw(this.#codec.encode(rowKey));
    else for (const value of rowKey) writer.whole(value);
  }
}

/** Bytes of a row key that is not cut, behind hash and partition key of this length. */
function rowBytesMax(prefixLength: number): number {
  return Math.min(ROW_KEY_BYTES_MAX, KEY_BYTES_MAX - 1 - prefixLength);
}

/** Bytes of a cut row key before its digest. */
function keptBytes(prefixLength: number): number {
  return rowBytesMax(prefixLength) + 1 - DIGEST_BYTES;
}

/** One byte longer than every row key that is not cut. */
function cutRow(from: number): void {
  const whole = writer.since(from);
  const kept = keptBytes(from);
  assert(kept > 0, 'hash and partition key leave room for a row key');
  writer.rewind(from).raw(whole.subarray(0, kept)).raw(digestOf(whole));
}
