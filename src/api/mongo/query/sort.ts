/**
 * Sorts: the key of a document is, for each part, the least value at the path, or the greatest where the part is
 * descending. A missing value sorts as null and an empty array before it.
 */
import {
  type Bson,
  type BsonDocument,
  compareBson,
  Double,
  isArray,
  isDocument,
} from '../../../value/index.ts';
import { isNumber, wholeNumber } from '../bson/arithmetic.ts';
import { printBson } from '../bson/print.ts';
import { MongoError } from '../errors.ts';
import { metadataOf } from '../metadata/metadata.ts';
import type { CompareBson } from './collation.ts';
import { type FieldPath, someWholeAt, splitPath } from './path.ts';
import type { TextQuery } from './text/text-query.ts';

export interface SortPart {
  readonly text: string;
  readonly path: FieldPath;
  readonly isDescending: boolean;
  /** Set where the order is that of something else than a field. */
  readonly meta?: SortMeta | 'natural';
}

/** What is known of documents and has an order. */
type SortMeta = 'geoNearDistance' | 'randVal' | 'textScore';

export type SortKey = readonly (Bson | undefined)[];

/** MongoDB's bound. */
const PARTS_MAX = 32;

/** Parts of a sort with the order of a collation, and the search whose score may be a part. */
export class Sort {
  readonly parts: readonly SortPart[];
  readonly #compare: CompareBson;
  readonly #text: TextQuery | undefined;
  /** Documents so far: their natural order is that in which they come. */
  #count = 0;

  constructor(parts: readonly SortPart[], compare: CompareBson = compareBson, text?: TextQuery) {
    this.parts = parts;
    this.#compare = compare;
    this.#text = text;
  }

  get isEmpty(): boolean {
    return this.parts.length === 0;
  }

  /** The fields that a key needs; undefined where it needs all. */
  get fields(): ReadonlySet<string> | undefined {
    if (this.parts.some(({ meta }) => meta === 'textScore' || meta === 'geoNearDistance'))
      return undefined;
    return new Set(this.parts.flatMap(({ path, meta }) => (meta ? [] : [path[0] as string])));
  }

  keyOf(document: BsonDocument): SortKey {
    return this.parts.map((part) =>
      part.meta === undefined
        ? keyPart(document, part, this.#compare)
        : this.#metaKey(document, part.meta),
    );
  }

  #metaKey(document: BsonDocument, meta: SortMeta | 'natural'): Bson | undefined {
    if (meta === 'natural') return new Double(this.#count++);
    if (meta === 'randVal') return new Double(Math.random());
    if (meta === 'textScore' && this.#text !== undefined)
      return new Double(this.#text.score(document) ?? 0);
    return metadataOf(document)?.(meta) ?? null;
  }

  compare(a: SortKey, b: SortKey): number {
    for (let at = 0; at < this.parts.length; at++) {
      const order = this.#compare(a[at], b[at]);
      if (order !== 0) return (this.parts[at] as SortPart).isDescending ? -order : order;
    }
    return 0;
  }
}

export function parseSort(sort: BsonDocument): readonly SortPart[] {
  const parts: SortPart[] = [];
  for (const [text, value] of sort) {
    if (isDocument(value)) {
      parts.push(metaPart(text, metaIn(value)));
      continue;
    }
    const direction = wholeNumber(value);
    if (!isNumber(value))
      throw new MongoError(
        'Location15974',
        `Illegal key in $sort specification: ${text}: ${printBson(value)}`,
      );
    if (direction !== 1 && direction !== -1)
      throw new MongoError(
        'Location15975',
        '$sort key ordering must be 1 (for ascending) or -1 (for descending)',
      );
    if (text === '$natural')
      parts.push({ text, path: [], isDescending: direction < 0, meta: 'natural' });
    else parts.push({ text, path: checkedPath(text), isDescending: direction < 0 });
  }
  if (parts.length > PARTS_MAX) throw new MongoError('Location13103', 'too many compound keys');
  return parts;
}

function metaIn(value: BsonDocument): Bson {
  const meta = value.get('$meta');
  if (value.size !== 1 || meta === undefined)
    throw new MongoError(
      'Location17312',
      '$meta is the only expression supported by $sort right now',
    );
  return meta;
}

/** All descend: the best scores come first, and so do the greatest distances, as in MongoDB. */
export function metaPart(text: string, meta: Bson): SortPart {
  if (meta !== 'textScore' && meta !== 'geoNearDistance' && meta !== 'randVal')
    throw new MongoError('Location31138', `Illegal $meta sort: $meta: ${String(meta)}`);
  return {
    text,
    path: splitPath(text),
    isDescending: true,
    meta: meta as SortMeta,
  };
}

function checkedPath(text: string): FieldPath {
  if (text === '')
    throw new MongoError('Location40352', 'FieldPath cannot be constructed with empty string');
  if (text.endsWith('.'))
    throw new MongoError('Location40353', "FieldPath must not end with a '.'.");
  const path = splitPath(text);
  for (const step of path) {
    if (step === '')
      throw new MongoError('Location15998', 'FieldPath field names may not be empty strings.');
    if (step.startsWith('$') && step !== '$ref' && step !== '$id' && step !== '$db')
      throw new MongoError(
        'Location16410',
        `FieldPath field names may not start with '$'. Consider using $getField or $setField.`,
      );
  }
  return path;
}

function keyPart(
  document: BsonDocument,
  { path, isDescending }: SortPart,
  compare: CompareBson,
): Bson | undefined {
  const direction = isDescending ? -1 : 1;
  let best: Bson | undefined | typeof NONE = NONE;
  const consider = (candidate: Bson | undefined): void => {
    if (best === NONE || compare(candidate, best) * direction < 0) best = candidate;
  };
  someWholeAt(document, path, (value) => {
    if (!isArray(value)) consider(value ?? null);
    else if (value.length === 0) consider(undefined);
    else for (const element of value) consider(element);
    return false;
  });
  return best === NONE ? null : best;
}

const NONE: unique symbol = Symbol('no value yet');

export function sortKeyOf(
  document: BsonDocument,
  parts: readonly SortPart[],
  compare: CompareBson = compareBson,
): SortKey {
  return new Sort(parts, compare).keyOf(document);
}

export function compareSortKeys(
  a: SortKey,
  b: SortKey,
  parts: readonly SortPart[],
  compare: CompareBson = compareBson,
): number {
  return new Sort(parts, compare).compare(a, b);
}
