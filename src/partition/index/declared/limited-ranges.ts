/** Ranges of a declared index that hold every item within some limits. */
import { type Bytes, ENTRY_KEPT_BYTES } from '../../../base/index.ts';
import type { KeyRange } from '../../../engine/index.ts';
import { KEY_TAGS, KeyWriter, printPath } from '../../../value/index.ts';
import { bsonRanges } from './bson-entries.ts';
import type { DeclaredRanges, PartLimit, PreparedIndex } from './declared-indexes.ts';

const writer = new KeyWriter(1024);

/**
 * The limits that an index can use. A sparse one lacks items without values, and a multikey one of the cosmos collation
 * lacks elements of arrays without them. Limits on elements need entries of them.
 */
export function usableLimits(
  index: PreparedIndex,
  limits: ReadonlyMap<string, PartLimit>,
): ReadonlyMap<string, PartLimit> {
  const isBson = index.collation === 'bson';
  const hasElements = index.isMultikey === true;
  const hasMissing = !index.isSparse && (isBson || !hasElements);
  const isUsable = (limit: PartLimit): boolean =>
    (hasMissing || !allowsMissing(limit)) && (hasElements || limit.isOfElements !== true);
  const kept = new Map([...limits].filter(([, limit]) => isUsable(limit)));
  return isBson ? inBson(kept) : kept;
}

function allowsMissing({ ranges }: PartLimit): boolean {
  return ranges.some(({ start }) => (start[0] ?? 0) <= KEY_TAGS.cosmos.null);
}

/** The limits as ranges of the bson collation, as far as its entries are about them. */
export function inBson(limits: ReadonlyMap<string, PartLimit>): ReadonlyMap<string, PartLimit> {
  const found = new Map<string, PartLimit>();
  for (const [text, { path, ranges, isOfElements }] of limits) {
    const own = bsonRanges(ranges, isOfElements);
    if (own !== undefined) found.set(text, { path, ranges: own });
  }
  return found;
}

/** Whether the limits want a value under some part, which a sparse index then has. */
export function isLimited(
  { paths }: PreparedIndex,
  limits: ReadonlyMap<string, PartLimit>,
): boolean {
  return paths.some(({ path }) => {
    const limit = limits.get(printPath(path));
    return limit !== undefined && !allowsMissing(limit);
  });
}

/** An index with a filter serves a query only where the limits of the query say the same. */
export function isImplied(
  { filter }: PreparedIndex,
  limits: ReadonlyMap<string, PartLimit>,
): boolean {
  return (filter ?? []).every((test) => {
    const limit = limits.get(test.path);
    if (limit === undefined || limit.ranges.length === 0) return false;
    if (test.kind === 'exists') return test.isPresent && !allowsMissing(limit);
    const same = writer.reset().value(test.value).take();
    return (
      test.comparison === '=' &&
      limit.ranges.every(({ start, isPoint }) => isPoint && Buffer.compare(start, same) === 0)
    );
  });
}

export function rangesOf(
  { id, paths, prefix }: PreparedIndex,
  limits: ReadonlyMap<string, PartLimit>,
): DeclaredRanges | undefined {
  let start = prefix;
  let partCount = 0;
  let last: readonly KeyRange[] | undefined;
  for (const { path, isDescending } of paths) {
    const limit = limits.get(printPath(path));
    if (limit === undefined || isTooLong(start, limit)) break;
    partCount++;
    const [only] = limit.ranges;
    if (limit.ranges.length === 1 && only?.isPoint === true) {
      start = Buffer.concat([start, flippedIf(only.start, isDescending)]);
      continue;
    }
    last = limit.ranges.map((range) => partRange(start, range, isDescending));
    break;
  }
  if (partCount === 0) return undefined;
  const ranges = last ?? [{ start, end: Buffer.concat([start, LAST]) }];
  return { id, ranges, partCount, text: `declared index on ${partCount} of ${paths.length} parts` };
}

/** A byte behind the entries of a value: what follows a value begins with less. */
const LAST = Uint8Array.of(0xff);

export function partRange(
  before: Bytes,
  { start, end }: { readonly start: Bytes; readonly end: Bytes },
  isDescending: boolean,
): KeyRange {
  if (!isDescending)
    return { start: Buffer.concat([before, start]), end: Buffer.concat([before, end]) };
  // Flipped bytes sort the other way round; a value that is a prefix of another then comes behind it.
  return {
    start: Buffer.concat([before, flipped(end)]),
    end: Buffer.concat([before, flipped(start), LAST]),
  };
}

/** Entries have no more bytes of their values. */
export function isTooLong(before: Bytes, { ranges }: PartLimit): boolean {
  return ranges.some(
    ({ start, end }) => before.length + Math.max(start.length, end.length) + 1 > ENTRY_KEPT_BYTES,
  );
}

export function flippedIf(bytes: Bytes, isFlipped: boolean): Bytes {
  return isFlipped ? flipped(bytes) : bytes;
}

function flipped(bytes: Bytes): Bytes {
  return bytes.map((byte) => byte ^ 0xff);
}
