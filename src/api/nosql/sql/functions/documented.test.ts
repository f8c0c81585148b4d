// Goal: system functions and operators give what the service's documentation shows for odd arguments. Method: a table of
// constant expressions and their documented values.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../base/index.ts';
import type { Value } from '../../../../value/index.ts';
import { compileQuery } from '../compile/compile.ts';
import { parseQuery } from '../language/parser.ts';
import { runQuery } from '../run/evaluate.ts';

const environment = { clock: new FakeClock(Date.UTC(2024, 9, 14, 14, 20, 30, 666)) } as const;

function evaluated(text: string): Value {
  return runQuery(compileQuery(parseQuery(`SELECT VALUE ${text}`), { environment }), [])[0];
}

const POLYGON =
  '{"type": "Polygon", "coordinates": [[[31.8, -5], [32, -5], [32, -4.7], [31.8, -4.7], [31.8, -5]]]}';

const tables: Readonly<Record<string, readonly (readonly [text: string, expected: Value])[]>> = {
  'undefined among several arguments is one operand of a chain': [
    ['ARRAY_CONTAINS_ANY([1, 2, 3, 4], 1, undefined)', true],
    ['ARRAY_CONTAINS_ANY([1, 2, 3, 4], 5, undefined)', undefined],
    ['ARRAY_CONTAINS_ANY([1, 2, 3, 4], 5, 6)', false],
    ['ARRAY_CONTAINS_ANY(undefined, 5)', undefined],
    ['ARRAY_CONTAINS_ALL([1, 2, 3, 4], 1, undefined)', undefined],
    ['ARRAY_CONTAINS_ALL([1, 2, 3, 4], 5, undefined)', false],
    ['ARRAY_CONTAINS_ALL([1, 2, 3, 4], 1, 4)', true],
    ['CONTAINS_ANY_CI("Have a nice day!", undefined, "NICE", "day!")', true],
    ['CONTAINS_ANY_CI("Have a nice day!", undefined, "had")', undefined],
    ['CONTAINS_ANY_CS("Have a nice day!", undefined, "NICE")', undefined],
    ['CONTAINS_ANY_CS("Have a nice day!", 5, "nice")', true],
    ['CONTAINS_ALL_CI("Have a nice day!", undefined, "had")', false],
    ['CONTAINS_ALL_CI("Have a nice day!", undefined, "HAVE")', undefined],
    ['CONTAINS_ALL_CS("Have a nice day!", undefined, "HAVE")', false],
    ['CONTAINS_ALL_CS("Have a nice day!", "Have", "nice")', true],
  ],
  shifts: [
    ['100 >> 2', 25],
    ['100 << 2', 400],
    ['100 >>> 0', 100],
    ['-1 >>> 0', 4_294_967_295],
    ['-8 >> 1', -4],
    ['1 << 2 + 1', 8],
    ['1 << 3 < 9', true],
    ['"1" << 3', undefined],
  ],
  texts: [
    ['StringSplit("Helmet", "")', ['Helmet']],
    ['StringSplit("", "")', ['']],
    ['StringSplit("Handlebar", "e")', ['Handl', 'bar']],
    ['LASTINDEXOF("abcdeabc", "abc")', 5],
    ['LASTINDEXOF("abcdeabc", "abc", 6)', 0],
    ['LASTINDEXOF("abcdeabc", "abc", 7)', 5],
    ['LASTINDEXOF("abcdeabc", "abc", 1)', -1],
    ['LASTINDEXOF("abcdeabc", "fg")', -1],
    ['ToString(NaN)', 'NaN'],
    ['ToString(Infinity)', 'Infinity'],
    ['StringToNumber(NaN)', undefined],
  ],
  numbers: [
    ['NumberBin(37.752, -100)', 100],
    ['NumberBin(37.752, 0)', undefined],
    ['NumberBin(37.752, 0.1)', 37.7],
    ['LOG(2, 10)', 0.3010299956639812],
    ['LOG(8, 2)', 3],
  ],
  moments: [
    [
      'DateTimeBin("2021-01-08T18:35:00.0000000", "dd", 7, "1601-01-01T00:00:00.0000000")',
      '2021-01-04T00:00:00.0000000Z',
    ],
    [
      'DateTimeBin("2021-01-08T18:35:00.0000000", "dd", 7, "1600-12-31T23:59:59.9999999")',
      undefined,
    ],
    ['NOW("yyyy", -1)', '2023-10-14T14:20:30.6660000Z'],
    ['NOW("ss", 30)', '2024-10-14T14:21:00.6660000Z'],
  ],
  sets: [['SetIntersect([1, 2, "A", "B"], ["A", 1])', ['A', 1]]],
  places: [
    [`ROUND(ST_AREA(${POLYGON}))`, 735_970_283],
    [
      'ST_ISVALIDDETAILED({"type": "Point", "coordinates": [133.7, -184.3]})',
      { valid: false, reason: 'Latitude values must be between -90 and 90 degrees.' },
    ],
    [
      'ST_ISVALIDDETAILED({"type": "Point", "coordinates": [184.3, 33.7]})',
      { valid: false, reason: 'Longitude values must be between -180 and 180 degrees.' },
    ],
  ],
};

describe.each(Object.entries(tables))('%s', (_, cases) => {
  it.each(cases)('%s', (text, expected) => {
    expect(evaluated(text)).toEqual(expected);
  });
});
