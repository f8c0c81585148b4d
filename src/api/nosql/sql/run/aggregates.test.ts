// Goal: aggregates over mixed types agree with the public baselines, and partial folds merge to the fold of the whole.
// Method: documents rebuilt from the baselines' own lists; then random values cut in two, by seed.
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../../base/index.ts';
import { compareValues, isList, type Value } from '../../../../value/index.ts';
import { readBaseline } from '../baselines-suite.ts';
import { compileQuery } from '../compile/compile.ts';
import { parseQuery } from '../language/parser.ts';
import { queryPlan } from '../plan/query-plan.ts';
import { type Aggregate, findAggregate } from './aggregates.ts';
import { runQuery } from './evaluate.ts';

interface Case {
  readonly Query: string;
  /** JSON text, or null for no result. */
  readonly Aggregation: string | null;
}

/** The baselines ran over some documents per key and as many without one; MAKELIST lists them. */
function documentsOf(cases: readonly Case[]): readonly Value[] {
  const documents: Value[] = [{ key: 'undefinedKey' }];
  for (const { Query, Aggregation } of cases) {
    const key = /MAKELIST[\s\S]*c\.key = "(\w+)"/.exec(Query)?.[1];
    if (key === undefined || Aggregation === null) continue;
    const values = JSON.parse(Aggregation) as readonly Value[];
    for (const field of values) {
      documents.push({ key, field });
      if (!key.startsWith('one')) documents.push({ key: 'mixed', field });
    }
  }
  return documents;
}

function sorted(value: Value): Value {
  return isList(value) ? value.toSorted(compareValues) : value;
}

describe('aggregate baselines', () => {
  const cases = readBaseline<Case>('aggregate-mixed-types-baselines.json');
  const documents = documentsOf(cases);
  it.runIf(cases.length > 0)(`agrees with all ${cases.length}`, () => {
    const misses = cases
      .map(({ Query, Aggregation }) => ({
        query: Query,
        expected: Aggregation === null ? [] : [sorted(JSON.parse(Aggregation) as Value)],
        actual: runQuery(compileQuery(parseQuery(Query)), documents).map(sorted),
      }))
      .filter(({ expected, actual }) => JSON.stringify(expected) !== JSON.stringify(actual));
    expect(misses).toEqual([]);
  });
});

describe('merging', () => {
  const pool: readonly Value[] = [undefined, null, true, false, 0, 1, 2.5, 'a', 'b', [1], { a: 1 }];
  const names = ['AVG', 'Count', 'COUNTIF', 'MakeList', 'MAKESET', 'max', 'MIN', 'SUM'];
  it.each(names.flatMap((name) => [1, 2, 3].map((seed) => [name, seed] as const)))(
    '%s of parts, seed %i',
    (name, seed) => {
      const random = seededRandom(seed);
      const aggregate = findAggregate(name) as Aggregate;
      for (let round = 0; round < 50; round++) {
        const values = Array.from(
          { length: random.below(8) },
          () => pool[random.below(pool.length)],
        );
        const cut = random.below(values.length + 1);
        const whole = aggregate.start();
        const first = aggregate.start();
        const second = aggregate.start();
        for (const [at, value] of values.entries()) {
          whole.add(value);
          (at < cut ? first : second).add(value);
        }
        first.merge(second);
        expect(first.end()).toEqual(whole.end());
      }
    },
  );
});

describe('AVG and SUM over mixed types', () => {
  const documents: readonly Value[] = [1, 2, 'text', null].map((v) => ({ v }));
  const rows = (text: string) => runQuery(compileQuery(parseQuery(text)), documents);
  const planned = (text: string) => {
    const key = { kind: 'Hash', version: 2, paths: ['/id'] } as const;
    return queryPlan(text, key).queryInfo?.rewrittenQuery ?? '';
  };
  it.each([
    ['AVG', [[{ item: { count: 4 } }]]],
    ['SUM', [[{}]]],
  ])('%s has no row, and no sum in the part of a partition', (name, part) => {
    const text = `SELECT VALUE ${name}(c.v) FROM c`;
    expect(rows(text)).toEqual([]);
    // The Python client merges such parts to one row of null, as its public tests expect.
    expect(rows(planned(text).replace(/\{documentdb[^}]*\}/, 'true'))).toEqual(part);
  });
});
