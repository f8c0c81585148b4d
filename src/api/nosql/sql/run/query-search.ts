/** Recognises queries for the best rows by a score and describes them as a search, so that an index can serve them. */
import type {
  ExecutableQuery,
  FoundItem,
  QuerySearch,
  Row,
  TextSearch,
  TextStatistics,
} from '../../../../query/index.ts';
import { isList, type Path, type Value } from '../../../../value/index.ts';
import { DEFAULT_ENVIRONMENT } from '../compile/compile.ts';
import { rankComponents } from '../compile/compile-rank.ts';
import { constantFinder } from '../compile/constants.ts';
import type { FindConstant } from '../conditions/key-ranges.ts';
import { phraseList } from '../functions/full-text.ts';
import type { DistanceFunction } from '../functions/index.ts';
import { distanceFunctionOf, isNearestFirst } from '../functions/vector.ts';
import type { Call, Expression, Query } from '../language/ast.ts';
import { call, list, literal } from '../language/ast-builders.ts';
import type { ExecutableOptions } from './executable.ts';
import { distanceOf, isCallOf, isDescending, isVectorCall } from './vector-order.ts';

interface SearchOptions extends ExecutableOptions {
  /** The count of rows up to the end of the window. */
  readonly wanted: number;
  readonly pathOf: (expression: Expression) => Path | undefined;
  /** Rows of one item with their keys; undefined where rows depend on other items. */
  readonly rowsOf: ((item: FoundItem) => readonly Row[]) | undefined;
  readonly executableOf: (query: Query) => ExecutableQuery;
}

/** For more rows than this, reading every item is faster. */
const WANTED_MAX = 5000;

export function searchOf(query: Query, options: SearchOptions): QuerySearch | undefined {
  const find = constantFinder(options.parameters ?? [], options);
  const [item, ...others] = query.orderBy?.items ?? [];
  if (item === undefined) return statisticsSearch(query, options, find);
  if (others.length > 0 || options.wanted > WANTED_MAX || item.expression.kind !== 'call')
    return undefined;
  if (query.orderBy?.isRank === true) return rankSearch(query, options, find);
  const { rowsOf } = options;
  if (rowsOf === undefined) return undefined;
  const policy = { ...DEFAULT_ENVIRONMENT, ...options.environment }.vectorPolicy;
  const descends = isDescending(item.expression, item.direction, policy);
  const text = textSearch(item.expression, options, find);
  if (text !== undefined)
    return descends
      ? { ...best(rowsOf, options.wanted, 1), search: text, floor: 0, needsEvery: false }
      : undefined;
  const distance = distanceOf(item.expression, policy);
  const search = vectorSearch(item.expression, distance, options, find);
  if (search === undefined || descends === isNearestFirst(distance)) return undefined;
  return {
    ...best(rowsOf, options.wanted, descends ? 1 : -1),
    search,
    floor: Number.NEGATIVE_INFINITY,
    // Where the smallest distance comes first, items without a vector come before it.
    needsEvery: !descends,
  };
}

function best(rowsOf: (item: FoundItem) => readonly Row[], wanted: number, sign: 1 | -1) {
  return {
    kind: 'best' as const,
    wanted,
    scoreOf(item: FoundItem): number | undefined {
      let score: number | undefined;
      for (const { keys } of rowsOf(item)) {
        const key = keys[0];
        if (typeof key === 'number')
          score = Math.max(score ?? Number.NEGATIVE_INFINITY, sign * key);
      }
      return score;
    },
  };
}

function vectorSearch(
  score: Call,
  distance: DistanceFunction,
  { pathOf }: SearchOptions,
  find: FindConstant,
): Extract<QuerySearch, { kind: 'best' }>['search'] | undefined {
  if (!isVectorCall(score)) return undefined;
  const [left, right, bruteForce, named] = score.arguments;
  if (left === undefined || right === undefined) return undefined;
  // Options that are not an object literal are not known here.
  if (named !== undefined && named.kind !== 'object') return undefined;
  const option = named?.properties.find(({ name }) => name === 'distanceFunction')?.value;
  if (option && distanceFunctionOf(find(option)?.value) !== distance) return undefined;
  const path = pathOf(left) ?? pathOf(right);
  const vector = find(pathOf(left) === undefined ? left : right)?.value;
  if (path === undefined || !isList(vector) || !vector.every(isNumber)) return undefined;
  const isExact = bruteForce !== undefined && find(bruteForce)?.value !== false;
  return { kind: 'vector', path, vector: vector as readonly number[], distance, isExact };
}

/** `_FullTextScore(path, phrases, items, words, hits)` where everything but the path is constant. */
function textSearch(
  score: Call,
  { pathOf }: SearchOptions,
  find: FindConstant,
): TextSearch | undefined {
  if (!isCallOf(score, '_FullTextScore')) return undefined;
  const [text, ...rest] = score.arguments;
  const path = text && pathOf(text);
  const [phrases, documentCount, wordCount, hitCounts] = rest.map((arg) => find(arg)?.value);
  const list = phraseList([phrases]);
  if (path === undefined || list === undefined || !isNumber(documentCount)) return undefined;
  if (!isNumber(wordCount) || !isList(hitCounts) || !hitCounts.every(isNumber)) return undefined;
  const statistics = { documentCount, wordCount, hitCounts: hitCounts as readonly number[] };
  return { kind: 'text', path, phrases: list, statistics };
}

