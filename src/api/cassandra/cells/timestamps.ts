/** The timestamps of all parts of a row. */
import type { Cell, Row } from './row.ts';

const EARLIEST = -(1n << 63n);

export function latestTimestamp(row: Row): bigint {
  let latest = EARLIEST;
  const see = (part: { readonly timestamp: bigint } | undefined): void => {
    if (part !== undefined && part.timestamp > latest) latest = part.timestamp;
  };
  see(row.liveness);
  see(row.deletion);
  for (const { cell, deletion, elements } of row.columns.values()) {
    see(cell);
    see(deletion);
    for (const element of elements?.values() ?? []) see(element);
  }
  for (const range of row.ranges) see(range);
  return latest;
}

/** The same row, so many microseconds later. */
export function shifted(row: Row, by: bigint): Row {
  const later = <T extends { readonly timestamp: bigint }>(part: T): T => ({
    ...part,
    timestamp: part.timestamp + by,
  });
  const columns = [...row.columns].map(([name, column]) => {
    const { cell, deletion, elements } = column;
    return [
      name,
      {
        ...column,
        ...(cell === undefined ? {} : { cell: later(cell) }),
        ...(deletion === undefined ? {} : { deletion: later(deletion) }),
        ...(elements === undefined ? {} : { elements: shiftedElements(elements, later) }),
      },
    ] as const;
  });
  return {
    ...row,
    ...(row.liveness === undefined ? {} : { liveness: later(row.liveness) }),
    ...(row.deletion === undefined ? {} : { deletion: later(row.deletion) }),
    columns: new Map(columns),
    ranges: row.ranges.map(later),
  };
}

function shiftedElements(
  elements: ReadonlyMap<string, Cell>,
  later: (cell: Cell) => Cell,
): ReadonlyMap<string, Cell> {
  return new Map([...elements].map(([path, cell]) => [path, later(cell)]));
}
