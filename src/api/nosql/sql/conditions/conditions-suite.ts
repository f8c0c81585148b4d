/** For tests: evaluates conditions on the index entries of an item. */
import { bytesToLatin1 } from '../../../../base/index.ts';
import { Indexing, Item, pathPrefix, valueOfTerm } from '../../../../partition/index.ts';
import type { Condition } from '../../../../query/index.ts';
import { jsonCodec, TRUNCATED, type Value } from '../../../../value/index.ts';

const indexing = new Indexing({
  isOff: false,
  included: ['/*'],
  excluded: [],
  always: [],
  composites: [],
  codec: jsonCodec,
});
const EMPTY = new Uint8Array(0);
const ITEM = new Item({
  // The version of a record without flags.
  record: Uint8Array.of(1),
  rid: 258,
  version: { salt: 0, lsn: 1, operation: 0 },
  timestampSec: 0,
  ttlSec: 0,
  encoding: 'json',
  body: EMPTY,
});

/** Whether an item with this body meets the condition, by its entries in an index of all paths. */
export function isMet(condition: Condition, document: Value): boolean {
  return isMetBy(condition, indexing.entriesOf(ITEM, document));
}

function isMetBy(condition: Condition, entries: readonly string[]): boolean {
  switch (condition.kind) {
    case 'anything':
    // A text condition comes with a term condition for an index of all paths.
    case 'text':
    // No dialect of this API makes one.
    case 'declared':
      return true;
    case 'nothing':
      return false;
    case 'all':
      return condition.of.every((part) => isMetBy(part, entries));
    case 'any':
      return condition.of.some((part) => isMetBy(part, entries));
    case 'term': {
      const prefix = bytesToLatin1(pathPrefix(condition.path));
      return entries.some((entry) => {
        if (!entry.startsWith(prefix)) return false;
        const key = entry.slice(prefix.length);
        const isWithin = condition.ranges.some(
          ({ start, end }) => key >= bytesToLatin1(start) && key < bytesToLatin1(end),
        );
        if (!isWithin || !condition.test) return isWithin;
        const value = valueOfTerm(entry);
        return value === TRUNCATED || condition.test(value);
      });
    }
  }
}
