// Goal: every system function does what its documentation shows, and gives undefined for the rest. Method: a table of
// constant expressions and their values, compiled and run without documents.
import { describe, expect, it } from 'vitest';
import { FakeClock, seededRandom } from '../../../../base/index.ts';
import type { Value } from '../../../../value/index.ts';
import { compileQuery } from '../compile/compile.ts';
import { type Diagnostic, SqlError } from '../errors.ts';
import { parseQuery } from '../language/parser.ts';
import { runQuery } from '../run/evaluate.ts';

const environment = {
  clock: new FakeClock(Date.UTC(2024, 9, 14, 14, 20, 30, 666)),
  random: seededRandom(1),
} as const;

function evaluated(text: string): Value {
  const query = compileQuery(parseQuery(`SELECT VALUE ${text}`), { environment });
  return runQuery(query, [], [], 1_594_227_912_345)[0];
}

type Case = readonly [text: string, expected: Value];

const tables: Readonly<Record<string, readonly Case[]>> = {
  math: [
    ['ABS(-1)', 1],
    ['ABS("1")', undefined],
    ['ACOS(1)', 0],
    ['ACOS(42)', undefined],
    ['ASIN(0)', 0],
    ['ATAN(0)', 0],
    ['ATN2(0, 1)', 0],
    ['CEILING(62.5)', 63],
    ['COS(0)', 1],
    ['COT(1)', 1 / Math.tan(1)],
    ['COT(0)', undefined],
    ['DEGREES(PI())', 180],
    ['EXP(0)', 1],
    ['EXP(1000)', undefined],
    ['FLOOR(-62.5)', -63],
    ['LOG(1)', 0],
    ['LOG(8, 2)', 3],
    ['LOG(0)', undefined],
    ['LOG10(100)', 2],
    ['NumberBin(42.7)', 42],
    ['NumberBin(37.5, 25)', 25],
    ['NumberBin(37.5, 0)', undefined],
    ['POWER(2, 3)', 8],
    ['RADIANS(180)', Math.PI],
    ['RAND() < 1', true],
    ['ROUND(2.5)', 3],
    ['ROUND(-2.5)', -3],
    ['ROUND(2.345, 1)', 2.3],
    ['SIGN(-2)', -1],
    ['SIN(0)', 0],
    ['SQRT(9)', 3],
    ['SQRT(-1)', undefined],
    ['SQUARE(3)', 9],
    ['TAN(0)', 0],
    ['TRUNC(-2.9)', -2],
    ['abs(null)', undefined],
  ],
  integer: [
    ['IntAdd(20, 10)', 30],
    ['IntAdd(20.5, 10)', undefined],
    ['IntSub(20, 10)', 10],
    ['IntMul(3, -4)', -12],
    ['IntDiv(7, -2)', -3],
    ['IntDiv(7, 0)', undefined],
    ['IntMod(-7, 2)', -1],
    ['IntBitAnd(15, 25)', 9],
    ['IntBitwiseOr(56, 100)', 124],
    ['IntBitXor(56, 100)', 92],
    ['IntBitNot(65535)', -65536],
    ['IntBitLeftShift(16, 4)', 256],
    ['IntBitLeftShift(1, 1e15)', 0],
    ['IntBitRightShift(-16, 2)', -4],
  ],
  string: [
    ['CONCAT("a", "b", "c")', 'abc'],
    ['CONCAT("a", 1)', undefined],
    ['CONTAINS("abc", "AB")', false],
    ['CONTAINS("abc", "AB", true)', true],
    ['CONTAINS("abc", "AB", 1)', undefined],
    ['CONTAINS("abc", "AB", undefined)', undefined],
    ['CONTAINS_ALL_CI("Widget Red", "widget", "RED")', true],
    ['ContainsAllCs("Widget Red", "widget", "Red")', false],
    ['CONTAINS_ANY_CS("Widget Red", "widget", "Red")', true],
    ['CONTAINS_ANY_CI("x", "y", "z")', false],
    ['STARTSWITH("abc", "ab")', true],
    ['STARTSWITH(1, "ab")', undefined],
    ['ENDSWITH("abC", "bc", true)', true],
    ['StringEquals("a", "A")', false],
    ['StringEquals("a", "A", true)', true],
    ['INDEX_OF("AdventureWorks", "Works")', 9],
    ['INDEX_OF("abcabc", "a", 1)', 3],
    ['INDEX_OF("abc", "x")', -1],
    ['LastIndexOf("abcabc", "a")', 3],
    ['LEFT("abc", 2)', 'ab'],
    ['LEFT("abc", -1)', ''],
    ['RIGHT("abc", 2)', 'bc'],
    ['RIGHT("abc", 5)', 'abc'],
    ['LENGTH("abc")', 3],
    ['LOWER("aB")', 'ab'],
    ['UPPER("aB")', 'AB'],
    ['REVERSE("abc")', 'cba'],
    ['LTRIM("  a ")', 'a '],
    ['RTRIM("  a ")', '  a'],
    ['TRIM("  a ")', 'a'],
    ['TRIM("--a-", "-")', 'a'],
    ['REPLACE("aXbX", "X", "$&")', 'a$&b$&'],
    ['REPLACE("abc", "", "x")', 'abc'],
    ['REPLICATE("ab", 2)', 'abab'],
    ['REPLICATE("ab", -1)', undefined],
    ['REPLICATE("ab", 5001)', undefined],
    ['SUBSTRING("AdventureWorks", 9, 5)', 'Works'],
    ['SUBSTRING("AdventureWorks", 0, -1)', ''],
    ['SubstringAfter("a/b/c", "/")', 'b/c'],
    ['SubstringBefore("a/b/c", "/")', 'a'],
    ['LastSubstringAfter("a/b/c", "/")', 'c'],
    ['LastSubstringBefore("a/b/c", "/")', 'a/b'],
    ['SubstringAfter("abc", "/")', undefined],
    ['StringJoin(["a", "b"], "-")', 'a-b'],
    ['StringSplit("a-b", "-")', ['a', 'b']],
    ['ToString(1.5)', '1.5'],
    ['ToString({"a": [1]})', '{"a":[1]}'],
    ['ToString(undefined)', undefined],
    ['StringToArray(" [1, \\"a\\"] ")', [1, 'a']],
    ['StringToArray("{}")', undefined],
    ['StringToBoolean(" true ")', true],
    ['StringToBoolean("True")', undefined],
    ['StringToNull("null")', null],
    ['StringToNumber("1e3")', 1000],
    ['StringToNumber("x")', undefined],
    ['StringToObject("{\\"a\\":1}")', { a: 1 }],
  ],
  regex: [
    ['REGEXMATCH("abcd", "ABC")', false],
    ['RegexMatch("abcd", "ABC", "i")', true],
    ['RegexMatch("abcd", "ab c", "x")', true],
    ['RegexMatch("abcd", "aB c", "ix")', true],
    ['RegexMatch("abcd", "(", "")', undefined],
    ['RegexMatch("abcd", "a", "q")', undefined],
    ['RegexExtract("SKU-93821-BLUE", "[0-9]+")', '93821'],
    ['RegexExtract("SKU-93821", "sku-([0-9]+)", "i", 1)', '93821'],
    ['RegexExtractAll("A12-B34", "[0-9]+")', ['12', '34']],
  ],
  array: [
    ['ARRAY_AVG([1, 2, 3])', 2],
    ['ARRAY_AVG([])', undefined],
    ['ARRAY_CONCAT([1], [2], [3])', [1, 2, 3]],
    ['ARRAY_CONCAT([1], 2)', undefined],
    ['ARRAY_CONTAINS([1, {"a": 1, "b": 2}], {"a": 1})', false],
    ['ARRAY_CONTAINS([1, {"a": 1, "b": 2}], {"a": 1}, true)', true],
    ['ARRAY_CONTAINS("x", 1)', undefined],
    ['ARRAY_CONTAINS_ALL([1, 2, 3], 1, 3)', true],
    ['ARRAY_CONTAINS_ANY([1, 2, 3], 4, 3)', true],
    ['ARRAY_LENGTH([1, 2])', 2],
    ['ARRAY_MAX([1, 3, 2])', 3],
    ['ARRAY_MIN([1, "a", null])', null],
    ['ARRAY_MEDIAN([4, 1, 3, 2])', 2.5],
    ['ARRAY_SUM([1, 2])', 3],
    ['ARRAY_SUM([1, "2"])', undefined],
    ['ARRAY_SLICE([1, 2, 3], 1)', [2, 3]],
    ['ARRAY_SLICE([1, 2, 3], -2, 1)', [2]],
    ['ARRAY_SLICE([1, 2, 3], 0, -1)', []],
    ['CHOOSE(2, "a", "b")', 'b'],
    ['CHOOSE(3, "a", "b")', undefined],
    [
      'ObjectToArray({"a": 1, "b": 2})',
      [
        { k: 'a', v: 1 },
        { k: 'b', v: 2 },
      ],
    ],
    ['ObjectToArray({"a": 1}, "name", "value")', [{ name: 'a', value: 1 }]],
    ['SetDifference([1, 2, 2, 3], [3])', [1, 2]],
    ['SetEqual([1, 2, 2], [2, 1])', true],
    ['SetIntersect([1, 2, 2], [2, 3])', [2]],
    ['SetUnion([1, {"a": 1, "b": 2}], [{"b": 2, "a": 1}, 2])', [1, { a: 1, b: 2 }, 2]],
  ],
  'date and time': [
    ['DateTimeAdd("mm", 1, "2020-07-09T23:20:13.4575530Z")', '2020-08-09T23:20:13.4575530Z'],
    ['DateTimeAdd("month", 1, "2020-01-31")', '2020-02-29T00:00:00.0000000Z'],
    ['DateTimeAdd("x", 1, "2020-01-31")', undefined],
    ['DateTimeAdd("dd", 1.5, "2020-01-31")', undefined],
    ['DateTimeBin("2021-01-08T18:35:00.0000000", "dd")', '2021-01-08T00:00:00.0000000Z'],
    ['DateTimeBin("2021-01-08T18:35:00.0000000", "hh", 5)', '2021-01-08T15:00:00.0000000Z'],
    ['DateTimeBin("2021-01-08T18:35:00.0000000", "dd", 7)', '2021-01-07T00:00:00.0000000Z'],
    [
      'DateTimeBin("2021-01-08T18:35:00.0000000", "dd", 7, "1601-01-01T00:00:00.0000000")',
      '2021-01-04T00:00:00.0000000Z',
    ],
    ['DateTimeBin("2021-05-08", "mm", 3)', '2021-04-01T00:00:00.0000000Z'],
    ['DateTimeDiff("yyyy", "2028-01-01T01:02:03.1234527Z", "2020-01-03T01:02:03.1234567Z")', -8],
    ['DateTimeDiff("hh", "2020-01-01T01:02:03.1234527Z", "2020-01-03T01:02:03.1234567Z")', 48],
    ['DateTimeDiff("yyyy", "2028-01-01", "2020 - 01 - 03T01: 02:03.1234567Z")', undefined],
    ['DateTimeFormat("2024-10-10 14:40:20", "yyyy-MM-dd [HH:mm:ss]")', '2024-10-10 [14:40:20]'],
    [
      'DateTimeFormat("2024-10-10 14:40:20", "To\\\\da\\\\y i\\\\s: yyyy-MM-ddTHH:mm:ss.FFF")',
      'Today is: 2024-10-10T14:40:20.',
    ],
    ['DateTimeFormat("2024-10-10 14:40:20", "ddd d MMM yy h:mm tt")', 'Thu 10 Oct 24 2:40 PM'],
    ['DateTimeFromParts(2017, 4, 20, 13, 15, 20, 3456789)', '2017-04-20T13:15:20.3456789Z'],
    ['DateTimeFromParts(2017, 4, 20, 13, 15)', '2017-04-20T13:15:00.0000000Z'],
    ['DateTimeFromParts(-2000, -1, -1)', undefined],
    ['DateTimePart("mcs", "2016-05-29T08:30:00.1301617")', 130161],
    ['DateTimePart("ns", "2016-05-29T08:30:00.1301617")', 130161700],
    ['DateTimePart("mm", "2016-05-29T08:30:00.1301617")', 5],
    ['DAY("2016-05-29")', 29],
    ['MONTH("2016-05-29")', 5],
    ['YEAR("2016-05-29")', 2016],
    ['DateTimeToTicks("2020-01-02T03:04:05Z")', 15779342450000000],
    ['DateTimeToTimestamp("2020-07-09")', 1594252800000],
    ['TicksToDateTime(15943368134575530)', '2020-07-09T23:20:13.4575530Z'],
    ['TimestampToDateTime(1594227912345)', '2020-07-08T17:05:12.3450000Z'],
    ['TimestampToDateTime(1e300)', undefined],
    ['GetCurrentDateTime()', '2024-10-14T14:20:30.6660000Z'],
    ['GetCurrentTimestamp()', 1728915630666],
    ['GetCurrentTicks()', 17289156306660000],
    ['GetCurrentDateTimeStatic()', '2020-07-08T17:05:12.3450000Z'],
    ['GetCurrentTimestampStatic()', 1594227912345],
    ['GetCurrentTicksStatic()', 15942279123450000],
    ['NOW()', '2024-10-14T14:20:30.6660000Z'],
    ['AGO("yyyy", 1)', '2023-10-14T14:20:30.6660000Z'],
    ['AGO("ss", 30)', '2024-10-14T14:20:00.6660000Z'],
  ],
  'type checks': [
    ['IS_ARRAY([])', true],
    ['IS_BOOL(false)', true],
    ['IS_BOOL(undefined)', false],
    ['IS_BOOLEAN(true)', true],
    ['IS_BOOLEAN(1)', false],
    ['IS_DATETIME("2020-01-02T03:04:05Z")', true],
    ['IS_DATETIME("2020-02-30")', false],
    ['IS_DEFINED(undefined)', false],
    ['IS_DEFINED(null)', true],
    ['IS_FINITE_NUMBER(1)', true],
    ['IS_INTEGER(1.5)', false],
    ['IS_NULL(null)', true],
    ['IS_NUMBER("1")', false],
    ['IS_OBJECT([])', false],
    ['IS_OBJECT({})', true],
    ['IS_PRIMITIVE(null)', true],
    ['IS_PRIMITIVE({})', false],
    ['IS_STRING("")', true],
  ],
  'items and conditions': [
    ['IIF(true, 1, 2)', 1],
    ['IIF(1, 1, 2)', 2],
    ['IIF(undefined, 1, 2)', 2],
    ['DOCUMENTID({"_rid": "EHcYAPolTrkBAAAAAAAAAA=="})', 1],
    ['DOCUMENTID({})', undefined],
  ],
  'full text': [
    ['FullTextContains("The quick brown fox", "Quick Brown")', true],
    ['FullTextContains("The quick brown fox", "quick fox")', false],
    ['FullTextContains(1, "a")', undefined],
    ['FullTextContainsAll("red blue", "red", "blue")', true],
    ['FullTextContainsAny("red blue", "green", "blue")', true],
    ['_FullTextWordCount("the red, green blue")', 3],
    ['_FullTextScore("one two", ["one"], 2, 4, [1]) > 0', true],
    ['_FullTextScore(1, ["one"], 2, 4, [1])', undefined],
  ],
  vector: [
    ['VectorDistance([1, 0], [0, 1])', 0],
    ['VectorDistance([3, 4], [0, 0], true, {"distanceFunction": "Euclidean"})', 5],
    ['VectorDistance([3, 4], [1, 2], false, {"distanceFunction": "dotproduct"})', 11],
    ['VectorDistance([1], [1, 2])', undefined],
    ['VectorDistance("a", [1, 2])', undefined],
  ],
  spatial: [
    ['ST_DISTANCE(42, 1337)', undefined],
    ['ST_ISVALID({"type": "Point", "coordinates": [31.9, -132.8]})', false],
    ['ST_ISVALID({"type": "Point", "coordinates": [31.9, -4.8]})', true],
    [
      'ST_ISVALIDDETAILED({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]}).valid',
      false,
    ],
    [
      'ST_WITHIN({"type": "Point", "coordinates": [5, 5]}, {"type": "Polygon", "coordinates": [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]})',
      true,
    ],
    [
      'ST_WITHIN({"type": "Point", "coordinates": [5, 5]}, {"type": "Polygon", "coordinates": [[[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]]]})',
      false,
    ],
    [
      'ST_INTERSECTS({"type": "LineString", "coordinates": [[-5, 5], [15, 5]]}, {"type": "Polygon", "coordinates": [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]})',
      true,
    ],
    [
      'ST_DISTANCE({"type": "Point", "coordinates": [5, 5]}, {"type": "Polygon", "coordinates": [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]})',
      0,
    ],
  ],
  internal: [
    ['_M_EVAL_LT(1, "a")', true],
    ['_TRY_ARRAY_CONTAINS([1], 1)', true],
    ['_PROXY_PROJECTION(5)', 5],
    ['C_INT8(200)', undefined],
    ['C_LISTCONTAINS([1], 1)', true],
    ['C_MAPCONTAINSKEY({"a": 1}, "a")', true],
    ['HASH("a") = HASH("a")', true],
  ],
};

