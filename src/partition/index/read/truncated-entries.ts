/**
 * Entries with a text, binary or pattern that is too long for a key: they have its beginning and a digest
 * (value/tuple.ts). Entries with the same beginning are neighbours, in the order of their digests.
 */
import { type Bytes, ENTRY_KEPT_BYTES, KEY_TEXT_BYTES_MAX } from '../../../base/index.ts';
import { KEY_TAGS, KeyReader } from '../../../value/index.ts';
import { EMPTY_LIST_TAG } from '../declared/bson-entries.ts';
import type { CompositeMatch } from '../declared/declared-indexes.ts';
import { isCutEntry } from '../declared/long-entries.ts';
import { PATH_NUMBER_BYTES } from '../terms/index-paths.ts';

/** Offsets of the first value. */
const TERM_VALUE_START = 1 + PATH_NUMBER_BYTES;
const { text, binary, regex } = KEY_TAGS.cosmos;
/**
 * The kinds of values that begin with bytes up to a bound. Indexes of the bson collation mark items with other long
 * values than texts, and are not read in order then.
 */
const BOUNDED: ReadonlySet<number> = new Set([text, binary, regex, KEY_TAGS.bson.text]);
const TRUNCATION_MARK = 0xff;
/** Longer than any value in a key. */
const PADDING = new Uint8Array(2 * (KEY_TEXT_BYTES_MAX + 32));
const TERM_PARTS: readonly boolean[] = [false];

/** The length of the prefix that a truncated entry shares with all texts of the same beginning; else undefined. */
export function truncatedPrefixOfTerm(entry: string): number | undefined {
  return cutOf(entry, TERM_VALUE_START, TERM_PARTS);
}

/** The same for the first truncated value in an entry of a composite index. */
export function truncatedPrefixOfComposite(
  entry: string,
  { prefix, isDescending }: Pick<CompositeMatch, 'prefix' | 'isDescending'>,
): number | undefined {
  return cutOf(entry, prefix.length, isDescending);
}

function cutOf(entry: string, start: number, isDescending: readonly boolean[]): number | undefined {
  // Nearly all entries are shorter than a truncated text.
  if (entry.length < start + KEY_TEXT_BYTES_MAX) return undefined;
  const isCut = isCutEntry(entry);
  // Behind the cut, zeros let the last value end.
  const plain = isCut
    ? Buffer.concat([Buffer.from(entry.slice(0, ENTRY_KEPT_BYTES), 'latin1'), PADDING])
    : Buffer.from(entry, 'latin1');
  const flipped = isDescending.includes(true) ? plain.map((byte) => byte ^ 0xff) : plain;
  let at = start;
  for (const isFlipped of isDescending) {
    if (isCut && at >= ENTRY_KEPT_BYTES) break;
    const bytes = isFlipped ? flipped : plain;
    if (bytes[at] === EMPTY_LIST_TAG) {
      at++;
      continue;
    }
    const reader = new KeyReader(bytes, at);
    const isBounded = BOUNDED.has(bytes[at] as number);
    const mark = markOf(bytes, at + 1);
    // The value at the cut is not whole.
    if (isCut && mark >= ENTRY_KEPT_BYTES) break;
    reader.value();
    at = reader.position;
    if (isBounded && !reader.isExact && bytes[mark] === TRUNCATION_MARK) return mark + 1;
  }
  return isCut ? ENTRY_KEPT_BYTES : undefined;
}

/** The end of the bytes that a key keeps: an escape, which begins with a zero, is kept whole. */
function markOf(bytes: Bytes, start: number): number {
  const end = start + KEY_TEXT_BYTES_MAX;
  return bytes[end - 1] === 0 ? end + 1 : end;
}
