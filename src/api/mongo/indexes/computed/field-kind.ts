/**
 * Plain and hashed fields, where the layers below do not know which documents have entries, or which texts are equal.
 *
 *   [a, b]      one entry for every combination of the values under the fields; null where there is none
 *
 * Under a collation a text is its key (query/collation-keys.ts), at any depth, so that two texts that the collation
 * finds equal are one value of a unique index. A search for a text finds its key, and all texts without a sure key. A
 * hashed field has its value: what is hashed is only asked for by equality.
 *
 * Filters test the values under a field, and arrays as a whole; a search is for values that are no arrays. A document
 * without any of the fields has no entry in a sparse index, so there null is not searched for.
 */
import { multikeyValues, sortedValues } from '../../../../partition/index.ts';
import { equalTo, startingWith, type ValueRange } from '../../../../query/index.ts';
import {
  BsonSymbol,
  compareBson,
  Extended,
  isDocument,
  isList,
  isMap,
  type Value,
} from '../../../../value/index.ts';
import { type CompareBson, collationBehind, parseCollation } from '../../query/collation.ts';
import {
  type CollationKeys,
  collationKeys,
  isSameCollation,
  KEYED_LETTERS_MAX,
  UNKNOWN,
} from '../../query/collation-keys.ts';
import type { FieldTest, Filter } from '../../query/filter.ts';
import { splitPath } from '../../query/path.ts';
import { indexValue, testRanges } from '../filter-condition.ts';
import {
  combined,
  ENTRIES_MAX,
  type EntryValues,
  EVERYWHERE,
  type IndexKey,
  type IndexKind,
} from './kind.ts';
import { askedBy, isText, testsOf } from './leading-fields.ts';

/**
 * Undefined where nothing is known of the texts that its collation finds equal. An index that expires has entries there
 * too, since dates are found by them: its texts are as they are, and no search asks for them.
 */
export function fieldKind({ key, spec }: IndexKey): IndexKind | undefined {
  const sent = spec.get('collation');
  const collation = isDocument(sent) ? parseCollation(sent) : undefined;
  const keys = collation && collationKeys(collation);
  const expires = spec.has('expireAfterSeconds');
  const isKnown = collation === undefined || keys !== undefined;
  if (!isKnown && !expires) return undefined;
  const fields = [...key.keys()];
  const isSparse = spec.get('sparse') === true;
  // Every value of a unique index counts.
  const entriesMax = spec.get('unique') === true ? Number.POSITIVE_INFINITY : ENTRIES_MAX;
  const rangesOf = (test: FieldTest, compare: CompareBson): readonly ValueRange[] | undefined => {
    const behind = collationBehind(compare);
    const isSame =
      collation === undefined
        ? compare === compareBson
        : isKnown && behind !== undefined && isSameCollation(collation, behind);
    return rangesOfTest(test, { keys, isSame, isSparse });
  };
  return {
    entriesOf({ value }) {
      if (isSparse && fields.every((field) => isMissing(value, field))) return [];
      let lists: readonly EntryValues[] | undefined = [[]];
      const letters = { left: LETTERS_MAX };
      for (const field of fields) {
        const found = sortedValues(value, splitPath(field));
        const values = found.map((each) => [keyed(each, keys, letters)]);
        lists = lists && combined(lists, values, entriesMax);
      }
      // The earliest date decides, so that it has an entry also where there are too many.
      return lists ?? (expires ? [[EVERYWHERE], ...earliest(value, fields)] : undefined);
    },
    search(parts, compare) {
      const values: (readonly ValueRange[])[] = [];
      for (const field of fields) {
        const ranges = firstRanges(field, parts, (test) => rangesOf(test, compare));
        if (ranges === undefined) break;
        values.push(ranges);
        if (!ranges.every(({ isPoint }) => isPoint)) break;
      }
      return values.length === 0 ? undefined : { values, isWhole: values.length === fields.length };
    },
  };
}

/** The entry of the earliest date under the first field. */
function earliest(value: Value, [field = '']: readonly string[]): readonly EntryValues[] {
  let first: Extended | undefined;
  let firstMs = Number.POSITIVE_INFINITY;
  for (const each of sortedValues(value, splitPath(field))) {
    if (!(each instanceof Extended) || each.payload.kind !== 'date') continue;
    if (each.payload.ms >= firstMs) continue;
    first = each;
    firstMs = each.payload.ms;
  }
  return first === undefined ? [] : [[first]];
}

/** The ranges of the first test that asks for values, or has bounds: two elements may meet two tests. */
function firstRanges(
  field: string,
  parts: readonly Filter[],
  rangesOf: (test: FieldTest) => readonly ValueRange[] | undefined,
): readonly ValueRange[] | undefined {
  let found: readonly ValueRange[] | undefined;
  for (const test of testsOf(field, parts)) {
    const ranges = rangesOf(test);
    if (ranges === undefined) continue;
    if (askedBy(test) !== undefined) return ranges;
    found ??= ranges;
  }
  return found;
}

interface RangeOptions {
  readonly keys: CollationKeys | undefined;
  /** Whether the query compares texts as the index does. */
  readonly isSame: boolean;
  readonly isSparse: boolean;
}

function rangesOfTest(
  test: FieldTest,
  { keys, isSame, isSparse }: RangeOptions,
): readonly ValueRange[] | undefined {
  const asked = askedBy(test);
  if (asked === undefined) {
    // Keys are in no order.
    const isClear = 'value' in test && !(isText(test.value) && (keys !== undefined || !isSame));
    return isClear ? testRanges(test) : undefined;
  }
  const ranges: ValueRange[] = [];
  let isUnsure = false;
  for (const value of asked) {
    if (value === null && isSparse) return undefined;
    if (isText(value) && !isSame) return undefined;
    if (isText(value) && keys !== undefined) {
      const key = keys.keyOf(value instanceof BsonSymbol ? value.text : value);
      if (key.startsWith(UNKNOWN)) return undefined;
      isUnsure = true;
      ranges.push(equalTo(key));
      continue;
    }
    const own = value === null ? null : indexValue(value);
    if (own === undefined) return undefined;
    ranges.push(equalTo(own));
  }
  return isUnsure ? [...ranges, startingWith(UNKNOWN)] : ranges;
}

/** Letters of the texts of one document that have keys: some milliseconds, for each index and each of its writes. */
const LETTERS_MAX = 4 * KEYED_LETTERS_MAX;

/** A value with the keys of its texts, as long as letters are left. */
function keyed(value: Value, keys: CollationKeys | undefined, letters: { left: number }): Value {
  if (keys === undefined) return value;
  if (typeof value === 'string') {
    if (value.length > letters.left) return UNKNOWN + value;
    letters.left -= Math.min(value.length, KEYED_LETTERS_MAX);
    return keys.keyOf(value);
  }
  if (isList(value)) return value.map((each) => keyed(each, keys, letters));
  if (!isMap(value) || value instanceof Extended) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, keyed(inner, keys, letters)]),
  );
}

/** Whether a document has nothing under a field, as sparse indexes see it. */
function isMissing(value: Value, field: string): boolean {
  return multikeyValues(value, splitPath(field)).every((each) => each === undefined);
}
