// Goal: keys are the same exactly where a collation finds texts equal, and texts without a sure key say so.
// Method: tables of texts; random texts from a printed seed, over locales and strengths.
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../base/index.ts';
import type { Bson } from '../../../value/index.ts';
import { type Collation, parseCollation } from './collation.ts';
import { type CollationKeys, collationKeys, UNKNOWN } from './collation-keys.ts';

const SEED = Number(process.env.MESOCOSM_SEED ?? 20_261_119);

function keysOf(options: Readonly<Record<string, Bson>>): {
  readonly collation: Collation;
  readonly keys: CollationKeys | undefined;
} {
  const collation = parseCollation(
    new Map(Object.entries({ locale: 'en', caseFirst: 'off', ...options })),
  );
  return { collation: collation as Collation, keys: collationKeys(collation as Collation) };
}

describe('keys', () => {
  test.each([
    [{ strength: 2 }, 'Alice', 'ALICE', true],
    [{ strength: 2 }, 'cafe', 'café', false],
    [{ strength: 1 }, 'cafe', 'CAFÉ', true],
    [{ strength: 1 }, 'øre', 'ore', true],
    [{ strength: 1 }, 'süß', 'SUSS', true],
    [{ strength: 3 }, 'a', 'A', false],
    [{ strength: 3 }, 'e\u0301', 'é', true],
    [{ strength: 5 }, 'e\u0301', 'é', false],
    [{ locale: 'sv', strength: 1 }, 'ö', 'o', false],
    [{ locale: 'da', strength: 1 }, 'å', 'aa', true],
    [{ locale: 'de@collation=phonebook', strength: 1 }, 'ä', 'ae', true],
    [{ locale: 'ru', strength: 2 }, 'Мир', 'мир', true],
    [{ strength: 3 }, 'coop', 'co\u00adop', true],
    [{ locale: 'da', strength: 1 }, 'å', 'a\u00ada', false],
  ] as const)('%j: %s and %s: %s', (options, a, b, areEqual) => {
    const { keys } = keysOf(options);
    expect(keys?.keyOf(a) === keys?.keyOf(b)).toBe(areEqual);
  });

  test.each([{ numericOrdering: true }, { alternate: 'shifted' }, { caseLevel: true }])(
    'there are none for %j',
    (options) => {
      expect(keysOf(options).keys).toBeUndefined();
    },
  );

  test('a text of other letters is only known to equal itself', () => {
    const { keys } = keysOf({ strength: 1 });
    expect(keys?.keyOf('東京')).toBe(`${UNKNOWN}東京`);
    expect(keys?.keyOf('x\u200d')).toBe(`${UNKNOWN}x\u200d`);
  });
});

const LETTERS = [
  'aAbBcCeEhHlLoOsStTzZnjJ',
  'äÄåÅæÆøØöÖßéÉèçÇñÑłŁđĐœŒĳŉ',
  'ǆ\u01c5\u0140\u017f\u0301\u0308\u0327ẽẠấ',
  '\u03b1\u0391\u03ac\u03c3\u03c2\u03a3',
  'иИйЙёЁ',
  " -'_1239²½\u00ad\u200d\u0001",
].join('');

describe.each([
  'en',
  'de',
  'de@collation=phonebook',
  'sv',
  'da',
  'cs',
  'hr',
  'hu',
  'es@collation=traditional',
  'lt',
  'tr',
  'vi',
  'fr',
  'cy',
])('random texts in %s', (locale) => {
  test.each([1, 2, 3, 4])(`strength %i (seed ${SEED})`, (strength) => {
    const random = seededRandom(SEED + strength);
    const { collation, keys } = keysOf({ locale, strength });
    const letters = [...LETTERS];
    const text = (): string =>
      Array.from({ length: 1 + random.below(4) }, () => letters[random.below(letters.length)]).join(
        '',
      );
    const changed = (from: string): string => {
      const others = [
        from.toUpperCase(),
        from.toLowerCase(),
        from.normalize('NFD').replace(/\p{M}/gu, ''),
        from.normalize('NFKC'),
        text(),
      ];
      return others[random.below(others.length)] as string;
    };
    for (let round = 0; round < 1000; round++) {
      const a = text();
      const b = changed(a);
      const [left, right] = [keys?.keyOf(a) ?? '', keys?.keyOf(b) ?? ''];
      const areEqual = collation.compareTexts(a, b) === 0;
      if (left === right) expect([a, b, areEqual]).toEqual([a, b, true]);
      const areKnown = !left.startsWith(UNKNOWN) && !right.startsWith(UNKNOWN);
      if (areKnown && areEqual) expect([a, b, left]).toEqual([a, b, right]);
    }
  });
});

test('a text of megabytes has a key without a look at its letters', () => {
  const { collation } = keysOf({ strength: 1 });
  let comparisons = 0;
  const compareTexts: Collation['compareTexts'] = (a, b) => {
    comparisons++;
    return collation.compareTexts(a, b);
  };
  // A locale that no other test has, since keys are remembered.
  const described = new Map(collation.described).set('locale', 'pt');
  const keys = collationKeys({ ...collation, described, compareTexts });
  const long = 'Café '.repeat(1_000_000);
  expect(keys?.keyOf(long) === UNKNOWN + long).toBe(true);
  expect(comparisons).toBe(0);
  expect(keys?.keyOf('CAFÉ')).toBe(keys?.keyOf('cafe'));
});
