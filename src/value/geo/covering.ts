/**
 * Coverings: cells that contain every point of a shape, or every point near it. A covering may contain more but never
 * less, according to the functions that decide the query (relations.ts). A cell is left out only if the circle around
 * it meets no line and no point of the shape and its centre is in no region. This holds for every readable shape:
 * rings that cross themselves, and clockwise rings, whose region is the outside, need no special case.
 */
import { append } from '../../base/index.ts';
import { type Cell, LEVEL_MAX, nameOf, quartersOf, rootCell } from './cell.ts';
import type { Shape } from './geo-json.ts';
import { cornersOf, holds, type Segment, segmentsOf } from './relations.ts';
import type { Space } from './space.ts';

/** A space divided into cells. */
export interface Grid<Point> {
  readonly space: Space<Point>;
  readonly rootCount: number;
  /** Points nearer than this gap may be equal to the functions that decide. */
  readonly margin: number;
  /** The point at a position in a root; both coordinates are between 0 and 1. */
  pointAt(root: number, x: number, y: number): Point;
}

interface CoveringOptions {
  /** Points within this gap of the shape are covered as well. */
  readonly reach: number;
  readonly cellsMax: number;
}

/** Shapes with more corners are covered by the circle around them, because a covering is computed with every write. */
const CORNERS_MAX = 2000;

/** Names of cells; undefined if the shape is so wide that it may be anywhere. */
export function coveringOf<Point>(
  grid: Grid<Point>,
  shape: Shape<Point>,
  options: CoveringOptions,
): readonly string[] | undefined {
  const { space } = grid;
  const corners = cornersOf(shape);
  const middle = space.middle(corners);
  const radius = corners.reduce((most, corner) => Math.max(most, space.gap(middle, corner)), 0);
  const isUnbounded = shape.regions.some(([outer]) => outer && !space.isCounterClockwise(outer));
  if (radius + options.reach > space.gapMax) return undefined;
  const isCoarse = corners.length > CORNERS_MAX;
  if (isCoarse && isUnbounded) return undefined;
  const bound = isUnbounded ? undefined : { middle, radius };
  const search = new CoveringSearch(grid, isCoarse ? undefined : shape, bound, options);
  return search.run().map(nameOf);
}

interface Bound<Point> {
  readonly middle: Point;
  readonly radius: number;
}

/** A cell with the points and segments near it. */
interface Candidate<Point> {
  readonly cell: Cell;
  readonly points: readonly Point[];
  readonly segments: readonly Segment<Point>[];
  /** True if all of the cell is covered: its quarters need no test. */
  readonly isInside: boolean;
}

class CoveringSearch<Point> {
  readonly #grid: Grid<Point>;
  /** Undefined if the bounding circle is used instead. */
  readonly #shape: Shape<Point> | undefined;
  readonly #bound: Bound<Point> | undefined;
  readonly #options: CoveringOptions;

  constructor(
    grid: Grid<Point>,
    shape: Shape<Point> | undefined,
    bound: Bound<Point> | undefined,
    options: CoveringOptions,
  ) {
    this.#grid = grid;
    this.#shape = shape;
    this.#bound = bound;
    this.#options = options;
  }

  /** The largest cells are divided first, as long as there are not too many. */
  run(): readonly Cell[] {
    const { cellsMax } = this.#options;
    const done: Cell[] = [];
    const all = {
      points: this.#shape?.points ?? [],
      segments: this.#shape ? segmentsOf(this.#shape) : [],
    };
    const roots = Array.from({ length: this.#grid.rootCount }, (_, root) => rootCell(root));
    const candidates = roots.flatMap((cell) => this.#candidatesIn(cell, all));
    for (let at = 0; at < candidates.length; at++) {
      const candidate = candidates[at] as Candidate<Point>;
      const quarters =
        candidate.isInside || candidate.cell.level === LEVEL_MAX
          ? undefined
          : quartersOf(candidate.cell).flatMap((cell) => this.#candidatesIn(cell, candidate));
      const others = done.length + candidates.length - at - 1;
      if (quarters && others + quarters.length <= Math.max(cellsMax, others + 1))
        append(candidates, quarters);
      else done.push(candidate.cell);
    }
    return done;
  }

  /** One candidate, or none if no part of the shape can be in the cell. */
  #candidatesIn(
    cell: Cell,
    near: Pick<Candidate<Point>, 'points' | 'segments'>,
  ): readonly Candidate<Point>[] {
    const { space, margin } = this.#grid;
    const { reach } = this.#options;
    const { middle, radius } = this.#circleOf(cell);
    const within = radius + reach + margin;
    const bound = this.#bound;
    if (bound && space.gap(middle, bound.middle) > within + bound.radius) return [];
    // The cell is far larger than the shape: it is on the border, and everything is near.
    if (bound && (!this.#shape || radius > 4 * bound.radius + reach))
      return [{ cell, points: near.points, segments: near.segments, isInside: false }];
    const shape = this.#shape as Shape<Point>;
    let nearest = Number.POSITIVE_INFINITY;
    const isNear = (gap: number): boolean => {
      nearest = Math.min(nearest, gap);
      return gap <= within;
    };
    const points = near.points.filter((point) => isNear(space.gap(middle, point)));
    const segments = near.segments.filter(([start, end]) =>
      isNear(space.gapToSegment(middle, start, end)),
    );
    if (points.length + segments.length > 0)
      return [{ cell, points, segments, isInside: nearest + radius <= reach }];
    return holds(space, shape, middle) ? [{ cell, points, segments, isInside: true }] : [];
  }

  /** A cell is the convex hull of its corners: none of its points is farther from its centre than they are. */
  #circleOf({ root, level, column, row }: Cell): Bound<Point> {
    const { space } = this.#grid;
    const at = (x: number, y: number) =>
      this.#grid.pointAt(root, (column + x) / 2 ** level, (row + y) / 2 ** level);
    const middle = at(0.5, 0.5);
    let radius = 0;
    for (const x of [0, 1])
      for (const y of [0, 1]) radius = Math.max(radius, space.gap(middle, at(x, y)));
    return { middle, radius };
  }
}
