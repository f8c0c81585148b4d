// Goal: plans agree with those of the service for the public baselines, all of them; own cases for the rest.
// Method: compare every field, ranges as sets, rewritten texts after parsing and printing both.
import { describe, expect, it } from 'vitest';
import type { PartitionKeyDefinition, Value } from '../../../../value/index.ts';
import { readBaseline } from '../baselines-suite.ts';
import type { KeyRange } from '../conditions/key-ranges.ts';
import type { KeyBound } from '../conditions/key-sets.ts';
import { SqlError } from '../errors.ts';
import type { DistanceFunction } from '../functions/index.ts';
import { parseQuery } from '../language/parser.ts';
import { printQuery } from '../language/printer.ts';
import type { QueryParameter } from '../run/evaluate.ts';
import { type PlanParts, planParts, type QueryInfo, queryPlan } from './query-plan.ts';
import type { HybridSearchQueryInfo } from './query-plan-hybrid.ts';

interface Case {
  readonly group: string;
  readonly description: string;
  readonly query: string;
  readonly partitionKeys: readonly string[];
  readonly partitionKeyType: 'Hash' | 'Range';
  readonly queryInfo?: Readonly<Record<string, unknown>>;
  readonly queryRanges?: readonly string[];
  readonly rewrittenQuery?: string;
  readonly error?: string;
  readonly hybrid?: string;
  readonly GeospatialType?: string;
  readonly QueryParameters?: string;
}

function planOf(input: Case): PlanParts {
  const parameters = /\[[\s\S]*\]/.exec(input.QueryParameters ?? '[]')?.[0] ?? '[]';
  const geospatial = input.GeospatialType?.includes('Geometry') ? 'geometry' : 'geography';
  const definition: PartitionKeyDefinition = {
    paths: input.partitionKeys,
    kind: input.partitionKeyType,
    version: 2,
  };
  return planParts(parseQuery(input.query), definition, {
    parameters: JSON.parse(parameters) as readonly QueryParameter[],
    environment: { geospatial, vectorPolicy: new Map([['/embedding', policyOf(input)]]) },
  });
}

/** The vector policy of the container is not in the data but in the description of the case. */
function policyOf({ description }: Case): DistanceFunction {
  return description.startsWith('Euclidean')
    ? 'euclidean'
    : description.startsWith('Dot')
      ? 'dotproduct'
      : 'cosine';
}

/**
 * Texts compare equal when they parse to the same tree; placeholders become parameters for that. One plan of the
 * service has a TOP that the service itself would refuse; that text is compared as it is.
 */
function canonical(text: string): string {
  if (text === '') return '';
  const filled = text.replace(
    /\{documentdb-([\w-]+)\}/g,
    (_, name: string) => `@${name.replaceAll('-', '_')}`,
  );
  if (/TOP 4294967296\b/.test(filled)) return filled.replace(/\s+/g, ' ');
  return printQuery(parseQuery(filled));
}

function canonicalExpression(text: string): string {
  return canonical(`SELECT VALUE ${text}`);
}

function printRange(range: KeyRange): string {
  if (range.kind === 'all') return '[[],"Infinity")';
  if (range.kind === 'none') return '[[],[]]';
  const isOpen = (bounds: readonly KeyBound[]) =>
    bounds.some((bound) => bound.kind !== 'value' || !bound.isInclusive);
  const printed = (bounds: readonly KeyBound[]) => `[${bounds.map(printBound).join()}]`;
  return `${isOpen(range.low) ? '(' : '['}${printed(range.low)},${printed(range.high)}${isOpen(range.high) ? ')' : ']'}`;
}

function printBound(bound: KeyBound): string {
  if (bound.kind !== 'value') return JSON.stringify({ type: bound.kind.replace(/^m/, 'M') });
  const { value } = bound;
  if (value === undefined) return '{}';
  if (typeof value === 'number' && Number.isInteger(value)) return `${value}.0`;
  return JSON.stringify(value);
}

/** The plan in the shape of the service's own JSON, which some expected errors quote. */
function infoJson(info: QueryInfo): Value {
  const { rewrittenQuery, hasSelectValue, hasNonStreamingOrderBy, ...rest } = info;
  return {
    ...rest,
    rewrittenQuery: canonical(rewrittenQuery),
    hasSelectValue: Number(hasSelectValue),
    hasNonStreamingOrderBy: Number(hasNonStreamingOrderBy),
  } as unknown as Value;
}

