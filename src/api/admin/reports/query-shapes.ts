/** The query shapes that cost most: of one container, or of all. */
import type { ContainerRecord, DatabaseRecord } from '../../../catalog/index.ts';
import type { QueryShape } from '../../../query/index.ts';
import type { Service } from '../../../service/index.ts';
import { namedContainer, roundTo } from './partitions.ts';

interface ShapesReport {
  readonly sinceSec: number;
  readonly shapes: readonly ShapeReport[];
}

interface ShapeReport {
  readonly db: string;
  readonly container: string;
  readonly api: string;
  readonly text: string;
  /** Queries begun, and pages read. */
  readonly count: number;
  readonly pages: number;
  /** Request units and milliseconds of all pages together. */
  readonly ru: number;
  readonly ms: number;
  /** Partitions that a page read, on average. */
  readonly fanOut: number;
  readonly equalityPaths: readonly string[];
  readonly rowsPerPage: number;
}

const SHAPES_MAX = 100;

/** Opens no partition. */
export function reportQueryShapes(service: Service, query: URLSearchParams): ShapesReport {
  const containers =
    query.has('db') || query.has('container') ? [namedContainer(service, query)] : every(service);
  const shapes = containers
    .flatMap((named) =>
      service.shapes.list(named.container).map((shape) => ({ ...named, ...shape })),
    )
    .sort((a, b) => b.requestUnits - a.requestUnits);
  return {
    sinceSec: Math.floor(service.shapes.sinceMs / 1000),
    shapes: shapes.slice(0, SHAPES_MAX).map(reportOf),
  };
}

interface Named {
  readonly database: DatabaseRecord;
  readonly container: ContainerRecord;
}

function every(service: Service): readonly Named[] {
  return service.databases
    .list()
    .flatMap((database) =>
      service.containers.list(database).map((container) => ({ database, container })),
    );
}

function reportOf({ database, container, ...shape }: Named & QueryShape): ShapeReport {
  const { text, count, pages, equalityPaths } = shape;
  return {
    db: database.id,
    container: container.id,
    api: container.home,
    text,
    count,
    pages,
    ru: roundTo(shape.requestUnits, 2),
    ms: roundTo(shape.durationMs, 1),
    fanOut: roundTo(shape.partitions / Math.max(1, pages), 1),
    equalityPaths,
    rowsPerPage: roundTo(shape.rows / Math.max(1, pages), 1),
  };
}
