/**
 * The operations that the spatial functions need of a space. A point is what the space makes of a pair of
 * coordinates.
 */
export interface Space<Point> {
  /** Undefined where the coordinates are outside the space. */
  toPoint(x: number, y: number): Point | undefined;
  /** The error text for coordinates that are not a point. */
  whyOutside(x: number, y: number): string;
  distance(a: Point, b: Point): number;
  distanceToSegment(point: Point, start: Point, end: Point): number;
  segmentsCross(a: Point, b: Point, c: Point, d: Point): boolean;
  /** Whether the point is in the region that the closed ring goes around, on its smaller side; the border counts. */
  ringHolds(ring: readonly Point[], point: Point): boolean;
  /** Whether the ring is counter-clockwise, so that it bounds the region inside. */
  isCounterClockwise(ring: readonly Point[]): boolean;
  ringArea(ring: readonly Point[]): number;
  /**
   * How far apart two points are, in a measure that has only the order in common with distance: angles on the Earth.
   * It is cheap, and cells are measured in it.
   */
  gap(a: Point, b: Point): number;
  gapToSegment(point: Point, start: Point, end: Point): number;
  /** The widest gap between points of that distance. */
  gapOf(distance: number): number;
  /** The centre of the points. */
  middle(points: readonly Point[]): Point;
  /** Shapes wider than this (half their width, as a gap) have no bounding circle: they may go around everything. */
  readonly gapMax: number;
}
