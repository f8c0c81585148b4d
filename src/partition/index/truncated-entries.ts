/**
 * Entries with a text that is too long for a key: they hold its beginning and a digest (value/tuple.ts). Those of the same
 * beginning stand together, in the order of their digests.
 */
import { KEY_TEXT_BYTES_MAX } from '../../base/index.ts';
import { DIGEST_BYTES, KEY_TAGS, KeyReader } from '../../value/index.ts';
import { PATH_NUMBER_BYTES } from './index-paths.ts';

/** Behind the prefix. */
const TERM_VALUE_START = 1 + PATH_NUMBER_BYTES;
const COMPOSITE_VALUE_START = 1 + 2;
const TERM_PARTS: readonly boolean[] = [false];

/** How much of a term's entry it shares with those of all texts cut like its own; undefined where none is cut. */
export function cutOfTerm(entry: string): number | undefined {
  return cutOf(entry, TERM_VALUE_START, TERM_PARTS);
}

/** The same of the first text that is cut in the entry of a composite index. */
export function cutOfComposite(
  entry: string,
  { isDescending }: { readonly isDescending: readonly boolean[] },
): number | undefined {
  return cutOf(entry, COMPOSITE_VALUE_START, isDescending);
}

function cutOf(entry: string, start: number, isDescending: readonly boolean[]): number | undefined {
  // Nearly all entries are shorter than a cut text alone.
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
