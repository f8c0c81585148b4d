/**
 * Cells that hold every point of a shape, or every point near it. They may hold more, never less, in the eyes of the very
 * functions that decide (relations.ts): a cell is left out only where the circle around it meets no line and no point of
 * the shape and its middle lies in no region. It works for any shape that can be read: rings that cross themselves and
 * rings that turn right, whose region is the outside, need no care of their own.
 */
import { append } from '../../base/index.ts';
import { type Cell, LEVEL_MAX, nameOf, quartersOf, rootCell } from './cell.ts';
import type { Shape } from './geo-json.ts';
import { cornersOf, holds, type Segment, segmentsOf } from './relations.ts';
import type { Space } from './space.ts';

/** A space cut into cells. */
export interface Grid<Point> {
  readonly space: Space<Point>;
  readonly rootCount: number;
  /** What is nearer than this may be the same point to the functions that decide, as a gap. */
  readonly margin: number;
  /** The point at a place of a root, both between 0 and 1. */
  pointAt(root: number, x: number, y: number): Point;
}

interface CoveringOptions {
  /** Points as near as this to the shape count, as a gap. */
  readonly reach: number;
  readonly cellsMax: number;
}

/** Shapes of more corners are covered as the circle around them: coverings are made with every write. */
const CORNERS_MAX = 2000;

/** Names of cells; undefined where the shape is so wide that it may be anywhere. */
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
  const search = new Search(grid, isCoarse ? undefined : shape, bound, options);
  return search.run().map(nameOf);
}

interface Bound<Point> {
  readonly middle: Point;
  readonly radius: number;
}

/** A cell with what is near it. */
interface Place<Point> {
  readonly cell: Cell;
  readonly points: readonly Point[];
  readonly segments: readonly Segment<Point>[];
  /** All of it counts: its quarters need not be looked at. */
  readonly isInside: boolean;
}

class Search<Point> {
  readonly #grid: Grid<Point>;
  /** Undefined: the bound stands for it. */
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

  /** The largest cells are cut first, as long as there are not too many. */
  run(): readonly Cell[] {
    const { cellsMax } = this.#options;
    const done: Cell[] = [];
    const all = {
      points: this.#shape?.points ?? [],
      segments: this.#shape ? segmentsOf(this.#shape) : [],
    };
    const roots = Array.from({ length: this.#grid.rootCount }, (_, root) => rootCell(root));
    const waiting = roots.flatMap((cell) => this.#look(cell, all));
    for (let at = 0; at < waiting.length; at++) {
      const place = waiting[at] as Place<Point>;
      const quarters =
        place.isInside || place.cell.level === LEVEL_MAX
          ? undefined
          : quartersOf(place.cell).flatMap((cell) => this.#look(cell, place));
      const others = done.length + waiting.length - at - 1;
      if (quarters && others + quarters.length <= Math.max(cellsMax, others + 1))
        append(waiting, quarters);
      else done.push(place.cell);
    }
    return done;
  }

  /** One place, or none where nothing of the shape can be in the cell. */
  #look(cell: Cell, near: Pick<Place<Point>, 'points' | 'segments'>): readonly Place<Point>[] {
    const { space, margin } = this.#grid;
    const { reach } = this.#options;
    const { middle, radius } = this.#circleOf(cell);
    const within = radius + reach + margin;
    const bound = this.#bound;
    if (bound && space.gap(middle, bound.middle) > within + bound.radius) return [];
    // Far larger than the shape: it cannot but be on a border, and everything is near.
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

  /** A cell is the convex hull of its corners: none of its points is farther from its middle than they are. */
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
