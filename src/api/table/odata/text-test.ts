/**
 * Decides a filter by the stored text of an entity (value/edm/edm-codec.ts) without parsing it: a name and its value are
 * adjacent there, between commas. Cases that the text does not decide are left to the test of the parsed entity.
 */
import { compareTexts, TYPE_ANNOTATION } from '../../../value/index.ts';
import type { Literal } from './lexer.ts';
import { type Comparator, type Filter, holds } from './parser.ts';

interface TextKeys {
  readonly partitionKey: string;
  readonly rowKey: string;
}

/** True where the entity surely passes; false: undecided. */
type TextTest = (text: string, keys: TextKeys) => boolean;

const UNDECIDED: TextTest = () => false;

export function textTestOf(filter: Filter): TextTest {
  switch (filter.kind) {
    case 'and': {
      const tests = filter.of.map(textTestOf);
      return tests.includes(UNDECIDED)
        ? UNDECIDED
        : (text, keys) => tests.every((test) => test(text, keys));
    }
    case 'or': {
      const tests = filter.of.map(textTestOf);
      return (text, keys) => tests.some((test) => test(text, keys));
    }
    case 'constant':
      return filter.value ? () => true : UNDECIDED;
    case 'comparison':
      return comparisonTest(filter.property, filter.comparator, filter.literal);
    case 'not':
    case 'properties':
      return UNDECIDED;
  }
}

function comparisonTest(
  property: string,
  comparator: Comparator,
  { type, value }: Literal,
): TextTest {
  if (type === 'string') {
    const wanted = value as string;
    if (property === 'PartitionKey')
      return (_, keys) => holds(comparator, compareTexts(keys.partitionKey, wanted));
    if (property === 'RowKey')
      return (_, keys) => holds(comparator, compareTexts(keys.rowKey, wanted));
  }
  if (comparator !== 'eq') return UNDECIDED;
  // Quotation marks inside strings are escaped, so a match is a real name with its value.
  const shown = `,"${property}":${JSON.stringify(value)},`;
  if (type === 'string') {
    const annotation = `"${property}${TYPE_ANNOTATION}":`;
    return (text) => text.includes(shown) && !text.includes(annotation);
  }
  if (type === 'boolean' || (type === 'number' && Number.isFinite(value)))
    return (text) => text.includes(shown);
  return UNDECIDED;
}

const KEY_START = '{"PartitionKey":"';
const ROW_START = '","RowKey":"';

/** The keys at the beginning of a stored text; undefined where they have escapes. */
export function textKeys(text: string): TextKeys | undefined {
  if (!text.startsWith(KEY_START)) return undefined;
  const keyEnd = text.indexOf('"', KEY_START.length);
  if (keyEnd < 0 || !text.startsWith(ROW_START, keyEnd)) return undefined;
  const rowAt = keyEnd + ROW_START.length;
  const rowEnd = text.indexOf('"', rowAt);
  const backslash = text.indexOf('\\');
  if (rowEnd < 0 || (backslash >= 0 && backslash < rowEnd)) return undefined;
  return {
    partitionKey: text.slice(KEY_START.length, keyEnd),
    rowKey: text.slice(rowAt, rowEnd),
  };
}