function normalInfo(info: Record<string, unknown>): unknown {
  return { ...info, rewrittenQuery: canonical(String(info.rewrittenQuery)) };
}

function infoOfBaseline(input: Case): unknown {
  const info = input.queryInfo ?? {};
  const numberAt = (name: string) => (info[name] === undefined ? undefined : Number(info[name]));
  const types = (info.GroupByAliasToAggregateType ?? {}) as Record<string, string>;
  return {
    distinctType: info.DistinctType,
    top: numberAt('Top'),
    offset: numberAt('Offset'),
    limit: numberAt('Limit'),
    orderBy: info.OrderBy ?? [],
    orderByExpressions: ((info.OrderByExpressions ?? []) as string[]).map(canonicalExpression),
    groupByExpressions: ((info.GroupByExpressions ?? []) as string[]).map(canonicalExpression),
    groupByAliases: info.GroupByAliases ?? [],
    aggregates: info.Aggregates ?? [],
    groupByAliasToAggregateType: Object.fromEntries(
      Object.entries(types).map(([alias, type]) => [alias, type === 'null' ? null : type]),
    ),
    rewrittenQuery: canonical(input.rewrittenQuery ?? ''),
    hasSelectValue: info.HasSelectValue === 'True',
  };
}

function infoOfPlan(info: QueryInfo): unknown {
  const { hasNonStreamingOrderBy: _, ...rest } = info;
  return {
    ...rest,
    orderByExpressions: info.orderByExpressions.map(canonicalExpression),
    groupByExpressions: info.groupByExpressions.map(canonicalExpression),
    rewrittenQuery: canonical(info.rewrittenQuery),
  };
}

/** The elements of the baseline's XML, as far as the plan has them. */
function hybridOfBaseline(xml: string): unknown {
  const text = (name: string) => new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(xml)?.[1];
  const numberAt = (name: string) => (text(name) === undefined ? undefined : Number(text(name)));
  return {
    statistics: canonical(text('GlobalStatisticsQuery') ?? ''),
    component: {
      top: numberAt('Top'),
      offset: numberAt('Offset'),
      limit: numberAt('Limit'),
      orderBy: [text('SortOrder')],
      orderByExpressions: [canonicalExpression(text('OrderByExpression') ?? '')],
      rewrittenQuery: canonical(text('RewrittenQuery') ?? ''),
    },
    skip: numberAt('Skip'),
    take: numberAt('Take'),
  };
}

function hybridOfPlan(hybrid: HybridSearchQueryInfo): unknown {
  const component = hybrid.componentQueryInfos[0] as QueryInfo;
  return {
    statistics: canonical(hybrid.globalStatisticsQuery),
    component: {
      top: component.top,
      offset: component.offset,
      limit: component.limit,
      orderBy: component.orderBy,
      orderByExpressions: component.orderByExpressions.map(canonicalExpression),
      rewrittenQuery: canonical(component.rewrittenQuery),
    },
    skip: hybrid.skip,
    take: hybrid.take,
  };
}

/** The expected plan, or undefined if ours agrees. */
function differenceOf(input: Case): unknown {
  const quoted = /ExpectedQueryPartitionProviderException : (\{.*?\}) System\./s.exec(
    input.error ?? '',
  )?.[1];
  let plan: PlanParts;
  try {
    plan = planOf(input);
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return error.message === quoted
      ? undefined
      : { expected: quoted ?? 'a plan', actual: error.message };
  }
  const compare = (expected: unknown, actual: unknown) =>
    isEqual(expected, actual) ? undefined : { expected, actual };
  if (quoted !== undefined) return compareQuoted(quoted, plan, compare);
  const ranges = compare([...(input.queryRanges ?? [])].sort(), plan.ranges.map(printRange).sort());
  if (ranges) return ranges;
  if (plan.hybrid) return compare(hybridOfBaseline(input.hybrid ?? ''), hybridOfPlan(plan.hybrid));
  return compare(infoOfBaseline(input), plan.info && infoOfPlan(plan.info));
}

