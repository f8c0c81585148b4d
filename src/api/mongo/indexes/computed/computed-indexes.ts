/** The computed indexes of a collection: their entries, and those that can find the documents of a filter. */
import type { IndexDefinition } from '../../../../catalog/index.ts';
import type { ComputedEntries } from '../../../../partition/index.ts';
import {
  ANYTHING,
  allOf,
  type Condition,
  entryCondition,
  equalTo,
} from '../../../../query/index.ts';
import { fieldReader, isDocument, readBson } from '../../../../value/index.ts';
import type { Collection } from '../../collections/collection.ts';
import type { CompareBson } from '../../query/collation.ts';
import { type Filter, fieldsOf } from '../../query/filter.ts';
import { parseFilter } from '../../query/filter-parser.ts';
import { compileFilter } from '../../query/filter-test.ts';
import { declaredIndexes, indexOf, type MongoIndex } from '../index-spec.ts';
import { implies } from './implied-filter.ts';
import { type EntrySearch, EVERYWHERE, type IndexKind } from './kind.ts';
import { kindOf } from './kinds.ts';

interface Computed {
  readonly kind: IndexKind;
  /** Which documents have entries; undefined: all. */
  readonly partial: Filter | undefined;
}

/** Definitions never change in place, so that each is read once. */
const KNOWN = new WeakMap<IndexDefinition, Computed | 'none'>();

function computedOf({ definition, key, spec }: MongoIndex): Computed | undefined {
  let known = KNOWN.get(definition);
  if (known === undefined) {
    const kind =
      definition.isVirtual === true
        ? kindOf({ key, spec, entryRules: definition.entryRules })
        : undefined;
    const sent = spec.get('partialFilterExpression');
    const partial = isDocument(sent) ? parseFilter(sent) : undefined;
    known = kind === undefined ? 'none' : { kind, partial };
    KNOWN.set(definition, known);
  }
  return known === 'none' ? undefined : known;
}

/** The entries of documents in an index, for the partitions. */
export function entriesFor(definition: IndexDefinition): ComputedEntries | undefined {
  const computed = computedOf(indexOf(definition));
  if (computed === undefined) return undefined;
  const { kind, partial } = computed;
  const entriesOf: ComputedEntries = (value, body) =>
    kind.entriesOf({ value, body }) ?? [[EVERYWHERE]];
  if (partial === undefined) return entriesOf;
  const names = fieldsOf(partial);
  const read = names === undefined ? readBson : fieldReader(names);
  const passes = compileFilter(partial);
  return (value, body) => (passes(read(body)) ? entriesOf(value, body) : []);
}

/** An index that finds the documents of a filter. */
interface UsedIndex {
  readonly index: MongoIndex;
  readonly search: EntrySearch;
}

/** @param parts - of a conjunction. */
export function usedIndexes(
  collection: Pick<Collection, 'container'>,
  parts: readonly Filter[],
  compare: CompareBson,
): readonly UsedIndex[] {
  const used: UsedIndex[] = [];
  for (const index of declaredIndexes(collection)) {
    const computed = computedOf(index);
    if (computed === undefined || index.spec.get('hidden') === true) continue;
    const { kind, partial } = computed;
    if (partial !== undefined && !implies(parts, partial, compare)) continue;
    const search = kind.search(parts, compare);
    if (search !== undefined) used.push({ index, search });
  }
  return used;
}

/** What computed indexes know of the documents that pass all parts. */
export function computedCondition(
  collection: Pick<Collection, 'container'>,
  parts: readonly Filter[],
  compare: CompareBson,
): Condition {
  const used = usedIndexes(collection, parts, compare);
  if (used.length === 0) return ANYTHING;
  return allOf(
    ...used.map(({ index, search }) =>
      entryCondition(index.id, search.values, search.isWhole, [equalTo(EVERYWHERE)]),
    ),
  );
}
