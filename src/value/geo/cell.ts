/**
 * Cells of a quadtree: a space is divided into a few root squares, each of them into four, and so on. The name of a
 * cell is its root and the quarters that lead to it, one character each. So a cell is in another exactly when its
 * name begins with the other's name.
 */
export interface Cell {
  readonly root: number;
  readonly level: number;
  /** Column and row among the cells of its level in its root, below 2^level. */
  readonly column: number;
  readonly row: number;
}

/** Cells of the last level are two metres wide on the Earth. */
export const LEVEL_MAX = 22;

const ROOT_NAMES = 'abcdef';

export function nameOf({ root, level, column, row }: Cell): string {
  let name = ROOT_NAMES.charAt(root);
  for (let bit = level - 1; bit >= 0; bit--)
    name += String(((column >>> bit) & 1) * 2 + ((row >>> bit) & 1));
  return name;
}

export function rootCell(root: number): Cell {
  return { root, level: 0, column: 0, row: 0 };
}

/** The cell of the last level at a point of its root; both coordinates are between 0 and 1. */
export function leafAt(root: number, x: number, y: number): Cell {
  const last = 2 ** LEVEL_MAX - 1;
  const index = (coordinate: number) =>
    Math.min(last, Math.max(0, Math.floor(coordinate * 2 ** LEVEL_MAX)));
  return { root, level: LEVEL_MAX, column: index(x), row: index(y) };
}

export function quartersOf({ root, level, column, row }: Cell): readonly Cell[] {
  return [0, 1, 2, 3].map((quarter) => ({
    root,
    level: level + 1,
    column: column * 2 + (quarter >> 1),
    row: row * 2 + (quarter & 1),
  }));
}

/** The names of all cells that contain the cell, without the cell itself. */
export function namesAround(name: string): readonly string[] {
  return Array.from({ length: name.length - 1 }, (_, at) => name.slice(0, at + 1));
}