describe.each(Object.entries(tables))('%s', (_, cases) => {
  it.each(cases)('%s', (text, expected) => {
    expect(evaluated(text)).toEqual(expected);
  });
});

describe('distances on the Earth', () => {
  it.each([
    // From the documentation of the service, in metres.
    [[-122.12826822304672, 47.63980239335718], 3345.269817267368],
    [[-96.84368664765994, 46.81297794314663], 1907438.421299902],
  ])('%j', (coordinates, expected) => {
    const point = (pair: readonly number[]) => JSON.stringify({ type: 'Point', coordinates: pair });
    const reference = point([-122.11758113953535, 47.66901087006131]);
    const actual = evaluated(`ST_DISTANCE(${point(coordinates)}, ${reference})`);
    expect(Math.abs(Number(actual) / expected - 1)).toBeLessThan(1e-7);
  });

  it('measures an eighth of the surface', () => {
    const octant = '{"type": "Polygon", "coordinates": [[[0, 0], [90, 0], [0, 90], [0, 0]]]}';
    const surface = 4 * Math.PI * 6_371_007.1809 ** 2;
    expect(Number(evaluated(`ST_AREA(${octant})`)) / surface).toBeCloseTo(1 / 8, 9);
  });
});

describe('binding', () => {
  it.each([
    ['BADFUNC(1)', 'SC2005', "'BADFUNC' is not a recognized built-in function name.", 13, 20],
    ['STARTSWITH("a")', 'SC2050', 'The STARTSWITH function requires 2 to 3 argument(s).', 13, 28],
    ['abs()', 'SC2050', 'The ABS function requires 1 argument(s).', 13, 18],
    ['CONCAT("a")', 'SC2050', 'The CONCAT function requires at least 2 argument(s).', 13, 24],
  ])('%s', (text, code, message, start, end) => {
    let diagnostic: Diagnostic | undefined;
    try {
      evaluated(text);
    } catch (error) {
      if (error instanceof SqlError) diagnostic = error.diagnostics[0];
    }
    expect(diagnostic).toEqual({ code, message, span: { start, end } });
  });
});
