/** A condition in words, for people who want to know why a query costs what it does. */
import { type Bytes, toHex } from '../../base/index.ts';
import { KEY_TAGS, KeyReader, printPath } from '../../value/index.ts';
import type { Condition } from './condition.ts';
import type { ValueRange } from './value-ranges.ts';

/** Ranges shown of one term; a list of thousands of ids tells nobody more. */
const RANGES_SHOWN = 5;

export function describeCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'anything':
      return 'any item';
    case 'nothing':
      return 'no item';
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

/** An encoded value, or where the values of a type begin or end. */
function describeKey(key: Bytes): string {
  if (key.length === 1) {
    const [tag = 0] = key;
    const after = KINDS.get(tag - 1);
    return KINDS.get(tag) ?? (after === undefined ? toHex(key) : `end of ${after}`);
  }
  try {
    return JSON.stringify(new KeyReader(key).value()) ?? 'undefined';
  } catch {
    // The beginning of a text has no end mark: it is shown as it is.
    return `"${Buffer.from(key.subarray(1))
      .toString('utf8')
      .replace(/\uFFFD+$/, '')}…"`;
  }
}