/** The client refused a number that the service had planned with: the plan is quoted in the error. */
function compareQuoted(
  quoted: string,
  { info, hybrid }: PlanParts,
  compare: (expected: unknown, actual: unknown) => unknown,
): unknown {
  const expected = JSON.parse(quoted) as {
    readonly queryInfo?: Record<string, unknown>;
    readonly hybridSearchQueryInfo?: Record<string, unknown> & {
      readonly componentQueryInfos: readonly Record<string, unknown>[];
    };
  };
  if (expected.queryInfo) return compare(normalInfo(expected.queryInfo), info && infoJson(info));
  const { componentQueryInfos, ...rest } = expected.hybridSearchQueryInfo ?? {
    componentQueryInfos: [],
  };
  const { componentQueryInfos: components = [], projectionQueryInfo: _, ...others } = hybrid ?? {};
  return compare(
    { ...rest, components: componentQueryInfos.map(normalInfo) },
    { ...others, components: components.map(infoJson) },
  );
}

function isEqual(a: unknown, b: unknown): boolean {
  try {
    expect(a).toEqual(b);
    return true;
  } catch {
    return false;
  }
}

describe('query plan baselines', () => {
  const cases = readBaseline<Case>('query-plan-baselines.json');
  it.runIf(cases.length > 0)(`agrees with all ${cases.length}`, () => {
    const misses = cases.flatMap((input) => {
      const difference = differenceOf(input);
      return difference === undefined
        ? []
        : [{ name: `${input.group}: ${input.description}`, query: input.query, difference }];
    });
    console.info(`query plans equal: ${cases.length - misses.length} of ${cases.length}`);
    for (const miss of misses) console.info(JSON.stringify(miss));
    expect(misses.map((miss) => miss.name)).toEqual([]);
  });
});

const HASH: PartitionKeyDefinition = { paths: ['/pk'], kind: 'Hash', version: 2 };
const HIERARCHY: PartitionKeyDefinition = {
  paths: ['/a', '/b', '/c'],
  kind: 'MultiHash',
  version: 2,
};

describe('ranges', () => {
  it.each([
    ['SELECT * FROM c', HASH, [['', 'FF']]],
    ['SELECT 1', HASH, [['', '']]],
    ['SELECT * FROM c WHERE c.pk = "x" AND c.n > 1', HASH, 1],
    ['SELECT * FROM c WHERE c["pk"] IN ("x", "y", "x")', HASH, 2],
    ['SELECT * FROM c JOIN pk IN c.list WHERE pk.pk = 1', HASH, [['', 'FF']]],
    ['SELECT * FROM c WHERE c.pk = 1 OR c.n = 1', HASH, [['', 'FF']]],
    ['SELECT * FROM c WHERE NOT (c.pk != 1 OR c.n = 2)', HASH, [['', 'FF']]],
    ['SELECT * FROM c WHERE c.a = 1 AND c.b = 2 AND c.c = 3', HIERARCHY, 1],
    ['SELECT * FROM c WHERE c.a = 1 AND c.b IN (2, 3)', HIERARCHY, 2],
    ['SELECT * FROM c WHERE c.b = 1', HIERARCHY, [['', 'FF']]],
  ] as const)('%s', (sql, definition, expected) => {
    const { queryRanges } = queryPlan(
      sql.replace('SELECT * FROM c JOIN', 'SELECT c.id FROM c JOIN'),
      definition,
    );
    if (typeof expected === 'number') expect(queryRanges).toHaveLength(expected);
    else expect(queryRanges.map(({ min, max }) => [min, max])).toEqual(expected);
  });

  it('gives the keys below a prefix as a half-open range', () => {
    const [range] = queryPlan('SELECT * FROM c WHERE c.a = 1', HIERARCHY).queryRanges;
    expect(range).toMatchObject({ isMinInclusive: true, isMaxInclusive: false });
    expect(range?.max).toBe(`${range?.min}FF`);
  });

  it('takes a parameter for its value', () => {
    const parameters = [{ name: '@p', value: 'x' }];
    const { queryRanges } = queryPlan('SELECT * FROM c WHERE @p = c.pk', HASH, { parameters });
    expect(queryRanges).toEqual(queryPlan('SELECT * FROM c WHERE c.pk = "x"', HASH).queryRanges);
  });
});

it.each(['ASC', 'DESC'])('vectors come nearest first: %s is refused', (direction) => {
  const sql = `SELECT TOP 3 * FROM c ORDER BY VectorDistance(c.v, [1]) ${direction}`;
  expect(() => queryPlan(sql, HASH)).toThrow(
    'Specifying a sorting order (ASC or DESC) with VectorDistance function is not supported.',
  );
});

