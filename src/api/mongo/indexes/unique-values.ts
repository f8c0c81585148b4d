/**
 * The values that no two documents of a unique index may have, as MongoDB makes keys of an index:
 *
 * - An array on the way gives a key for each of its elements, and the fields that go through it take their values from
 *   the same one. An element without the field gives a missing value, as null.
 * - An array at the end stands for its elements, an empty one for undefined. One within another stands for itself, also
 *   where a number has named it.
 * - A number names an element, unless elements have a field of that name.
 *
 * They are made of the BSON: the shared values know neither the order of names that are whole numbers, nor old types.
 * Plain values are as an index without these rules has them.
 */
import type { UniqueValues } from '../../../partition/index.ts';
import {
  BSON_UNDEFINED,
  type Bson,
  type BsonDocument,
  BsonSymbol,
  bsonTypeOf,
  fieldReader,
  isArray,
  isDocument,
  readBson,
  type Value,
  valueOfBson,
} from '../../../value/index.ts';
import { type Collation, parseCollation } from '../query/collation.ts';
import { collationKeys } from '../query/collation-keys.ts';
import { fieldsOf } from '../query/filter.ts';
import { parseFilter } from '../query/filter-parser.ts';
import { compileFilter } from '../query/filter-test.ts';
import { type FieldPath, splitPath } from '../query/path.ts';
import type { IndexKey } from './computed/kind.ts';
import { elementAt, type Found, follow } from './index-steps.ts';

/** Undefined where an index has a field of another kind. */
export function uniqueValuesOf({ key, spec }: IndexKey): UniqueValues | undefined {
  if ([...key.values()].some((kind) => typeof kind === 'string')) return undefined;
  const paths = [...key.keys()].map(splitPath);
  const isSparse = spec.get('sparse') === true;
  const partial = spec.get('partialFilterExpression');
  const filter = isDocument(partial) ? parseFilter(partial) : undefined;
  const read = readerOf(paths, filter === undefined ? [] : fieldsOf(filter));
  const sent = spec.get('collation');
  const collation = isDocument(sent) ? parseCollation(sent) : undefined;
  const print = printerOf(collation);
  // The filter compares texts as the index does.
  const passes = filter && compileFilter(filter, collation?.compare);
  return (body) => {
    const document = read(body);
    if (passes !== undefined && !passes(document)) return [];
    const found = new KeyMaker(isSparse).keysOf(document, paths);
    return found.map((values) => values.map((value) => uniqueValue(value, print)));
  };
}

type PrintText = (text: string) => string;

/** Controls and joiners, which collations ignore, but where they part letters that count as one. */
const IGNORED = /[\p{Cc}\p{Cf}]/gu;

/** The same text for texts that a collation finds equal, so far as that is known. */
function printerOf(collation: Collation | undefined): PrintText {
  const keys = collation && collationKeys(collation);
  if (collation === undefined || keys === undefined) return (text) => text;
  return (text) => {
    const plain = text.replace(IGNORED, '');
    const isKept = plain.length === text.length || collation.compareTexts(plain, text) !== 0;
    return keys.keyOf(isKept ? text : plain);
  };
}

/** @param others - undefined: every field is read. */
function readerOf(
  paths: readonly FieldPath[],
  others: Iterable<string> | undefined,
): (body: Uint8Array) => BsonDocument {
  if (others === undefined) return readBson;
  return fieldReader([...paths.map(([name]) => name as string), ...others]);
}

/** The values of a key so far. */
type Key = readonly (Bson | undefined)[];

/** What a path with a number finds in an array, for all of its elements. */
type Named = readonly (Found | undefined)[];

class KeyMaker {
  readonly #isSparse: boolean;
  readonly #keys: Key[] = [];

  constructor(isSparse: boolean) {
    this.#isSparse = isSparse;
  }

  keysOf(document: BsonDocument, paths: readonly FieldPath[]): readonly Key[] {
    this.#add(document, paths, [], []);
    return this.#keys;
  }

  /** @param values - of the paths that have come to their end. */
  #add(document: BsonDocument, paths: readonly FieldPath[], values: Key, named: Named): void {
    const now = [...values];
    const left = [...paths];
    /** The array that is gone through, and which paths go through it. */
    let list: readonly Bson[] | undefined;
    const through: number[] = [];
    paths.forEach((path, at) => {
      if (path.length === 0) return;
      const { value, rest, isElement } = follow(document, path, named[at]);
      now[at] = value;
      left[at] = rest;
      if (!isArray(value) || isElement === true) return;
      list ??= value;
      if (value === list) through.push(at);
    });
    if (list === undefined) {
      if (!this.#isSparse || paths.some((_, at) => now[at] !== undefined)) this.#keys.push(now);
      return;
    }
    this.#enter(list, { left, now, through });
  }

  #enter(
    list: readonly Bson[],
    {
      left,
      now,
      through,
    }: {
      readonly left: readonly FieldPath[];
      readonly now: Key;
      readonly through: readonly number[];
    },
  ): void {
    const elements: readonly (Bson | undefined)[] = list.length === 0 ? [BSON_UNDEFINED] : list;
    const isThrough = new Set(through);
    const named = left.map((path, at) => (isThrough.has(at) ? elementAt(list, path) : undefined));
    for (const element of elements) {
      const values = now.map((value, at) =>
        isThrough.has(at) ? (left[at]?.length === 0 ? element : undefined) : value,
      );
      this.#add(isDocument(element) ? element : NOTHING, left, values, named);
    }
  }
}

const NOTHING: BsonDocument = new Map();

/** What no document stands for: see `uniqueValue`. */
const UNDEFINED: Value = { '': null };

/** Documents are lists of their names and values, whose order counts; null stands for a missing value. */
function uniqueValue(value: Bson | undefined, print: PrintText): Value {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return print(value);
  if (value instanceof BsonSymbol) return print(value.text);
  if (isArray(value)) return value.map((each) => uniqueValue(each, print));
  if (isDocument(value))
    return { '': [...value].map(([name, inner]) => [name, uniqueValue(inner, print)]) };
  return bsonTypeOf(value) === 'undefined' ? UNDEFINED : valueOfBson(value);
}
