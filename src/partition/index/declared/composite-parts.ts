/** The parts of an index: paths, each with a direction. */

export interface CompositePart {
  readonly path: string;
  readonly isDescending: boolean;
}

/**
 * The same index with an ascending first part, to be read backwards: entries of equal values are in ascending rid
 * order, and a query whose first key descends wants rows of equal keys in descending rid order.
 */
export function beginningAscending(parts: readonly CompositePart[]): readonly CompositePart[] {
  if (parts[0]?.isDescending !== true) return parts;
  return parts.map(({ path, isDescending }) => ({ path, isDescending: !isDescending }));
}
