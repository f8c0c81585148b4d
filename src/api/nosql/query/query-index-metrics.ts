/** The indexes that a query used and those that would help it, in the two formats of the header that clients decode. */
import type { Indexing } from '../../../partition/index.ts';
import type {
  CompositeOrder,
  Condition,
  ExecutableQuery,
  OrderPart,
  TermCondition,
} from '../../../query/index.ts';
import { ARRAY_ELEMENT, CELLS, type Path, printPath } from '../../../value/index.ts';

interface IndexUse {
  readonly single: readonly string[];
  readonly composite: readonly (readonly string[])[];
}

export interface IndexMetrics {
  readonly utilized: IndexUse;
  readonly potential: IndexUse;
}

export function indexMetrics(
  { condition, shape }: ExecutableQuery,
  indexing: Indexing,
): IndexMetrics {
  const terms = termsOf(condition);
  const order = (shape.kind === 'streaming' && shape.order?.parts) || [];
  const paths = terms.map(({ path }) => path);
  const [first] = order;
  if (order.length === 1 && first?.path !== undefined) paths.push(first.path);
  const isIndexed = (path: Path): boolean => indexing.termsOf(path) !== undefined;
  const composites = order.length > 1 ? [order.map(orderSpec)] : [];
  return {
    utilized: { single: specs(paths.filter(isIndexed)), composite: composites },
    potential: {
      single: specs(paths.filter((path) => !isIndexed(path))),
      composite: wantedComposites(condition, order, indexing),
    },
  };
}

/** Base64 of JSON with one entry per filter: the first form of the header. */
export function printIndexMetricsV1({ utilized, potential }: IndexMetrics): string {
  const single = (specs: readonly string[]) =>
    specs.map((spec) => ({
      FilterExpression: '',
      IndexSpec: spec,
      FilterPreciseSet: true,
      IndexPreciseSet: true,
      ...HIGH,
    }));
  const composite = (lists: readonly (readonly string[])[]) =>
    lists.map((list) => ({ IndexSpecs: list, IndexPreciseSet: false, ...HIGH }));
  const metrics = {
    UtilizedSingleIndexes: single(utilized.single),
    PotentialSingleIndexes: single(potential.single),
    UtilizedCompositeIndexes: composite(utilized.composite),
    PotentialCompositeIndexes: composite(potential.composite),
  };
  return truncateHeader(Buffer.from(JSON.stringify(metrics)).toString('base64'));
}

/** Percent-encoded JSON: the second form. Indexes that would help have a score; those that were used have none. */
export function printIndexMetricsV2({ utilized, potential }: IndexMetrics): string {
  const part = ({ single, composite }: IndexUse, score: object) => ({
    SingleIndexes: single.map((spec) => ({ IndexSpec: spec, ...score })),
    CompositeIndexes: composite.map((list) => ({ IndexSpecs: list, ...score })),
  });
  const metrics = {
    UtilizedIndexes: part(utilized, {}),
    PotentialIndexes: part(potential, HIGH),
  };
  return truncateHeader(encodeURIComponent(JSON.stringify(metrics)));
}

/** The likely gain, by the shape of the query alone. Every index named here narrows the search, so all score high. */
const HIGH = { IndexImpactScore: 'High' } as const;

/** The service keeps the length of the header in 16 bits, so a longer text is cut to its length modulo 65,536. */
function truncateHeader(header: string): string {
  return header.slice(0, header.length % 2 ** 16);
}

function termsOf(condition: Condition): readonly TermCondition[] {
  if (condition.kind === 'term') return [condition];
  return condition.kind === 'all' || condition.kind === 'any' ? condition.of.flatMap(termsOf) : [];
}

const ID_SPEC = '/id/?';

/** In the order of the query, except that the service names the id last. */
function specs(paths: readonly Path[]): readonly string[] {
  const named = new Set(paths.map(specOf));
  return named.delete(ID_SPEC) ? [...named, ID_SPEC] : [...named];
}

/** A spatial index is named as policies name it: by the path of the geometry and all below. */
function specOf(path: Path): string {
  return path.at(-1) === CELLS ? `${printPath(path.slice(0, -1))}/*` : `${printPath(path)}/?`;
}

function orderSpec({ path, isDescending }: OrderPart): string {
  return `${path === undefined ? '' : printPath(path)} ${isDescending ? 'DESC' : 'ASC'}`;
}

/**
 * An index over values that must be equal and then one range, or the order, is better than one index each. With
 * several ranges there is one such index for each. Equal values alone need none: their single indexes meet quickly.
 */
function wantedComposites(
  condition: Condition,
  order: readonly OrderPart[],
  indexing: Indexing,
): readonly (readonly string[])[] {
  if (order.length > 1) return [];
  const filters = (condition.kind === 'all' ? condition.of : [condition]).filter(
    (part): part is TermCondition =>
      part.kind === 'term' && !part.path.includes(ARRAY_ELEMENT) && !part.path.includes(CELLS),
  );
  const equal = new Map<string, CompositeOrder>();
  const ranges = new Map<string, CompositeOrder>();
  for (const { path, ranges: found } of filters) {
    const isEqual = found.every(({ isPoint }) => isPoint);
    (isEqual ? equal : ranges).set(printPath(path), { path, isDescending: false });
  }
  if (equal.size === 0) return [];
  const first = order[0]?.path;
  // An order by a value that is fixed sorts nothing.
  const isOrdered = first !== undefined && !equal.has(printPath(first));
  const lasts = isOrdered
    ? [{ path: first, isDescending: order[0]?.isDescending === true }]
    : [...ranges].flatMap(([name, range]) => (equal.has(name) ? [] : [range]));
  return lasts
    .map((last) => [...equal.values(), last])
    .filter((wanted) => indexing.compositeFor(wanted) === undefined)
    .map((wanted) => wanted.map(orderSpec));
}
