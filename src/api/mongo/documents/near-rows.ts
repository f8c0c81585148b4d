/**
 * Documents by their distance from a point, read from an index of places in rings: first what is very near, then what
 * is up to some times as far away, and so on. Whoever wants ten documents reads few rings. Distances decide the order;
 * an index only names what may lie in a ring. Each ring is a search of its own, at its own moment: a place that moves
 * between two of them may be found in neither or in both.
 */
import type { BsonDocument } from '../../../value/index.ts';
import { conjuncts, type Filter } from '../query/filter.ts';
import { areaWithin, type NearQuery, nearDistance, radiusMax } from '../query/geo/near.ts';
import { type FieldPath, someAt } from '../query/path.ts';
import { type Rows, sortedBy } from './rows.ts';

/** Rings grow by these factors: by the first as long as nothing is found, by the second then. */
const EMPTY_GROWTH = 8;
const GROWTH = 2;
/** The first radius, as a part of the greatest: some metres on the Earth. */
const FIRST_PART = 1e-6;

interface NearPart {
  readonly path: FieldPath;
  readonly near: NearQuery;
}

interface NearSource {
  find(filter: Filter): Rows;
  /** Whether an index finds the documents of this filter. */
  isRead(filter: Filter): boolean;
}

/** @param filter - with the part that orders by distance. */
export async function* nearRows(
  filter: Filter,
  { path, near }: NearPart,
  { find, isRead }: NearSource,
): Rows {
  const distanceOf = distancesAt(path, near);
  const sorted = (rows: Rows, after: number): Rows =>
    sortedBy(withDistance(rows, distanceOf, after), distanceOf, (a, b) => a - b);
  const end = Math.min(near.max, radiusMax(near));
  let after = Number.NEGATIVE_INFINITY;
  let radius = Math.max(near.min * GROWTH, radiusMax(near) * FIRST_PART);
  while (radius < end) {
    const ring = within(filter, near, radius);
    if (!isRead(ring)) break;
    let isEmpty = true;
    for await (const batch of sorted(find(ring), after)) {
      isEmpty = false;
      yield batch;
    }
    after = radius;
    radius *= isEmpty ? EMPTY_GROWTH : GROWTH;
  }
  const rest = Number.isFinite(near.max) ? within(filter, near, near.max) : filter;
  yield* sorted(find(rest), after);
}

/** The filter for documents up to a distance. */
function within(filter: Filter, near: NearQuery, distance: number): Filter {
  const ring: NearQuery = { ...near, max: distance };
  const of = conjuncts(filter).map((part): Filter => {
    if (part.kind !== 'field' || part.test.kind !== 'near') return part;
    const test = (value: Parameters<typeof nearDistance>[1]): boolean =>
      nearDistance(ring, value) !== undefined;
    return { ...part, test: { kind: 'geo', test, area: areaWithin(near, distance) } };
  });
  return { kind: 'and', of };
}

/** The least distance of a document's places. */
function distancesAt(path: FieldPath, near: NearQuery): (document: BsonDocument) => number {
  return (document) => {
    let nearest = Number.POSITIVE_INFINITY;
    someAt(document, path, (value) => {
      nearest = Math.min(nearest, nearDistance(near, value) ?? Number.POSITIVE_INFINITY);
      return false;
    });
    return nearest;
  };
}

/** The rows that earlier rings did not have. */
async function* withDistance(
  rows: Rows,
  distanceOf: (document: BsonDocument) => number,
  after: number,
): Rows {
  for await (const batch of rows) {
    const left = batch.filter((row) => distanceOf(row.document) > after);
    if (left.length > 0) yield left;
  }
}
