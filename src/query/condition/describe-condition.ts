/** Prints a condition for explanations, which show why a query costs what it does. */
import { type Bytes, toHex } from '../../base/index.ts';
import { KEY_TAGS, KeyReader, printPath } from '../../value/index.ts';
import type { Condition } from './condition.ts';
import type { ValueRange } from './value-ranges.ts';

/** Ranges printed of one term at most: a list of thousands of ids is not readable. */
const RANGES_SHOWN = 5;

export function describeCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'anything':
      return 'any item';
    case 'nothing':
      return 'no item';
    case 'declared':
      return describeCondition({ ...condition, kind: 'term' });
    case 'term': {
      const { path, ranges, test } = condition;
      const shown = ranges.slice(0, RANGES_SHOWN).map(describeRange);
      if (ranges.length > shown.length) shown.push(`${ranges.length - shown.length} more`);
      return `${printPath(path)} ${shown.join(' or ')}${test === undefined ? '' : ', tested in the index'}`;
    }
    case 'text':
      return `${printPath(condition.path)} holds ${condition.needs} of ${JSON.stringify(condition.phrases)}`;
    case 'all':
      return condition.of.map(describePart).join(' and ');
    case 'any':
      return condition.of.map(describePart).join(' or ');
  }
}

function describePart(condition: Condition): string {
  const text = describeCondition(condition);
  return condition.kind === 'all' || condition.kind === 'any' ? `(${text})` : text;
}

function describeRange({ start, end, isPoint }: ValueRange): string {
  return isPoint ? `= ${describeKey(start)}` : `in [${describeKey(start)}, ${describeKey(end)})`;
}

const KINDS: ReadonlyMap<number, string> = new Map(
  Object.entries(KEY_TAGS.cosmos).map(([kind, tag]) => [tag, kind]),
);

/** Prints an encoded value, or the type whose values begin or end there. */
function describeKey(key: Bytes): string {
  if (key.length === 1) {
    const [tag = 0] = key;
    const after = KINDS.get(tag - 1);
    return KINDS.get(tag) ?? (after === undefined ? toHex(key) : `end of ${after}`);
  }
  try {
    return JSON.stringify(new KeyReader(key).value()) ?? 'undefined';
  } catch {
    // Only the beginning of a text has no end mark and cannot be decoded: its characters are printed.
    return `"${Buffer.from(key.subarray(1))
      .toString('utf8')
      .replace(/\uFFFD+$/, '')}…"`;
  }
}
