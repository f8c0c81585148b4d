/**
 * Wildcards: the fields in front, a path, a value.
 *
 *   [a, 'b.c', 5]      one entry for every value under every path of the wildcard; an array stands for its elements and
 *                      for itself, an object for itself and for the paths within
 *
 * A filter on a path tests these values: those of documents in arrays have the path without their places, and paths with
 * places are not searched for. What is missing has no entry, so null is not searched for either. Fields behind the
 * wildcard are read from the documents.
 */
import { equalTo, everyValue, type ValueRange } from '../../../../query/index.ts';
import { compareBson, Extended, isList, isMap, type Value } from '../../../../value/index.ts';
import type { CompareBson } from '../../query/collation.ts';
import type { FieldTest } from '../../query/filter.ts';
import { testRanges } from '../filter-condition.ts';
import { isWildcard } from '../index-key.ts';
import { wildcardPaths } from '../wildcard-paths.ts';
import {
  combined,
  ENTRIES_MAX,
  type EntrySearch,
  type EntryValues,
  type IndexKey,
  type IndexKind,
} from './kind.ts';
import { askedBy, isPlainPath, isText, leadingPoints, leadingValues } from './leading-fields.ts';

export function wildcardKind({ key, spec }: IndexKey): IndexKind {
  const names = [...key.keys()];
  const leading = names.slice(0, names.findIndex(isWildcard));
  const hasPath = wildcardPaths(key, spec);
  return {
    entriesOf({ value }) {
      const found: EntryValues[] = [];
      walk(value, '', { hasPath, found });
      const before = found.length > ENTRIES_MAX ? undefined : leadingValues(leading, value);
      return before && combined(before, found);
    },
    search(parts, compare) {
      const before = leadingPoints(leading, parts, compare);
      if (before === undefined) return undefined;
      let best: { readonly rank: number; readonly search: EntrySearch } | undefined;
      for (const part of parts) {
        if (part.kind !== 'field') continue;
        const path = part.path.join('.');
        const ranges =
          hasPath(path) && isPlainPath(path) ? rangesOf(part.test, compare) : undefined;
        if (ranges === undefined) continue;
        const rank = rankOf(part.test);
        if (best !== undefined && best.rank <= rank) continue;
        best = { rank, search: { values: [...before, [equalTo(path)], ranges], isWhole: true } };
      }
      return best?.search;
    },
  };
}

function rangesOf(test: FieldTest, compare: CompareBson): readonly ValueRange[] | undefined {
  if (test.kind === 'exists') return test.wants ? [everyValue()] : undefined;
  const asked = askedBy(test) ?? ('value' in test ? [test.value] : []);
  const isCollated = compare !== compareBson && asked.some(isText);
  return isCollated || asked.includes(null) ? undefined : testRanges(test);
}

/** Equal values name the fewest documents, and the presence of a field the most. */
function rankOf(test: FieldTest): number {
  if (test.kind === 'exists') return 2;
  return askedBy(test) === undefined ? 1 : 0;
}

interface Walk {
  readonly hasPath: (path: string) => boolean;
  readonly found: EntryValues[];
}

/** Adds the values under all paths below one; ends where there are too many. */
function walk(value: Value, prefix: string, into: Walk): void {
  if (!isMap(value) || value instanceof Extended) return;
  for (const name of Object.keys(value)) {
    if (into.found.length > ENTRIES_MAX) return;
    const path = prefix === '' ? name : `${prefix}.${name}`;
    visit(value[name], path, into);
  }
}

function visit(value: Value, path: string, into: Walk): void {
  if (into.hasPath(path)) {
    into.found.push([path, value ?? null]);
    if (isList(value))
      for (const element of value) {
        if (into.found.length > ENTRIES_MAX) return;
        into.found.push([path, element ?? null]);
      }
  }
  walk(value, path, into);
  if (isList(value)) for (const element of value) walk(element, path, into);
}
