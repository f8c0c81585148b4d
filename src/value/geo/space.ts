/** What the spatial functions ask of a space. A point is whatever the space makes of a pair of coordinates. */
export interface Space<Point> {
  /** Undefined where the coordinates lie outside the space. */
  toPoint(x: number, y: number): Point | undefined;
  /** What to say of coordinates that are no point. */
  whyOutside(x: number, y: number): string;
  distance(a: Point, b: Point): number;
  distanceToSegment(point: Point, start: Point, end: Point): number;
  segmentsCross(a: Point, b: Point, c: Point, d: Point): boolean;
  /** Whether the point lies in the region that the closed ring goes around, on its smaller side; the border counts. */
  ringHolds(ring: readonly Point[], point: Point): boolean;
  /** Whether the ring turns left, so that the region it bounds is the one inside. */
  isCounterClockwise(ring: readonly Point[]): boolean;
  ringArea(ring: readonly Point[]): number;
  /**
   * How far apart two points are, in a measure that has no more than the order in common with distance: angles on the
   * Earth. Cheap, and what cells are measured in.
   */
  gap(a: Point, b: Point): number;
  gapToSegment(point: Point, start: Point, end: Point): number;
  /** The widest gap between points of that distance. */
  gapOf(distance: number): number;
  /** A point amid the others. */
  middle(points: readonly Point[]): Point;
  /** Shapes wider than this (half their width, as a gap) are not to be reasoned about: they may go around everything. */
  readonly gapMax: number;
}
