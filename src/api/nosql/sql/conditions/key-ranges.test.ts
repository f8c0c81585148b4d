// Goal: no item that a query returns is outside the ranges of its plan. Method: random filters and documents by seed;
// every match is looked for in the ranges, for plain and hierarchical keys.
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../../../base/index.ts';
import {
  effectivePartitionKey,
  epkToHex,
  type PartitionKeyDefinition,
  readPath,
  type Value,
} from '../../../../value/index.ts';
import { compileQuery } from '../compile/compile.ts';
import { parseQuery } from '../language/parser.ts';
import { type EpkRange, queryPlan } from '../plan/query-plan.ts';
import { runQuery } from '../run/evaluate.ts';

const DEFINITIONS: readonly PartitionKeyDefinition[] = [
  { paths: ['/a'], kind: 'Hash', version: 1 },
  { paths: ['/a'], kind: 'Hash', version: 2 },
  { paths: ['/a', '/b'], kind: 'MultiHash', version: 2 },
];
const CONSTANTS = ['1', '-1', '2', '"x"', '"y"', 'true', 'false', 'null', '[1]', '{}', 'undefined'];
const VALUES: readonly Value[] = [1, -1, 2, 'x', 'y', true, false, null, undefined];

function filter(random: Random, depth: number): string {
  const pick = (items: readonly string[]) => items[random.below(items.length)] as string;
  const path = () => pick(['c.a', 'c["a"]', 'c.b', 'c.a.b']);
  const constant = () => pick(CONSTANTS);
  const inner = () => filter(random, depth - 1);
  if (depth > 0)
    switch (random.below(4)) {
      case 0:
        return `(${inner()} AND ${inner()})`;
      case 1:
        return `(${inner()} OR ${inner()})`;
      case 2:
        return `(NOT ${inner()})`;
    }
  switch (random.below(10)) {
    case 0:
      return path();
    case 1:
      return `(${path()} ${pick(['<', '<=', '>', '>=', '!='])} ${constant()})`;
    case 2:
      return `(${path()} ${pick(['', 'NOT '])}IN (${constant()}, ${constant()}))`;
    case 3:
      return `(${path()} BETWEEN ${constant()} AND ${constant()})`;
    case 4:
      return `(${path()} ${pick(['', 'NOT '])}LIKE ${pick(['"x"', '"x%"', '1'])})`;
    case 5:
      return `(ABS(${path()}) = ${constant()})`;
    case 6:
      return `${pick(['IS_NULL', 'IS_BOOL', 'IS_DEFINED', 'IS_ARRAY'])}(${path()})`;
    case 7:
      return `ARRAY_CONTAINS([${constant()}, ${constant()}], ${path()})`;
    case 8:
      return `STRINGEQUALS(${path()}, "x"${pick(['', ', true'])})`;
    default:
      return random.below(2) === 0 ? `(${constant()} = ${path()})` : `(${path()} = ${constant()})`;
  }
}

function isWithin(epk: string, ranges: readonly EpkRange[]): boolean {
  return ranges.some(
    ({ min, max, isMaxInclusive }) => epk >= min && (isMaxInclusive ? epk <= max : epk < max),
  );
}

/** Only primitives can be partition keys; an item with any other value is stored with those that have none. */
function keyOf(document: Value, { paths }: PartitionKeyDefinition): readonly Value[] {
  return paths.map((path) => {
    const value = readPath(document, [path.slice(1)]);
    return typeof value === 'object' && value !== null ? undefined : value;
  });
}

describe.each(DEFINITIONS)('$kind version $version', (definition) => {
  it.each([1, 2, 3, 4])('finds every match in the ranges, seed %i', (seed) => {
    const random = seededRandom(seed);
    const documents: readonly Value[] = [...VALUES, [1], {}, { b: 1 }].flatMap((a) =>
      VALUES.map((b) => ({ a, b }) as Value),
    );
    let narrowed = 0;
    for (let round = 0; round < 150; round++) {
      const sql = `SELECT * FROM c WHERE ${filter(random, 3)}`;
      const { queryRanges } = queryPlan(sql, definition);
      if (queryRanges[0]?.max !== 'FF') narrowed++;
      const strays = runQuery(compileQuery(parseQuery(sql)), documents).filter((document) => {
        const epk = epkToHex(effectivePartitionKey(keyOf(document, definition), definition));
        return !isWithin(epk, queryRanges);
      });
      expect(strays, `seed ${seed}, round ${round}: ${sql}`).toEqual([]);
    }
    expect(narrowed, 'some filters must narrow').toBeGreaterThan(5);
  });
});
