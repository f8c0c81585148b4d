/**
 * The terms of a wide item: one with so many values that other requests must not wait while they are found, sorted and
 * logged. They are found before its write is decided, in slices (docs/decisions/0004-index-entries.md).
 */
import { type Bytes, bufferOf, type Steps } from '../../../base/index.ts';
import { COMMA } from '../../../value/index.ts';
import type { Rid } from '../../item/item.ts';
import { type IndexRun, ridText } from '../memory/index-run.ts';
import { LOG_ENTRY_BYTES, lengthText } from '../stored/index-log.ts';

/** Smaller bodies are never wide. */
export const WIDE_BYTES = 16 * 1024;
/** Values from which on an item is wide: finding them takes some milliseconds. */
const WIDE_VALUES = 2000;

/** Term prefixes of one sort: a fraction of a millisecond. */
const PART_SIZE = 512;
/** Term prefixes merged, compared or written between two reads of the clock. */
const STEP = 256;

export interface WideTerms {
  /** Sorted, each once. */
  readonly termPrefixes: readonly string[];
  /** Number of entries with repetitions, by which a write is charged. */
  readonly count: number;
  /** Index log entries that remove them; empty where the rid is not assigned yet. */
  readonly removal: readonly Bytes[];
}

/** Counts commas, since one follows nearly every value: takes a millisecond for the largest item. */
export function isWide(body: Bytes): boolean {
  if (body.length < WIDE_BYTES) return false;
  const text = bufferOf(body);
  let count = 0;
  for (let at = text.indexOf(COMMA); at >= 0; at = text.indexOf(COMMA, at + 1))
    if (++count >= WIDE_VALUES) return true;
  return false;
}

/** Term prefixes as they are found, sorted in small parts, so that no step is long. */
export class FoundTermPrefixes {
  /** Number of term prefixes, with repetitions. */
  count = 0;
  #part = new Set<string>();
  #parts: string[][] = [];

  add(termPrefix: string): void {
    this.count++;
    this.#part.add(termPrefix);
    if (this.#part.size >= PART_SIZE) this.#endPart();
  }

  clear(): void {
    this.count = 0;
    this.#part.clear();
    this.#parts = [];
  }

  /** @param rid - of the item, where it is assigned. */
  *terms(rid: Rid | undefined): Steps<WideTerms> {
    this.#endPart();
    const termPrefixes = yield* merged(this.#parts);
    const removal = rid === undefined ? [] : yield* removalOf(termPrefixes, rid);
    return { termPrefixes, count: this.count, removal };
  }

  #endPart(): void {
    this.#parts.push([...this.#part].sort(compareTermPrefixes));
    this.#part = new Set();
  }
}

function* merged(parts: string[][]): Steps<string[]> {
  let runs = parts;
  while (runs.length > 1) {
    const longer: string[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [left = [], right] = [runs[at], runs[at + 1]];
      longer.push(right === undefined ? left : yield* mergedTermPrefixes(left, right));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function* mergedTermPrefixes(left: readonly string[], right: readonly string[]): Steps<string[]> {
  const all: string[] = [];
  for (let a = 0, b = 0; a < left.length || b < right.length; ) {
    const one = left[a];
    const other = right[b];
    if (one === other) a++;
    else if (other === undefined || (one !== undefined && one < other)) {
      all.push(one as string);
      a++;
    } else {
      all.push(other);
      b++;
    }
    if ((a + b) % STEP === 0) yield;
  }
  return all;
}

/** The changes from one set of terms to another. */
export interface WideDifference {
  readonly removed: WideTerms;
  readonly added: readonly string[];
}

export function* wideDifference(
  before: WideTerms,
  after: WideTerms,
  rid: Rid,
): Steps<WideDifference> {
  const removed: string[] = [];
  const added: string[] = [];
  const [left, right] = [before.termPrefixes, after.termPrefixes];
  for (let a = 0, b = 0; a < left.length || b < right.length; ) {
    const one = left[a];
    const other = right[b];
    if (one === other) {
      a++;
      b++;
    } else if (other === undefined || (one !== undefined && one < other)) {
      removed.push(one as string);
      a++;
    } else {
      added.push(other);
      b++;
    }
    if ((a + b) % STEP === 0) yield;
  }
  const removal = yield* removalOf(removed, rid);
  return { removed: { termPrefixes: removed, count: removed.length, removal }, added };
}

function* removalOf(termPrefixes: readonly string[], rid: Rid): Steps<readonly Bytes[]> {
  const entries: Bytes[] = [];
  const end = ridText(rid);
  let text = '';
  for (let at = 0; at < termPrefixes.length; at++) {
    const termPrefix = termPrefixes[at] as string;
    text += REMOVED + lengthText(termPrefix.length + end.length) + termPrefix + end;
    if (text.length >= LOG_ENTRY_BYTES) {
      entries.push(Buffer.from(text, 'latin1'));
      text = '';
    }
    if (at % STEP === 0) yield;
  }
  if (text.length > 0) entries.push(Buffer.from(text, 'latin1'));
  return entries;
}

const REMOVED = '\u0000';

/** The entries of one item as a run: all added or all removed. */
export function runOfTermPrefixes(
  termPrefixes: readonly string[],
  rid: Rid,
  isThere: boolean,
): IndexRun {
  const own = { rids: [rid], isThere: isThere ? undefined : [false] };
  return {
    termPrefixes,
    changes: new Array(termPrefixes.length).fill(own),
    size: termPrefixes.length,
  };
}

function compareTermPrefixes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
