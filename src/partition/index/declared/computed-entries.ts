/** Entries that the home API makes of an item, in indexes whose entries are not the values at their paths. */
import type { Bytes } from '../../../base/index.ts';
import { KeyWriter, type Value } from '../../../value/index.ts';
import { compositePart } from './declared-values.ts';
import { boundedEntry } from './long-entries.ts';

/**
 * The entries of an item in one index: values in order, each list one entry. Pure, and never throws: they are also made
 * while a group of writes is committed, which would fail as a whole. So a home API stores only what it can read. A query
 * names an index only where every item that it wants has an entry in its ranges.
 */
export type ComputedEntries = (item: Value, body: Bytes) => readonly (readonly Value[])[];

const writer = new KeyWriter(1024);

interface ComputedIndex {
  readonly prefix: Bytes;
  readonly computed?: ComputedEntries;
}

/** The prefixes of the entries of an item, each once. */
export function computedPrefixes(
  { prefix, computed }: ComputedIndex,
  item: Value,
  body: Bytes,
): readonly string[] {
  const found = new Set<string>();
  for (const values of computed?.(item, body) ?? []) {
    writer.reset().raw(prefix);
    for (const value of values) writer.raw(compositePart(value, false));
    found.add(boundedEntry(writer.takeText()));
  }
  return [...found];
}
