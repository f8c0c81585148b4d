/**
 * The rows of one partition in the order of an index. The index of a path has the order of the cosmos collation, and no
 * entries of items without a value there. Other orders are made of the same entries: types follow each other in another
 * sequence, so their ranges are read in that sequence, one segment behind the other.
 */
import { andThen, concatBytes, type MaybePromise } from '../../base/index.ts';
import { type Collation, KEY_TAGS, keyTagOf, type Path, type Value } from '../../value/index.ts';
import type { Batches } from '../candidates/candidates.ts';
import { isLimited } from '../condition/narrow.ts';
import { equalTo } from '../condition/value-ranges.ts';
import { AbsentRows } from './absent-rows.ts';
import { allowedRanges, IndexRows, intersection, rangesAfter } from './index-rows.ts';
import type { OrderedEntries, OrderedRequest, OrderedRow } from './ordered-rows.ts';

const TAGS = KEY_TAGS.cosmos;
const TAGS_END = TAGS.maxKey + 1;

type Segment =
  /** Entries of the types with tags in [from, to). Where they are unordered, all of their rows are sorted. */
  | {
      readonly kind: 'range';
      readonly from: number;
      readonly to: number;
      readonly isUnordered?: boolean;
    }
  /** Items without a value, together with those that have null where both are equal. */
  | { readonly kind: 'absent'; readonly hasNull: boolean };

const EVERYTHING: Segment = { kind: 'range', from: TAGS.minKey, to: TAGS_END };
const MIN_KEYS: Segment = { kind: 'range', from: TAGS.minKey, to: TAGS.undefined };

/** Ascending. */
const SEGMENTS: Readonly<Record<Collation, readonly Segment[]>> = {
  cosmos: [
    MIN_KEYS,
    { kind: 'absent', hasNull: false },
    { kind: 'range', from: TAGS.null, to: TAGS_END },
  ],
  // Arrays are missing here, because such an index is used only where there are none.
  bson: [
    MIN_KEYS,
    { kind: 'absent', hasNull: true },
    { kind: 'range', from: TAGS.number, to: TAGS.array },
    { kind: 'range', from: TAGS.object, to: TAGS.binary, isUnordered: true },
    { kind: 'range', from: TAGS.binary, to: TAGS.objectId, isUnordered: true },
    { kind: 'range', from: TAGS.objectId, to: TAGS.date },
    { kind: 'range', from: TAGS.false, to: TAGS.number },
    { kind: 'range', from: TAGS.date, to: TAGS_END },
  ],
};

export function indexRows(request: OrderedRequest, entries: OrderedEntries): Batches<OrderedRow> {
  const { order, condition } = request;
  const [part] = entries.parts;
  const { collation = 'cosmos' } = order;
  const isAll = (path: Path) =>
    order.parts[0]?.isInEvery === true || isLimited(condition, path) || entries.composite;
  const isOneRange =
    entries.ranges !== undefined || (collation === 'cosmos' && part && isAll(part.path));
  if (part === undefined || isOneRange)
    return new IndexRows(request, entries, {
      ranges: rangesAfter(request, entries, allowedRanges(request, entries)),
    });
  const segments = isAll(part.path) ? SEGMENTS[collation].map(withoutAbsent) : SEGMENTS[collation];
  return new SegmentedRows(request, entries, part.path, segments);
}

/** Every item has a value: only null is left of those without. */
function withoutAbsent(segment: Segment): Segment {
  return segment.kind === 'range' ? segment : { kind: 'range', from: TAGS.null, to: TAGS.false };
}

/** The rows of one segment behind the other, each read when the one before has ended. */
class SegmentedRows implements Batches<OrderedRow> {
  readonly #request: OrderedRequest;
  readonly #entries: OrderedEntries;
  readonly #path: Path;
  /** The segments left, in the direction of reading. */
  #segments: readonly Segment[];
  /** The segment in which the last page ended. */
  readonly #begun: Segment | undefined;
  #current: Batches<OrderedRow> | undefined;

  constructor(
    request: OrderedRequest,
    entries: OrderedEntries,
    path: Path,
    ascending: readonly Segment[],
  ) {
    this.#request = request;
    this.#entries = entries;
    this.#path = path;
    const segments = entries.isReverse ? ascending.toReversed() : ascending;
    const { after } = request;
    const at = after === undefined ? -1 : segments.findIndex((each) => holds(each, after.keys[0]));
    this.#begun = segments[at];
    this.#segments = segments.slice(Math.max(0, at));
  }

  next(): MaybePromise<readonly OrderedRow[] | undefined> {
    if (this.#current === undefined) return andThen(this.#begin(), () => this.#next());
    return this.#next();
  }

  #next(): MaybePromise<readonly OrderedRow[] | undefined> {
    const current = this.#current ?? this.#open();
    if (current === undefined) return undefined;
    return andThen(current.next(), (batch) => {
      if (batch !== undefined) return batch;
      this.#current = undefined;
      return this.#next();
    });
  }

  /** Where every item has a value, as most often, the cosmos order is one range. */
  #begin(): MaybePromise<void> {
    const [first] = this.#segments;
    if (first !== MIN_KEYS || this.#request.order.collation === 'bson') return;
    return andThen(this.#request.reader.ridsWithout(this.#path), (rids) => {
      if (rids.length === 0) this.#segments = [EVERYTHING];
    });
  }

  #open(): Batches<OrderedRow> | undefined {
    const [segment, ...others] = this.#segments;
    this.#segments = others;
    this.#current = segment && this.#rowsOf(segment);
    return this.#current;
  }

  #rowsOf(segment: Segment): Batches<OrderedRow> {
    const { isReverse, prefix } = this.#entries;
    if (segment.kind === 'absent')
      return new AbsentRows(this.#request, {
        path: this.#path,
        isReverse,
        nulls: segment.hasNull ? concatBytes(prefix, equalTo(null).start) : undefined,
        isBegun: segment === this.#begun,
      });
    const { from, to, isUnordered = false } = segment;
    const whole = {
      start: concatBytes(prefix, Uint8Array.of(from)),
      end: concatBytes(prefix, Uint8Array.of(to)),
    };
    const all = allowedRanges(this.#request, this.#entries).flatMap((range) =>
      intersection(range, whole),
    );
    const isNarrowed = segment === this.#begun && !isUnordered;
    const ranges = isNarrowed ? rangesAfter(this.#request, this.#entries, all) : all;
    return new IndexRows(this.#request, this.#entries, { ranges, isUnordered });
  }
}

/** Whether rows with this key are in the segment. */
function holds(segment: Segment, key: Value): boolean {
  if (segment.kind === 'absent') return key === undefined || (key === null && segment.hasNull);
  const tag = keyTagOf(key);
  return segment.from <= tag && tag < segment.to;
}
