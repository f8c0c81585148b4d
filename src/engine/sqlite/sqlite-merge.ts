/** Pages of scattered keys: what is in the tree and what is gathered, in one order. */
import { type Bytes, bytesToLatin1 } from '../../base/index.ts';
import type { ScanOptions } from '../engine.ts';
import type { Gathered } from './sqlite-gathered.ts';
import { behind, type TableRange } from './sqlite-ranges.ts';

export interface Page<T> {
  readonly found: readonly T[];
  /** Of all that was found. */
  readonly bytes: number;
  readonly more: boolean;
}

/** What the entries of a page are. */
export interface MergedKind<T> {
  readonly keyOf: (found: T) => Bytes;
  /** Of what was found and a key, which is given as text too. */
  readonly compare: (found: T, key: Bytes, text: string) => number;
  readonly bytesOf: (found: T) => number;
  /** Undefined where the entry is left out. */
  readonly show: (key: Bytes, stored: Bytes) => T | undefined;
}

export interface MergedParts<T> extends MergedKind<T> {
  readonly scanTree: (range: TableRange, options: ScanOptions) => Page<T>;
  readonly gathered: Gathered;
}

/** The tree is asked for this much at least: some of what it has may be deleted. */
const TREE_ROWS_MIN = 16;
const TREE_BYTES_MIN = 4096;

export function mergedPage<T>(
  range: TableRange,
  options: ScanOptions,
  { scanTree, gathered, keyOf, compare, bytesOf, show }: MergedParts<T>,
): Page<T> {
  const { limit, bytesMax, reverse = false } = options;
  const direction = reverse ? -1 : 1;
  const found: T[] = [];
  let bytes = 0;
  const entries = gathered.within(range, reverse);
  let next = nextOf(entries);
  for (let rest = range; ; ) {
    const page = scanTree(rest, {
      ...options,
      limit: Math.max(limit + 1 - found.length, TREE_ROWS_MIN),
      bytesMax: Math.max(bytesMax - bytes, TREE_BYTES_MIN),
    });
    for (let at = 0; ; ) {
      const inTree = page.found[at];
      const order = inTree && next ? direction * compare(inTree, next.key, next.text) : 0;
      let shown: T | undefined;
      if (inTree !== undefined && (next === undefined || order < 0)) {
        shown = inTree;
        at++;
      } else if (next !== undefined && (inTree !== undefined || !page.more)) {
        shown = next.stored === null ? undefined : show(next.key, next.stored);
        if (inTree !== undefined && order === 0) at++;
        next = nextOf(entries);
      } else break; // What is gathered has to wait where the page ends and the tree goes on.
      if (shown === undefined) continue;
      if (found.length === limit || bytes >= bytesMax) return { found, bytes, more: true };
      found.push(shown);
      bytes += bytesOf(shown);
    }
    if (!page.more) return { found, bytes, more: false };
    rest = behind(rest, keyOf(page.found.at(-1) as T), reverse);
  }
}

interface NextEntry {
  readonly key: Bytes;
  readonly text: string;
  /** Null: deleted. */
  readonly stored: Bytes | null;
}

function nextOf(entries: Iterator<[Bytes, Bytes | null]>): NextEntry | undefined {
  const next = entries.next();
  if (next.done === true) return undefined;
  const [key, stored] = next.value;
  return { key, text: bytesToLatin1(key), stored };
}
