/**
 * Entries with a text that is too long for a key: they have its beginning and a digest (value/tuple.ts). Entries with
 * the same beginning are neighbours, in the order of their digests.
 */
import { KEY_TEXT_BYTES_MAX } from '../../base/index.ts';
import { DIGEST_BYTES, KEY_TAGS, KeyReader } from '../../value/index.ts';
import { PATH_NUMBER_BYTES } from './index-paths.ts';

/** Offsets of the first value. */
const TERM_VALUE_START = 1 + PATH_NUMBER_BYTES;
const COMPOSITE_VALUE_START = 1 + 2;
const TERM_PARTS: readonly boolean[] = [false];

/** The length of the prefix that a truncated entry shares with all texts of the same beginning; else undefined. */
export function truncatedPrefixOfTerm(entry: string): number | undefined {
  return cutOf(entry, TERM_VALUE_START, TERM_PARTS);
}

/** The same for the first truncated text in an entry of a composite index. */
export function truncatedPrefixOfComposite(
  entry: string,
  { isDescending }: { readonly isDescending: readonly boolean[] },
): number | undefined {
  return cutOf(entry, COMPOSITE_VALUE_START, isDescending);
}

function cutOf(entry: string, start: number, isDescending: readonly boolean[]): number | undefined {
  // Nearly all entries are shorter than a truncated text.
  if (entry.length < start + KEY_TEXT_BYTES_MAX) return undefined;
  const plain = Buffer.from(entry, 'latin1');
  const flipped = isDescending.includes(true) ? plain.map((byte) => byte ^ 0xff) : plain;
  let at = start;
  for (const isFlipped of isDescending) {
    const bytes = isFlipped ? flipped : plain;
    const reader = new KeyReader(bytes, at);
    const isText = bytes[at] === KEY_TAGS.cosmos.text;
    reader.value();
    at = reader.position;
    if (isText && !reader.isExact) return at - DIGEST_BYTES;
  }
  return undefined;
}