describe('rewritten queries', () => {
  const info = (sql: string, features?: readonly string[]) =>
    queryPlan(sql, HASH, features ? { features } : {}).queryInfo;
  const rewritten = (sql: string, features?: readonly string[]): string => {
    const text = info(sql, features)?.rewrittenQuery ?? '';
    return printQuery(
      parseQuery(text.replace('{documentdb-formattableorderbyquery-filter}', '@f')),
    );
  };

  it.each([
    [
      'SELECT DISTINCT c.a FROM c ORDER BY c.a',
      'SELECT DISTINCT c._rid, [{"item": c.a}] AS orderByItems, {"a": c.a} AS payload FROM c WHERE (@f) ORDER BY c.a',
    ],
    [
      'SELECT DISTINCT c.a FROM c ORDER BY c.a, c.b',
      'SELECT c._rid, [{"item": c.a}, {"item": c.b}] AS orderByItems, {"a": c.a} AS payload FROM c WHERE (@f) ORDER BY c.a, c.b',
    ],
    [
      'SELECT DISTINCT * FROM c ORDER BY c.a',
      'SELECT c._rid, [{"item": c.a}] AS orderByItems, c AS payload FROM c WHERE (@f) ORDER BY c.a',
    ],
  ])('%s, for a client that drops repeated rows', (sql, expected) => {
    const features = ['Distinct', 'OrderBy', 'MultipleOrderBy'];
    expect(rewritten(sql, features)).toBe(printQuery(parseQuery(expected)));
  });

  it.each([
    [
      'SELECT * FROM c ORDER BY c.a OFFSET 2 LIMIT 3',
      'SELECT c._rid, [{"item": c.a}] AS orderByItems, c AS payload FROM c WHERE (@f) ORDER BY c.a OFFSET 0 LIMIT 5',
    ],
    ['SELECT COUNTIF(c.a) AS n FROM c', 'SELECT {"n": {"item": COUNTIF(c.a)}} AS payload FROM c'],
    [
      'SELECT DISTINCT c.a FROM c ORDER BY c.a',
      'SELECT c._rid, [{"item": c.a}] AS orderByItems, {"a": c.a} AS payload FROM c WHERE (@f) ORDER BY c.a',
    ],
    [
      'SELECT DISTINCT TOP 2 c.a FROM c ORDER BY c.a',
      'SELECT c._rid, [{"item": c.a}] AS orderByItems, {"a": c.a} AS payload FROM c WHERE (@f) ORDER BY c.a',
    ],
    [
      'SELECT DISTINCT VALUE c.a FROM c ORDER BY c.a OFFSET 1 LIMIT 2',
      'SELECT c._rid, [{"item": c.a}] AS orderByItems, c.a AS payload FROM c WHERE ((@f) AND IS_DEFINED(c.a)) ORDER BY c.a',
    ],
  ])('%s', (sql, expected) => {
    expect(rewritten(sql)).toBe(printQuery(parseQuery(expected)));
  });

  it('parses every rewritten text once its placeholder is filled', () => {
    const plan = queryPlan(
      'SELECT TOP 3 c.a FROM c ORDER BY RANK RRF(FullTextScore(c.t, "x"), VectorDistance(c.v, [1, 2]), [2, 1])',
      HASH,
    );
    const texts =
      plan.hybridSearchQueryInfo?.componentQueryInfos.map(
        (component) => component.rewrittenQuery,
      ) ?? [];
    expect(texts).toHaveLength(2);
    for (const text of texts) expect(() => canonical(text)).not.toThrow();
    expect(plan.hybridSearchQueryInfo?.componentWeights).toEqual([2, 1]);
  });

  it('lets the client count distinct values if it can', () => {
    const sql = 'SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.a FROM c) AS d';
    expect(info(sql, ['DCount', 'Distinct', 'Aggregate'])).toMatchObject({
      dCountInfo: { dCountAlias: '' },
      distinctType: 'Unordered',
      aggregates: [],
      rewrittenQuery: 'SELECT DISTINCT VALUE c.a\nFROM c',
    });
  });

  it('refuses what the client cannot do', () => {
    expect(() => info('SELECT TOP 1 * FROM c ORDER BY c.a', ['Top'])).toThrow('OrderBy');
    expect(info('SELECT TOP 1 * FROM c ORDER BY c.a', ['Top', 'OrderBy'])?.top).toBe(1);
  });
});