/** ORDER BY RANK with one text score over all items: once their statistics are known, it is an ordinary order. */
function rankSearch(
  query: Query,
  { pathOf, executableOf }: SearchOptions,
  find: FindConstant,
): QuerySearch | undefined {
  const [item] = query.orderBy?.items ?? [];
  const components = item === undefined ? [] : rankComponents(item.expression);
  const score = components[0]?.call;
  if (score === undefined || components.length > 1 || !isCallOf(score, 'FullTextScore'))
    return undefined;
  if (item?.direction === 'ascending' || !isOverAllItems(query)) return undefined;
  const [text, ...rest] = score.arguments;
  const path = text && pathOf(text);
  const phrases = phraseList(rest.map((arg) => find(arg)?.value));
  if (text === undefined || path === undefined || phrases === undefined) return undefined;
  return {
    kind: 'statistics',
    texts: [{ kind: 'text', path, phrases }],
    with: ([statistics]) =>
      executableOf({
        ...query,
        orderBy: {
          isRank: false,
          items: [{ expression: scoreCall(text, phrases, statistics), direction: 'descending' }],
        },
      }),
  };
}

function scoreCall(
  text: Expression,
  phrases: readonly string[],
  statistics: TextStatistics | undefined,
): Expression {
  const { documentCount = 0, wordCount = 0, hitCounts = [] } = statistics ?? {};
  return call(
    '_FullTextScore',
    text,
    list(phrases.map(literal)),
    literal(documentCount),
    literal(wordCount),
    list(hitCounts.map(literal)),
  );
}

/** Recognises the statistics query of a hybrid search plan; see query-plan-hybrid.ts. */
function statisticsSearch(
  query: Query,
  { pathOf }: SearchOptions,
  find: FindConstant,
): QuerySearch | undefined {
  const { selection, isDistinct, top } = query.select;
  if (selection.kind !== 'list' || isDistinct || top || query.groupBy || query.window)
    return undefined;
  const [count, statistics, ...others] = selection.items;
  if (others.length > 0 || !isOverAllItems(query)) return undefined;
  if (count?.alias !== 'documentCount' || !isCallOf(count.expression, 'COUNT')) return undefined;
  if (statistics?.alias !== 'fullTextStatistics' || statistics.expression.kind !== 'array')
    return undefined;
  const texts = statistics.expression.items.map((part) => statisticsPart(part, pathOf, find));
  if (texts.length === 0 || texts.includes(undefined)) return undefined;
  return {
    kind: 'statistics',
    texts: texts.filter((text) => text !== undefined),
    with: (found) => [
      {
        documentCount: found[0]?.documentCount ?? 0,
        fullTextStatistics: found.map(({ wordCount, hitCounts }) => ({
          totalWordCount: wordCount,
          hitCounts: [...hitCounts],
        })),
      },
    ],
  };
}

/** `{totalWordCount: SUM(_FullTextWordCount(path)), hitCounts: [COUNTIF(FullTextContains(path, phrase)), …]}`. */
function statisticsPart(
  part: Expression,
  pathOf: SearchOptions['pathOf'],
  find: FindConstant,
): TextSearch | undefined {
  if (part.kind !== 'object' || part.properties.length !== 2) return undefined;
  const words = part.properties.find(({ name }) => name === 'totalWordCount')?.value;
  const hits = part.properties.find(({ name }) => name === 'hitCounts')?.value;
  const [counted] = words && isCallOf(words, 'SUM') ? (words as Call).arguments : [];
  const [text] =
    counted && isCallOf(counted, '_FullTextWordCount') ? (counted as Call).arguments : [];
  const path = text && pathOf(text);
  if (path === undefined || hits?.kind !== 'array') return undefined;
  const phrases = hits.items.map((hit) => {
    const [inner] = isCallOf(hit, 'COUNTIF') ? (hit as Call).arguments : [];
    const [where, phrase] =
      inner && isCallOf(inner, 'FullTextContains') ? (inner as Call).arguments : [];
    const isSamePath = where && pathOf(where)?.join('/') === path.join('/');
    return isSamePath && phrase ? find(phrase)?.value : undefined;
  });
  const list = phraseList(phrases);
  return list && { kind: 'text', path, phrases: list };
}

/** No filter, no joins: one row per item. */
function isOverAllItems({ where, from }: Query): boolean {
  return (
    where === undefined &&
    from?.kind === 'collection' &&
    from.collection.kind === 'path' &&
    from.collection.steps.length === 0
  );
}

function isNumber(value: Value): value is number {
  return typeof value === 'number';
}
