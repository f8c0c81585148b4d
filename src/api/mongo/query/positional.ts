/** The element of an array by which a document matched a filter: what `$` stands for. */
import { type BsonDocument, isArray, isDocument } from '../../../value/index.ts';
import type { CompareBson } from './collation.ts';
import type { FieldTest, Filter } from './filter.ts';
import { compileFilter } from './filter-test.ts';
import { arrayIndex, type FieldPath } from './path.ts';

/**
 * The index in the array at the path; where no condition is about that array, that of any other array.
 * Undefined where no array was entered.
 */
export function matchedIndex(
  filter: Filter,
  document: BsonDocument,
  path: string,
  compare?: CompareBson,
): number | undefined {
  let found: Match | undefined;
  for (const each of matches(filter, document, compare))
    if (each.path === path || found?.path !== path) found = each;
  return found?.index;
}

interface Match {
  readonly path: string;
  readonly index: number;
}

function* matches(
  filter: Filter,
  document: BsonDocument,
  compare: CompareBson | undefined,
): Generator<Match> {
  if (filter.kind === 'and') for (const part of filter.of) yield* matches(part, document, compare);
  else if (filter.kind === 'or') {
    const first = filter.of.find((part) => compileFilter(part, compare)(document));
    if (first !== undefined) yield* matches(first, document, compare);
  } else if (filter.kind === 'field') {
    const match = matchOf(filter.path, filter.test, document, compare);
    if (match !== undefined) yield match;
  }
}

function matchOf(
  path: FieldPath,
  test: FieldTest,
  document: BsonDocument,
  compare: CompareBson | undefined,
): Match | undefined {
  if (test.kind === 'not') return undefined;
  let value: unknown = document;
  for (let at = 0; at < path.length; at++) {
    if (!isDocument(value as never)) return undefined;
    value = (value as BsonDocument).get(path[at] as string);
    if (!isArray(value as never)) continue;
    const rest = path.slice(at + 1);
    const name = path.slice(0, at + 1).join('.');
    const named = rest[0] === undefined ? undefined : arrayIndex(rest[0]);
    if (named !== undefined) return undefined;
    const isWhole = rest.length === 0 && WHOLE.has(test.kind);
    const passes = compileFilter({ kind: 'field', path: ['v', ...rest], test }, compare);
    const index = (value as readonly never[]).findIndex((element) =>
      passes(new Map([['v', isWhole ? [element] : element]])),
    );
    return index < 0 ? undefined : { path: name, index };
  }
  return undefined;
}

/** Tests that are about an array and ask for one of its elements. */
const WHOLE: ReadonlySet<string> = new Set(['elementMatches', 'elementPasses']);
