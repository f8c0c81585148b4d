/**
 * Which indexes a query could use and which it would like to have, in the two forms of the header that clients decode.
 */
import type { Indexing } from '../../partition/index.ts';
import type {
  CompositeOrder,
  Condition,
  OrderPart,
  Program,
  TermCondition,
} from '../../query/index.ts';
import { CELLS, EACH, type Path, printPath } from '../../value/index.ts';

export interface IndexUse {
  readonly single: readonly string[];
  readonly composite: readonly (readonly string[])[];
}

export interface IndexMetrics {
  readonly utilized: IndexUse;
  readonly potential: IndexUse;
}

export function indexMetrics({ condition, shape }: Program, indexing: Indexing): IndexMetrics {
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
      composite: wantedComposite(condition, order, indexing),
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
      IndexImpactScore: 'High',
    }));
  const composite = (lists: readonly (readonly string[])[]) =>
    lists.map((list) => ({ IndexSpecs: list, IndexPreciseSet: false, IndexImpactScore: 'High' }));
  const metrics = {
    UtilizedSingleIndexes: single(utilized.single),
    PotentialSingleIndexes: single(potential.single),
    UtilizedCompositeIndexes: composite(utilized.composite),
    PotentialCompositeIndexes: composite(potential.composite),
  };
  return Buffer.from(JSON.stringify(metrics)).toString('base64');
}

/** Percent-encoded JSON: the second form. */
export function printIndexMetricsV2({ utilized, potential }: IndexMetrics): string {
  const part = ({ single, composite }: IndexUse) => ({
    SingleIndexes: single.map((spec) => ({ IndexSpec: spec })),
    CompositeIndexes: composite.map((list) => ({ IndexSpecs: list })),
  });
  return encodeURIComponent(
    JSON.stringify({ UtilizedIndexes: part(utilized), PotentialIndexes: part(potential) }),
  );
}

function termsOf(condition: Condition): readonly TermCondition[] {
  if (condition.kind === 'term') return [condition];
  return condition.kind === 'all' || condition.kind === 'any' ? condition.of.flatMap(termsOf) : [];
}

function specs(paths: readonly Path[]): readonly string[] {
  return [...new Set(paths.map(specOf))];
}

/** A spatial index is named as policies name it: by the path of the geometry and all below. */
function specOf(path: Path): string {
  return path.at(-1) === CELLS ? `${printPath(path.slice(0, -1))}/*` : `${printPath(path)}/?`;
}

function orderSpec({ path, isDescending }: OrderPart): string {
  return `${path === undefined ? '' : printPath(path)} ${isDescending ? 'DESC' : 'ASC'}`;
}

/** Filters that must all hold, or a filter and an order: one index over them all, equal values first, would do better. */
function wantedComposite(
  condition: Condition,
  order: readonly OrderPart[],
  indexing: Indexing,
): readonly (readonly string[])[] {
  if (order.length > 1) return [];
  const filters = (condition.kind === 'all' ? condition.of : [condition]).filter(
    (part): part is TermCondition =>
      part.kind === 'term' && !part.path.includes(EACH) && !part.path.includes(CELLS),
  );
  const isEqual = ({ ranges }: TermCondition): boolean => ranges.every(({ isPoint }) => isPoint);
  const equal = filters.filter(isEqual);
  const other = filters.find((filter) => !isEqual(filter));
  const last: OrderPart | undefined =
    order[0]?.path === undefined ? other && { path: other.path, isDescending: false } : order[0];
  const parts = new Map<string, CompositeOrder>(
    equal.map(({ path }) => [printPath(path), { path, isDescending: false }]),
  );
  if (last?.path !== undefined) {
    const { path, isDescending } = last;
    parts.delete(printPath(path));
    parts.set(printPath(path), { path, isDescending });
  }
  const wanted = [...parts.values()];
  if (wanted.length < 2 || indexing.compositeFor(wanted) !== undefined) return [];
  return [wanted.map(orderSpec)];
}
