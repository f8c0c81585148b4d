/**
 * Keys of texts under a collation: the runtime compares texts by ICU and gives no sort keys. A key is the same exactly
 * where the collation says that texts are equal, and says nothing of their order.
 *
 * Letters that are equal have one letter, or two, that stands for them: found by sorting all letters of the known
 * alphabets, and all pairs of a to z, by the collation itself. A text with such letters in their place is its key, if the
 * collation finds the two equal. Any other text keeps its own letters behind a mark: it is not known what it equals. So
 * does a long one, which takes long to look at.
 */
import { equalBson } from '../../../value/index.ts';
import type { Collation } from './collation.ts';

export interface CollationKeys {
  /** The key of a text; with `UNKNOWN` in front where other texts with other keys may be equal. */
  keyOf(text: string): string;
}

/** In front of texts that only they themselves are known to equal. */
export const UNKNOWN = '\uffff';

/** Longer texts have no sure key: each letter is looked up, while writers of the partition wait. */
export const KEYED_LETTERS_MAX = 4096;

/** Latin, Greek and Cyrillic letters, digits and signs. Accents that no letter has in it make a text unsure. */
const ALPHABETS: readonly (readonly [first: number, last: number])[] = [
  [0x20, 0x7e],
  [0xa0, 0x2ff],
  [0x370, 0x482],
  [0x48a, 0x52f],
  [0x1e00, 0x1eff],
];
/** Collations whose letters are remembered: some 2,300 each. */
const KEPT_MAX = 50;

const kept = new Map<string, CollationKeys>();

/** Undefined where what is equal depends on more than letters: numbers, punctuation, accents from the end. */
export function collationKeys({ described, compareTexts }: Collation): CollationKeys | undefined {
  const isOn = (name: string): boolean => described.get(name) === true;
  if (isOn('caseLevel') || isOn('numericOrdering') || isOn('backwards')) return undefined;
  if (described.get('alternate') !== 'non-ignorable') return undefined;
  const strength = Number(described.get('strength'));
  if (strength === 5) return { keyOf: (text) => text };
  const name = `${String(described.get('locale'))} ${strength}`;
  const known = kept.get(name) ?? keysBy(compareTexts);
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(name, known);
  return known;
}

/** Whether two collations find the same texts equal, so far as is known. */
export function isSameCollation(a: Collation, b: Collation): boolean {
  return equalBson(a.described, b.described);
}

function keysBy(compareTexts: (a: string, b: string) => number): CollationKeys {
  let letters: ReadonlyMap<string, string> | undefined;
  return {
    keyOf(text) {
      if (text.length > KEYED_LETTERS_MAX) return UNKNOWN + text;
      letters ??= lettersBy(compareTexts);
      const normal = text.normalize('NFC');
      let key = '';
      for (const letter of normal) {
        const own = letters.get(letter);
        if (own === undefined) return UNKNOWN + normal;
        key += own;
      }
      const isSure = compareTexts(key, text) === 0 && compareTexts(parted(normal), text) === 0;
      return isSure ? key : UNKNOWN + normal;
    },
  };
}

/** Ignored by every collation, but what is beside it is no longer one letter. */
const JOINER = '\u034f';

/**
 * The text with letters that have accents apart from those before them: in Danish, aä is å with an accent, which the
 * letters a and ä do not say.
 */
function parted(text: string): string {
  let apart = '';
  for (const letter of text) apart += letter.normalize('NFD') === letter ? letter : JOINER + letter;
  return apart;
}

/** What stands for each letter. */
function lettersBy(compareTexts: (a: string, b: string) => number): ReadonlyMap<string, string> {
  const small = Array.from({ length: 26 }, (_, at) => String.fromCharCode(0x61 + at));
  const pairs = small.flatMap((first) => small.map((second) => first + second));
  const singles: string[] = [];
  for (const [first, last] of ALPHABETS)
    for (let code = first; code <= last; code++) {
      const letter = String.fromCharCode(code);
      // Letters that are written as several, such as ŀ, stand for texts and not for letters.
      if (letter.normalize('NFC') === letter && letter.normalize('NFKC').length === 1)
        singles.push(letter);
    }
  const sorted = ['', ...singles, ...pairs].sort(
    (a, b) => compareTexts(a, b) || a.length - b.length || (a < b ? -1 : 1),
  );
  const classes: string[][] = [];
  for (const text of sorted) {
    const last = classes.at(-1);
    if (last !== undefined && compareTexts(last[0] as string, text) === 0) last.push(text);
    else classes.push([text]);
  }
  const letters = new Map<string, string>();
  const isPair = (text: string): boolean => text.length === 2;
  for (const own of classes)
    if (!own.some(isPair)) for (const letter of own) letters.set(letter, own[0] as string);
  // Pairs stand for letters such as ß, and are made of what stands for their own.
  for (const own of classes) {
    const pair = own.find(isPair);
    if (pair === undefined) continue;
    const key = [...pair].map((letter) => letters.get(letter) ?? letter).join('');
    for (const letter of own) if (!isPair(letter)) letters.set(letter, key);
  }
  return letters;
}
